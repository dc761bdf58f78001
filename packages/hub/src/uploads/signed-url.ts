import { createHmac, timingSafeEqual } from 'node:crypto';
import { HubError } from '../base/errors.ts';
import { deriveKey } from '../base/sealing.ts';

/** A request that a signed URL authorizes without a bearer token. */
export interface SignedRequest {
  method: 'PUT' | 'GET';
  workspaceId: string;
  uploadId: string;
  /** RFC 3339, exactly as in the URL. */
  expiresAt: string;
  /** How many bytes the URL allows at most. In the URL it precedes the dot of the signature. */
  bytesMax: number;
}

const KEY_PURPOSE = 'signalbox signed upload URL v1';
const SIGNATURE = /^(0|[1-9]\d{0,11})\.([A-Za-z0-9_-]{43})$/;

/** Derives the signing key from the hub's key. It is used for nothing else. */
export function deriveUrlKey(secretKey: Buffer): Buffer {
  return deriveKey(secretKey, '', KEY_PURPOSE);
}

/** Signs a URL. The same request gets the same URL. */
export function signUrl(key: Buffer, address: string, request: SignedRequest): string {
  const { workspaceId, uploadId, expiresAt, bytesMax } = request;
  const signature = `${bytesMax}.${macOf(key, request).toString('base64url')}`;
  return `${address}?${new URLSearchParams({ workspaceId, uploadId, expiresAt, signature })}`;
}

/**
 * Verifies a request by its URL alone.
 *
 * @param query of the request; nothing in it is trusted before the signature is verified.
 * @throws HubError SIGNED_URL_INVALID, the same for forged, altered, foreign and expired URLs.
 */
export function openSignedUrl(
  key: Buffer,
  method: SignedRequest['method'],
  query: Readonly<Record<string, unknown>>,
  nowMs: number,
): SignedRequest {
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
  const request = { method, workspaceId, uploadId, expiresAt, bytesMax: Number(bytesMax) };
  const sent = Buffer.from(mac, 'base64url');
  const expected = macOf(key, request);
  if (sent.length !== expected.length || !timingSafeEqual(sent, expected)) {
    throw new HubError('SIGNED_URL_INVALID');
  }
  // Check expiry only after the signature, so that the answer leaks nothing about other URLs.
  if (Date.parse(expiresAt) <= nowMs) throw new HubError('SIGNED_URL_INVALID');
  return request;
}

/** The parts are encoded as JSON, so that different parts never give the same text. */
function macOf(key: Buffer, request: SignedRequest): Buffer {
  const { method, workspaceId, uploadId, expiresAt, bytesMax } = request;
  const parts = JSON.stringify([method, workspaceId, uploadId, expiresAt, bytesMax]);
  return createHmac('sha256', key).update(parts).digest();
}
