import type { CloudAiJob, CloudAiResult, Usage } from '@signalbox/contract';
import type { Clock } from '../clock.ts';
import type { Backoff } from '../loops/backoff.ts';
import { readJsonAnswer } from './answer-schema.ts';
import type { CloudAiAnswer, CloudAiProvider } from './cloud-ai-provider.ts';
import { judgeProviderFailure, type ProviderFailure } from './provider-failure.ts';

/** Limit of temporarily failed calls before the job fails. */
const FAILED_CALLS_MAX = 8;
/** Limit of answers that miss the schema. More calls cost money and are unlikely to succeed. */
const UNFIT_ANSWERS_MAX = 3;

/** The end of a job's calls. */
export type CallEnd =
  | { outcome: 'done'; result: CloudAiResult; usage: Usage }
  | { outcome: 'failed'; message: string; result?: CloudAiResult; usage?: Usage }
  /** The signal fired. Its sender knows the reason. */
  | { outcome: 'stopped' }
  /** The provider rejects this executor entirely; another executor must take the job. */
  | { outcome: 'unserved'; message: string };

export interface CallOptions {
  provider: CloudAiProvider;
  job: CloudAiJob;
  /** Used for a job that names no model. */
  modelDefault: string;
  outputTokensMax: number | undefined;
  timeLimitMs: number;
  clock: Clock;
  backoff: Backoff;
  signal: AbortSignal;
  onRetry(retry: { message: string; delayMs: number }): void;
}

/** Calls the model until it gives a usable answer, within limits of time and calls. */
export async function callModel(options: CallOptions): Promise<CallEnd> {
  const { clock, timeLimitMs } = options;
  const over = new AbortController();
  const ended = new AbortController();
  void clock.sleep(timeLimitMs, ended.signal).then(() => over.abort());
  try {
    const end = await callUntilUsable(options, over.signal, clock.monotonicMs() + timeLimitMs);
    if (end.outcome !== 'stopped' || options.signal.aborted) return end;
    return {
      outcome: 'failed',
      message: `The job exceeded its time limit of ${timeLimitMs / 1_000} s.`,
    };
  } finally {
    ended.abort();
  }
}

async function callUntilUsable(
  options: CallOptions,
  over: AbortSignal,
  endMs: number,
): Promise<CallEnd> {
  const { job, clock, backoff } = options;
  const signal = AbortSignal.any([options.signal, over]);
  const spent = createMeter();
  let failed = 0;
  let unfit = 0;
  while (!signal.aborted) {
    const asked = await askOnce(options, signal);
    if (asked === 'stopped') break;
    let problem: { message: string; retryAfterMs: number };
    if ('kind' in asked) {
      if (asked.kind === 'settings') return { outcome: 'unserved', message: asked.message };
      if (asked.kind === 'final') return fail(asked.message, spent);
      failed += 1;
      problem = asked;
    } else {
      spent.add(asked.usage);
      const reading = readAnswer(asked, job.responseSchema);
      if (reading.end !== undefined) return { ...reading.end, usage: spent.usage() };
      unfit += 1;
      problem = { message: reading.problem, retryAfterMs: 0 };
    }
    const delayMs = backoff.nextDelayMs(problem.retryAfterMs);
    const isHopeless = failed >= FAILED_CALLS_MAX || unfit >= UNFIT_ANSWERS_MAX;
    if (isHopeless || clock.monotonicMs() + delayMs >= endMs) {
      return fail(`Given up after ${failed + unfit} calls. ${problem.message}`, spent);
    }
    options.onRetry({ message: problem.message, delayMs });
    await clock.sleep(delayMs, signal);
  }
  return { outcome: 'stopped' };
}

async function askOnce(
  { provider, job, modelDefault, outputTokensMax, clock }: CallOptions,
  signal: AbortSignal,
): Promise<CloudAiAnswer | ProviderFailure | 'stopped'> {
  const { input, responseSchema } = job;
  const model = job.model ?? modelDefault;
  try {
    return await provider.ask({ model, input, responseSchema, outputTokensMax }, signal);
  } catch (error) {
    return signal.aborted ? 'stopped' : judgeProviderFailure(error, clock.nowMs());
  }
}

type Reading =
  | { end: { outcome: 'done'; result: CloudAiResult } }
  | { end: { outcome: 'failed'; message: string; result?: CloudAiResult } }
  | { end?: undefined; problem: string };

function readAnswer(answer: CloudAiAnswer, schema: Record<string, unknown> | null): Reading {
  const { text, finish } = answer;
  if (finish === 'refused') {
    const result = text === '' ? {} : { result: { text } };
    return { end: { outcome: 'failed', message: 'The model refused to answer.', ...result } };
  }
  if (finish === 'cut') {
    const message = "The answer was truncated at the model's output limit.";
    return { end: { outcome: 'failed', message, result: { text } } };
  }
  if (schema === null) {
    return text === ''
      ? { problem: "The model's answer is empty." }
      : { end: { outcome: 'done', result: { text } } };
  }
  const reading = readJsonAnswer(text, schema);
  if ('json' in reading) return { end: { outcome: 'done', result: reading } };
  const { problem, isFinal } = reading;
  return isFinal ? { end: { outcome: 'failed', message: problem } } : { problem };
}

function fail(message: string, spent: Meter): CallEnd {
  const usage = spent.usage();
  return usage.model === undefined
    ? { outcome: 'failed', message }
    : { outcome: 'failed', message, usage };
}

type Meter = ReturnType<typeof createMeter>;

/** Adds up the usage of all answers of a job, including unusable ones. */
function createMeter() {
  let inputTokens = 0;
  let outputTokens = 0;
  let model: string | undefined;
  return {
    add(usage: Usage): void {
      inputTokens += usage.inputTokens ?? 0;
      outputTokens += usage.outputTokens ?? 0;
      model = usage.model ?? model;
    },
    usage: (): Usage => ({ inputTokens, outputTokens, ...(model === undefined ? {} : { model }) }),
  };
}
