import { BODY_BYTES_MAX, type CloudAiResult, TEXT_CHARS_MAX } from '@signalbox/contract';
import type { Clock } from '../clock.ts';
import { judgeFailure } from '../hub-client.ts';
import { cleanText, fitText, jsonBytes } from '../job/text-limits.ts';
import { createBackoff } from '../loops/backoff.ts';
import type { CloudAiEvent, CloudAiHubClient } from './cloud-ai-options.ts';
import type { CallEnd } from './model-call.ts';

const CALL_TIMEOUT_MS = 30_000;
/** What stands beside the result in the request: ids, usage, the names of the fields. */
const BODY_REST_BYTES = 4_096;
/** Names of the fields and quotes, with room to spare. */
const RESULT_BYTES_MAX = BODY_BYTES_MAX - BODY_REST_BYTES;
const MESSAGE_BYTES_MAX = 2_000;
/** Refusals of what a result says, not of who says it: the job itself is still held. */
const contentCodes = new Set(['INVALID_REQUEST', 'INVALID_JSON', 'BODY_TOO_LARGE']);

type Ended = Extract<CallEnd, { outcome: 'done' | 'failed' }>;

export interface Delivery {
  client: CloudAiHubClient;
  ref: { workspaceId: string; agentId: string; cloudAiJobId: string; claimGeneration: number };
  end: Ended;
  clock: Clock;
  /** Fires when the job is no longer this executor's. */
  signal: AbortSignal;
  random: () => number;
  emit(event: CloudAiEvent): void;
}

/** Sends a result until the hub has answered, for as long as the lease is held. */
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
      } else if (contentCodes.has(failure.code) && end.result !== undefined) {
        // A plain failure instead, so that the job ends now and is not paid for again.
        end = withoutResult(end, `The hub could not take the result: ${failure.message}`);
      } else {
        const { code, message } = failure;
        emit({ type: 'result-refused', cloudAiJobId, code, message });
        return;
      }
    }
  }
}

/** Makes a result one that the hub can take: whole if possible, else a failure that says so. */
function fitEnd(end: Ended): Ended {
  const message = 'message' in end ? { message: fitText(end.message, MESSAGE_BYTES_MAX) } : {};
  const { result } = end;
  if (result === undefined) return { ...end, ...message };
  const clean = cleanResult(result);
  const isTooLong = (clean.text?.length ?? 0) > TEXT_CHARS_MAX;
  return isTooLong || jsonBytes(clean) > RESULT_BYTES_MAX
    ? withoutResult(end, `The answer is longer than the ${RESULT_BYTES_MAX} bytes of a result.`)
    : { ...end, ...message, result: clean };
}

function cleanResult(result: CloudAiResult): CloudAiResult {
  const { text, json } = result;
  return {
    ...(text === undefined ? {} : { text: cleanText(text) }),
    // Strings may hold what no JSON reader likes, at any depth.
    ...(json === undefined ? {} : { json: cleanJson(json) }),
  };
}

function cleanJson(json: unknown): unknown {
  return JSON.parse(JSON.stringify(json), (_key, value: unknown) =>
    typeof value === 'string' ? cleanText(value) : value,
  );
}

function withoutResult({ usage }: Ended, message: string): Ended {
  return { outcome: 'failed', message, ...(usage === undefined ? {} : { usage }) };
}
