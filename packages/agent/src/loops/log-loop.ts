import type { Clock } from '../clock.ts';
import { type HubClient, judgeFailure } from '../hub-client.ts';
import type { Attempt } from '../job/attempt.ts';
import type { Backoff } from './backoff.ts';
import { uploadLogBatch } from './log-upload.ts';
import { type Loop, startLoop, UNTIL_WOKEN_MS } from './loop.ts';

/** Limits the upload to a few requests per second, even for verbose tools. */
const UPLOAD_INTERVAL_MS = 250;
const CALL_TIMEOUT_MS = 15_000;

export interface LogLoop extends Loop {
  /** Bytes of the log file that the hub has received. */
  uploadedBytes(): number;
}

/**
 * Uploads the output of one attempt while its command runs. When the loop stops, the rest stays in
 * the file and the outbox sends it before the result. The loop never ends a job: if the hub rejects
 * output, the lease may be lost, which the lease loop finds out by itself.
 */
export function startLogLoop(options: {
  client: HubClient;
  attempt: Attempt;
  logFile: string;
  clock: Clock;
  backoff: Backoff;
  /** A person wants the job to end; the answer to a renewal may say it later. */
  onCancelRequested(): void;
  onDefect(error: unknown): void;
}): LogLoop {
  const { client, attempt, logFile, clock, backoff } = options;
  let offset = 0;
  let isRefused = false;

  async function runOnce(stopping: AbortSignal): Promise<number> {
    if (isRefused) return UNTIL_WOKEN_MS;
    try {
      const call = { signal: stopping, timeoutMs: CALL_TIMEOUT_MS };
      const uploaded = await uploadLogBatch(client, attempt, logFile, offset, call);
      backoff.reset();
      if (uploaded === null) return UNTIL_WOKEN_MS;
      offset = uploaded.offset;
      if (uploaded.isCancelRequested) options.onCancelRequested();
      await clock.sleep(UPLOAD_INTERVAL_MS, stopping);
      return 0;
    } catch (error) {
      const failure = judgeFailure(error);
      if (failure.kind === 'retry' && !failure.isPathUnknown) {
        // Wait here, so that growth of the file does not shorten the pause.
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
