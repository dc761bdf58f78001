import { createHash } from 'node:crypto';
import { HubError } from '../../errors.ts';
import type { BytesExpected, BytesStored } from './byte-store.ts';

/**
 * Hands bytes on piece by piece while it counts and hashes them, and holds the last piece back
 * until all of them are what was expected: who takes them never has the whole of a wrong object.
 *
 * @throws HubError UPLOAD_MISMATCH; whatever the source or `take` throws.
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
    throw mismatch('bytes of another SHA-256 than announced');
  }
  if (held !== null) await take(held);
  return { sizeBytes, sha256 };
}

/** @param what the bytes are, in the plural. */
export function mismatch(what: string): HubError {
  return new HubError('UPLOAD_MISMATCH', `These are ${what}: send the announced file.`);
}
