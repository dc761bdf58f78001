import { hash } from 'node:crypto';
import { HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Reader, Tx } from '../db/engine.ts';
import { deleteRows, insertRow, sql } from '../db/row-write.ts';

/** How long a key is remembered (docs/reference/protocol.md, section 1.7). */
export const IDEMPOTENCY_KEPT_MS = 7 * 24 * 60 * 60 * 1_000;

interface KeyRow {
  body_hash: string;
  answer: string;
}

interface IdempotentCall<Answer extends object> {
  /** The endpoint's name; the same key may be used for different endpoints. */
  operation: string;
  /**
   * Another principal that sends the same key makes a call of its own, so that a guessed key
   * reveals no answer.
   */
  principal: Pick<Principal, 'principalId'>;
  /**
   * The request. Without a key, the call is made every time. Bodies that differ only in the order
   * of keys are equal.
   */
  input: { workspaceId: string; idempotencyKey?: string | undefined };
  /** Whether what a stored answer names is over, so that the call is made again. */
  isStale?: (tx: Tx, answer: Answer) => Promise<boolean>;
}

/**
 * Makes a call once per principal and key, within the transaction of the call. The first answer is
 * stored together with the call's changes; a repetition returns it with `idempotent: true`.
 *
 * @throws HubError IDEMPOTENCY_CONFLICT for the same key with another body.
 */
export async function answerOnce<Answer extends object>(
  tx: Tx,
  { operation, principal: { principalId }, input, isStale }: IdempotentCall<Answer>,
  make: () => Promise<Answer>,
): Promise<Answer & { idempotent?: boolean }> {
  const { idempotencyKey: key, ...body } = input;
  if (key === undefined) return make();
  const bodyHash = hashJson(body);
  const place = {
    workspace_id: input.workspaceId,
    operation,
    idempotency_key: key,
    principal_id: principalId,
  };
  const known = await tx.firstSql<KeyRow>(
    `SELECT body_hash, answer FROM idempotency_keys
     WHERE workspace_id = ? AND operation = ? AND idempotency_key = ?
       AND principal_id = ?`,
    Object.values(place),
  );
  // The row is keyed by operation, so the stored answer has this operation's type.
  const stored = known === undefined ? null : (JSON.parse(known.answer) as Answer);
  if (stored !== null && (await isStale?.(tx, stored)) === true) {
    await deleteRows(tx, 'idempotency_keys', place);
  } else if (known !== undefined) {
    if (known.body_hash !== bodyHash) {
      throw new HubError(
        'IDEMPOTENCY_CONFLICT',
        'The idempotency key was used with a different body: send a new key.',
      );
    }
    return { ...(stored as Answer), idempotent: true };
  }
  const answer = await make();
  insertRow(tx, 'idempotency_keys', {
    ...place,
    body_hash: bodyHash,
    answer: JSON.stringify(answer),
    created_at: tx.nowMs,
  });
  return answer;
}

export async function hasOldKeys(reader: Reader, nowMs: number): Promise<boolean> {
  const row = await reader.firstSql('SELECT 1 FROM idempotency_keys WHERE created_at < ? LIMIT 1', [
    nowMs - IDEMPOTENCY_KEPT_MS,
  ]);
  return row !== undefined;
}

/** Deletes keys that are older than `IDEMPOTENCY_KEPT_MS`. Returns how many. */
export async function deleteOldKeys(tx: Tx, limit: number): Promise<number> {
  const isOld = sql(
    `(workspace_id, operation, idempotency_key, principal_id) IN (
       SELECT workspace_id, operation, idempotency_key, principal_id FROM idempotency_keys
       WHERE created_at < ? ORDER BY created_at LIMIT ?)`,
    tx.nowMs - IDEMPOTENCY_KEPT_MS,
    limit,
  );
  return deleteRows(tx, 'idempotency_keys', { also: isOld });
}

const SHORT_HASH_CHARS = 22;

/** SHA-256 of a JSON value, independent of the order of keys. */
export function hashJson(value: unknown): string {
  return hash('sha256', JSON.stringify(sortKeys(value)));
}

/** Like `hashJson`, in 22 characters (132 bits), for a row that is kept for long. */
export function shortHashJson(value: unknown): string {
  return hash('sha256', JSON.stringify(sortKeys(value)), 'base64url').slice(0, SHORT_HASH_CHARS);
}

function sortKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sortKeys);
  const members = value as Record<string, unknown>;
  const sorted: Record<string, unknown> = {};
  for (const key of Object.keys(members).sort()) sorted[key] = sortKeys(members[key]);
  return sorted;
}
