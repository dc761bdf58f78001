import type { Clock } from '../clock.ts';
import { judgeFailure } from '../hub-client.ts';
import type { Backoff } from '../loops/backoff.ts';
import { JobFailure } from './job-work.ts';

const CALL_TIMEOUT_MS = 15_000;

/**
 * Repeats a call until the hub answers: an unavailable hub costs time, and nothing else.
 *
 * @param refusal the code of the failure when the hub refuses the call.
 * @throws {JobFailure} the hub refuses it.
 */
export async function untilAnswered<Answer>(
  { clock, backoff, refusal }: { clock: Clock; backoff: Backoff; refusal: string },
  signal: AbortSignal,
  call: (timeoutMs: number) => Promise<Answer>,
): Promise<Answer> {
  for (;;) {
    signal.throwIfAborted();
    try {
      return await call(CALL_TIMEOUT_MS);
    } catch (error) {
      signal.throwIfAborted();
      const failure = judgeFailure(error);
      if (failure.kind === 'refused') throw new JobFailure('agent', refusal, failure.message);
      const retryAfterMs = failure.kind === 'retry' ? failure.retryAfterMs : 0;
      await clock.sleep(backoff.nextDelayMs(retryAfterMs), signal);
    }
  }
}
