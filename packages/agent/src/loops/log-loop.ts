import type { Clock } from '../clock.ts';
import { type HubClient, judgeFailure } from '../hub-client.ts';
import type { Attempt } from '../job/attempt.ts';
import type { Backoff } from './backoff.ts';
import { uploadLogBatch } from './log-upload.ts';
import { type Loop, startLoop, UNTIL_WOKEN_MS } from './loop.ts';

/** A chatty tool makes a few requests a second, not hundreds. */
const UPLOAD_INTERVAL_MS = 250;
const CALL_TIMEOUT_MS = 15_000;

export interface LogLoop extends Loop {
  /** What the hub has of the log file, in bytes. */
  uploadedBytes(): number;
}

/**
 * Carries the output of one attempt to the hub while its command runs. Stopping the loop leaves
 * the rest in the file: the outbox sends it before the result. The loop never ends a job: output
 * that the hub refuses is a matter of the lease, and the lease's own loop hears of it.
 */
export function startLogLoop(options: {
  client: HubClient;
  attempt: Attempt;
  logFile: string;
  clock: Clock;
  backoff: Backoff;
  onDefect(error: unknown): void;
}): LogLoop {
  const { client, attempt, logFile, clock, backoff } = options;
  let offset = 0;
  let isRefused = false;

  async function runOnce(stopping: AbortSignal): Promise<number> {
    if (isRefused) return UNTIL_WOKEN_MS;
    try {
      const options = { signal: stopping, timeoutMs: CALL_TIMEOUT_MS };
      const next = await uploadLogBatch(client, attempt, logFile, offset, options);
      backoff.reset();
      if (next === null) return UNTIL_WOKEN_MS;
      offset = next;
      await clock.sleep(UPLOAD_INTERVAL_MS, stopping);
      return 0;
    } catch (error) {
      const failure = judgeFailure(error);
      if (failure.kind === 'retry' && !failure.isPathUnknown) {
        // Growth of the file must not shorten the pause, so it is waited for here.
        await clock.sleep(backoff.nextDelayMs(failure.retryAfterMs), stopping);
        return 0;
      }
      isRefused = true;
      return UNTIL_WOKEN_MS;
    }
  }

  const loop = startLoop({ clock, runOnce, onDefect: options.onDefect });
  return { ...loop, uploadedBytes: () => offset };
}
