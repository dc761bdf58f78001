import type { Clock } from '../clock.ts';
import { HubError } from '../errors.ts';

/** How long a client may send nothing in the middle of an upload. */
export const SILENCE_MS_MAX = 30_000;

/**
 * Passes a client's bytes on, and gives up when it falls silent or goes away.
 *
 * @throws HubError UPLOAD_MISMATCH: not all bytes came.
 */
export async function* limitSilence(
  source: AsyncIterable<Uint8Array>,
  clock: Clock,
): AsyncGenerator<Uint8Array, void, undefined> {
  const iterator = source[Symbol.asyncIterator]();
  let isSilent = false;
  try {
    for (;;) {
      const next = await nextOf(iterator, clock);
      if (next === 'silence') {
        isSilent = true;
        throw new HubError(
          'UPLOAD_MISMATCH',
          `No bytes came for ${SILENCE_MS_MAX / 1_000} s: send them all again.`,
        );
      }
      if (next.done) return;
      yield next.value;
    }
  } finally {
    // Waiting for a silent source to end would be waiting for its next byte.
    if (!isSilent) await iterator.return?.();
  }
}

async function nextOf(
  iterator: AsyncIterator<Uint8Array>,
  clock: Clock,
): Promise<IteratorResult<Uint8Array> | 'silence'> {
  const silence = Promise.withResolvers<'silence'>();
  const cancel = clock.schedule(SILENCE_MS_MAX, () => silence.resolve('silence'));
  try {
    return await Promise.race([iterator.next(), silence.promise]);
  } catch (cause) {
    throw new HubError(
      'UPLOAD_MISMATCH',
      'The connection ended before all bytes had come: send them all again.',
      { cause },
    );
  } finally {
    cancel();
  }
}
