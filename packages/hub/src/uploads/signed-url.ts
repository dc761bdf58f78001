import { createHmac, timingSafeEqual } from 'node:crypto';
import { HubError } from '../errors.ts';
import { deriveKey } from '../sealing.ts';

/** What a signed URL opens, for whom it needs no bearer. */
export interface SignedAct {
  method: 'PUT' | 'GET';
  workspaceId: string;
  uploadId: string;
  /** RFC 3339, as it stands in the URL. */
  expiresAt: string;
  /** The most bytes that may go through the URL; it stands before the dot of the signature. */
  bytesMax: number;
}

const KEY_PURPOSE = 'signalbox signed upload URL v1';
const SIGNATURE = /^(0|[1-9]\d{0,11})\.([A-Za-z0-9_-]{43})$/;

/** The key that signs, from the hub's own secret; it opens nothing else. */
export function deriveUrlKey(secretKey: Buffer): Buffer {
  return deriveKey(secretKey, '', KEY_PURPOSE);
}

/** The URL of an act. The same act has the same URL. */
export function signUrl(key: Buffer, address: string, act: SignedAct): string {
  const { workspaceId, uploadId, expiresAt, bytesMax } = act;
  const signature = `${bytesMax}.${macOf(key, act).toString('base64url')}`;
  return `${address}?${new URLSearchParams({ workspaceId, uploadId, expiresAt, signature })}`;
}

/**
 * Proves a request by its URL alone.
 *
 * @param query as it came; nothing of it is trusted before the signature fits.
 * @throws HubError SIGNED_URL_INVALID, the same for what is forged, altered, foreign or too late.
 */
export function openSignedUrl(
  key: Buffer,
  method: SignedAct['method'],
  query: Readonly<Record<string, unknown>>,
  nowMs: number,
): SignedAct {
  const { workspaceId, uploadId, expiresAt, signature } = query;
  if (
    typeof workspaceId !== 'string' ||
    typeof uploadId !== 'string' ||
    typeof expiresAt !== 'string' ||
    typeof signature !== 'string'
  ) {
    throw new HubError('SIGNED_URL_INVALID');
  }
  const [, bytesMax = '', mac = ''] = SIGNATURE.exec(signature) ?? [];
  const act = { method, workspaceId, uploadId, expiresAt, bytesMax: Number(bytesMax) };
  const sent = Buffer.from(mac, 'base64url');
  const right = macOf(key, act);
  if (sent.length !== right.length || !timingSafeEqual(sent, right)) {
    throw new HubError('SIGNED_URL_INVALID');
  }
  // Only now: what the time says of an unproved URL is nobody's business.
  if (Date.parse(expiresAt) <= nowMs) throw new HubError('SIGNED_URL_INVALID');
  return act;
}

/** JSON of a list keeps the parts apart, whatever they hold. */
function macOf(key: Buffer, act: SignedAct): Buffer {
  const { method, workspaceId, uploadId, expiresAt, bytesMax } = act;
  const parts = JSON.stringify([method, workspaceId, uploadId, expiresAt, bytesMax]);
  return createHmac('sha256', key).update(parts).digest();
}
