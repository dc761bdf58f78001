import type { Endpoint } from '@signalbox/contract';

/**
 * What a lost answer means for a call. `repeatable`: doing it twice is doing it once. A key: the
 * call is repeatable under that field, and the client fills it in when the caller has not. `once`:
 * a repetition might act twice, so only the caller can decide.
 */
export type RetrySafety = 'repeatable' | 'idempotencyKey' | 'claimKey' | 'once';

/**
 * By the last part of the path, which is the verb of the contract. Reads, writes that set a state
 * (heartbeats, upserts, pause, promote), and writes that the hub recognizes (complete by its
 * attempt, append by its sequence numbers, ingest by the key of its event, poll by its device
 * session). Device start is here because an orphaned session merely expires; cancel and revoke
 * because a thing ends only once, though the second answer may say so (JOB_ALREADY_FINISHED,
 * TOKEN_REVOKED). `release` is not: the second one would take the job from its next holder.
 */
const repeatableVerbs: ReadonlySet<string> = new Set([
  'append',
  'cancel',
  'complete',
  'get',
  'get-download-url',
  'heartbeat',
  'ingest',
  'list',
  'list-for-job',
  'pause',
  'poll',
  'promote',
  'resolve',
  'resolve-run-v1',
  'resume',
  'revoke',
  'search',
  'start',
  'upsert',
  'wait',
  'whoami',
]);

/** Whether a call of this endpoint may be repeated when its answer was lost. */
export function retrySafetyOf(
  endpoint: Pick<Endpoint, 'method' | 'path' | 'request'>,
): RetrySafety {
  const verb = endpoint.path.slice(endpoint.path.lastIndexOf('/') + 1);
  if (endpoint.method === 'GET' || repeatableVerbs.has(verb)) return 'repeatable';
  if ('idempotencyKey' in endpoint.request.properties) return 'idempotencyKey';
  if ('claimKey' in endpoint.request.properties) return 'claimKey';
  return 'once';
}

/** A fresh key: 128 random bits in hex. (`randomUUID` is missing in browsers on plain HTTP.) */
export function createRetryKey(): string {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
