import { createHash } from 'node:crypto';
import { HubError } from '../errors.ts';
import type { BytesExpected, BytesStored } from './byte-store.ts';

/**
 * Passes bytes on while it counts and hashes them, and holds the last piece back until all of
 * them are what was expected: who writes what comes out never holds the whole of a wrong object.
 *
 * @returns the iterable's own return value: size and hash.
 * @throws HubError UPLOAD_MISMATCH
 */
export async function* checkBytes(
  source: AsyncIterable<Uint8Array>,
  expected: BytesExpected,
): AsyncGenerator<Uint8Array, BytesStored, undefined> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  let held: Uint8Array | null = null;
  for await (const piece of source) {
    if (piece.length === 0) continue;
    sizeBytes += piece.length;
    if (sizeBytes > expected.sizeBytes) throw mismatch('more bytes than announced');
    hash.update(piece);
    if (held !== null) yield held;
    held = piece;
  }
  if (sizeBytes < expected.sizeBytes) throw mismatch('fewer bytes than announced');
  const sha256 = hash.digest('hex');
  if (expected.sha256 !== null && sha256 !== expected.sha256) {
    throw mismatch('bytes of another SHA-256 than announced');
  }
  if (held !== null) yield held;
  return { sizeBytes, sha256 };
}

/** Runs the check and hands each piece to `take`. */
export async function takeBytes(
  source: AsyncIterable<Uint8Array>,
  expected: BytesExpected,
  take: (piece: Uint8Array) => Promise<void>,
): Promise<BytesStored> {
  const checked = checkBytes(source, expected);
  for (;;) {
    const next = await checked.next();
    if (next.done) return next.value;
    await take(next.value);
  }
}

export function mismatch(what: string): HubError {
  return new HubError('UPLOAD_MISMATCH', `These are ${what}: send the announced file.`);
}
