import type { Clock } from '../base/clock.ts';
import { HubError } from '../base/errors.ts';

/** How long a client may pause in the middle of an upload. */
const SILENCE_MS_MAX = 30_000;

/**
 * Yields a client's bytes, and fails when the client pauses too long or disconnects.
 *
 * @throws HubError UPLOAD_MISMATCH: not all bytes arrived.
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
          `No bytes arrived for ${SILENCE_MS_MAX / 1_000} s: send all of them again.`,
        );
      }
      if (next.done) return;
      yield next.value;
    }
  } finally {
    // Ending a silent source would wait for its next byte.
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
      'The connection ended before all bytes arrived: send all of them again.',
      { cause },
    );
  } finally {
    cancel();
  }
}
