import { createHash } from 'node:crypto';
import { HubError } from '../../base/errors.ts';
import type { BytesExpected, BytesStored } from './byte-store.ts';

/**
 * Passes bytes to `take` piece by piece while it counts and hashes them. The last piece is held
 * back until all bytes are checked, so that `take` never gets the whole of a wrong object.
 *
 * @throws HubError UPLOAD_MISMATCH; errors of the source and of `take`.
 */
export async function takeBytes(
  source: AsyncIterable<Uint8Array>,
  expected: BytesExpected,
  take: (piece: Uint8Array) => Promise<void>,
): Promise<BytesStored> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  let held: Uint8Array | null = null;
  for await (const piece of source) {
    sizeBytes += piece.length;
    if (sizeBytes > expected.sizeBytes) throw mismatch('more bytes than announced');
    hash.update(piece);
    if (held !== null) await take(held);
    held = piece;
  }
  if (sizeBytes < expected.sizeBytes) throw mismatch('fewer bytes than announced');
  const sha256 = hash.digest('hex');
  if (expected.sha256 !== null && sha256 !== expected.sha256) {
    throw mismatch('bytes with a SHA-256 other than announced');
  }
  if (held !== null) await take(held);
  return { sizeBytes, sha256 };
}

/** @param received describes the bytes, as in "fewer bytes than announced". */
export function mismatch(received: string): HubError {
  return new HubError('UPLOAD_MISMATCH', `The hub received ${received}: send the announced file.`);
}
