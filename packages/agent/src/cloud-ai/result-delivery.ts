import { BODY_BYTES_MAX, type CloudAiResult, TEXT_CHARS_MAX } from '@signalbox/contract';
import type { Clock } from '../clock.ts';
import { isAboutContent, judgeFailure } from '../hub-client.ts';
import { cleanText, fitText, jsonBytes } from '../job/text-limits.ts';
import { createBackoff } from '../loops/backoff.ts';
import type { CloudAiEvent, CloudAiHubClient } from './cloud-ai-options.ts';
import type { CallEnd } from './model-call.ts';

const CALL_TIMEOUT_MS = 30_000;
/** Size reserved for the other fields of the request: IDs, usage and field names. */
const BODY_REST_BYTES = 4_096;
/** Limit of the serialized result, with a margin for field names and quotes. */
const RESULT_BYTES_MAX = BODY_BYTES_MAX - BODY_REST_BYTES;
const MESSAGE_BYTES_MAX = 2_000;
type Ended = Extract<CallEnd, { outcome: 'done' | 'failed' }>;

export interface Delivery {
  client: CloudAiHubClient;
  ref: { workspaceId: string; agentId: string; cloudAiJobId: string; claimGeneration: number };
  end: Ended;
  clock: Clock;
  /** Fires when this executor no longer holds the job. */
  signal: AbortSignal;
  random: () => number;
  emit(event: CloudAiEvent): void;
}

/** Sends a result until the hub answers or the signal fires. */
export async function deliverEnd(delivery: Delivery): Promise<void> {
  const { client, ref, clock, signal, emit } = delivery;
  const { cloudAiJobId } = ref;
  const backoff = createBackoff(delivery.random);
  let end: Ended = fitEnd(delivery.end);
  while (!signal.aborted) {
    try {
      const call = { signal, timeoutMs: CALL_TIMEOUT_MS };
      const { result } = await client.cloudAiJobs.complete({ ...ref, ...end }, call);
      emit({ type: 'result-accepted', cloudAiJobId, status: result.status });
      return;
    } catch (error) {
      const failure = judgeFailure(error);
      if (failure.kind === 'retry') {
        await clock.sleep(backoff.nextDelayMs(failure.retryAfterMs), signal);
      } else if (isAboutContent(failure.code) && end.result !== undefined) {
        // Report a plain failure instead, so that the job ends now and is not paid for a second
        // time.
        end = withoutResult(end, `The hub rejected the result: ${failure.message}`);
      } else {
        const { code, message } = failure;
        emit({ type: 'result-refused', cloudAiJobId, code, message });
        return;
      }
    }
  }
}

/** Fits a result into the hub's limits. If it is too large, replaces it with a failure. */
function fitEnd(end: Ended): Ended {
  const message = 'message' in end ? { message: fitText(end.message, MESSAGE_BYTES_MAX) } : {};
  const { result } = end;
  if (result === undefined) return { ...end, ...message };
  // Strings at any depth may contain characters that JSON readers reject.
  const clean = cleanJson(result);
  const isTooLong = (clean.text?.length ?? 0) > TEXT_CHARS_MAX;
  return isTooLong || jsonBytes(clean) > RESULT_BYTES_MAX
    ? withoutResult(end, `The answer exceeds the limit of ${RESULT_BYTES_MAX} bytes for a result.`)
    : { ...end, ...message, result: clean };
}

function cleanJson(result: CloudAiResult): CloudAiResult {
  return JSON.parse(JSON.stringify(result), (_key, value: unknown) =>
    typeof value === 'string' ? cleanText(value) : value,
  );
}

function withoutResult({ usage }: Ended, message: string): Ended {
  return { outcome: 'failed', message, ...(usage === undefined ? {} : { usage }) };
}
