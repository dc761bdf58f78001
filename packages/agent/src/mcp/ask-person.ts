import { createHash } from 'node:crypto';
import type { endpoints, RequestOf, Uncertainty, UncertaintyKind } from '@signalbox/contract';
import { ApiError } from '@signalbox/sdk';
import { systemClock } from '../clock.ts';
import { judgeFailure } from '../hub-client.ts';
import { fitText } from '../job/text-limits.ts';
import { appendToReport } from '../job/tool-report.ts';
import { createBackoff } from '../loops/backoff.ts';
import type { JobContext } from './job-context.ts';

export interface PersonQuestion {
  question: string;
  kind?: UncertaintyKind | undefined;
  options?: readonly string[] | undefined;
  recommended?: string | undefined;
  /** Why the tool asks, and what depends on the answer. */
  why?: string | undefined;
  /** When the answer is needed; the question waits on after that. */
  deadlineMs?: number | undefined;
}

export interface PersonAnswer {
  uncertaintyId: string;
  status: 'answered' | 'dismissed' | 'waiting';
  /** The answer; null unless it is answered. */
  answer: string | null;
}

/** Below 30 s, after which many proxies close an idle connection. */
const WAIT_MS_MAX = 25_000;
const PROMPT_BYTES_MAX = 8_000;
const CONTEXT_BYTES_MAX = 40_000;
const OPTION_BYTES_MAX = 200;

/**
 * Asks a person and waits for the answer. The same question of the same job is asked once: a tool
 * that was killed and asks again gets the answer to the first.
 *
 * Without an answer in time, the question stays open and the job is to be blocked by it.
 */
export async function askPerson(
  context: JobContext,
  question: PersonQuestion,
  { waitMs, signal }: { waitMs: number; signal: AbortSignal },
): Promise<PersonAnswer> {
  const uncertaintyId = await createQuestion(context, question, signal);
  const prompt = question.question.slice(0, PROMPT_BYTES_MAX);
  await appendToReport(context.reportFile, { type: 'asked', uncertaintyId, prompt });
  if (waitMs <= 0) return await checkAnswer(context, uncertaintyId, signal);
  const uncertainty = await waitForAnswer(context, uncertaintyId, { waitMs, signal });
  if (uncertainty === null) {
    await appendToReport(context.reportFile, { type: 'parked', uncertaintyId });
    return { uncertaintyId, status: 'waiting', answer: null };
  }
  return await receive(context, uncertainty);
}

/** Reads the answer to a question of this job, without waiting. */
export async function checkAnswer(
  context: JobContext,
  uncertaintyId: string,
  signal: AbortSignal,
): Promise<PersonAnswer> {
  const { workspaceId } = context.ids;
  const { uncertainty } = await context.client.uncertainties.get(
    { workspaceId, uncertaintyId },
    { signal },
  );
  return await receive(context, uncertainty);
}

async function receive(context: JobContext, uncertainty: Uncertainty): Promise<PersonAnswer> {
  const { uncertaintyId, resolution } = uncertainty;
  if (resolution === null) return { uncertaintyId, status: 'waiting', answer: null };
  await appendToReport(context.reportFile, { type: 'answered', uncertaintyId });
  const { mode, value, options } = { ...resolution, options: uncertainty.options };
  if (mode === 'dismissed') return { uncertaintyId, status: 'dismissed', answer: null };
  const label = options.find((option) => option.value === value)?.label;
  return { uncertaintyId, status: 'answered', answer: label ?? value };
}

type CreateBody = RequestOf<typeof endpoints.uncertainties.createWithAutoPromotion>;

async function createQuestion(
  context: JobContext,
  question: PersonQuestion,
  signal: AbortSignal,
): Promise<string> {
  const body = bodyOf(context, question);
  const key = keyOf([body.prompt, body.kind, body.options]);
  try {
    return await create(context, { ...body, idempotencyKey: key }, signal);
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'IDEMPOTENCY_CONFLICT')) throw error;
    // The same question with another reason.
    const known = await findQuestion(context, body.prompt, signal);
    return known ?? (await create(context, { ...body, idempotencyKey: keyOf(body) }, signal));
  }
}

async function create(context: JobContext, body: CreateBody, signal: AbortSignal) {
  const { client } = context;
  const { uncertaintyId } = await client.uncertainties.createWithAutoPromotion(body, { signal });
  return uncertaintyId;
}

async function findQuestion(
  { client, ids }: JobContext,
  prompt: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { uncertainties } = await client.uncertainties.list({ ...ids, limit: 200 }, { signal });
  return uncertainties.find((one) => one.prompt === prompt)?.uncertaintyId;
}

function bodyOf(
  { ids, claim, redactor }: JobContext,
  { question, kind, options = [], recommended, why = '', deadlineMs }: PersonQuestion,
) {
  const clean = (text: string, bytesMax: number) => fitText(redactor.redact(text), bytesMax);
  const values = options.map((option) => clean(option, OPTION_BYTES_MAX));
  const recommendedValue = recommended === undefined ? null : clean(recommended, OPTION_BYTES_MAX);
  return {
    ...ids,
    ...claim,
    kind: kind ?? (options.length > 0 ? ('choice' as const) : ('missing_fact' as const)),
    prompt: clean(question, PROMPT_BYTES_MAX),
    context: clean(why, CONTEXT_BYTES_MAX),
    // Silence is never consent: no value is assumed, and a deadline answers nothing.
    confidence: 0,
    autoPromoteThreshold: 1,
    onDeadline: 'keep_waiting' as const,
    ...(deadlineMs === undefined ? {} : { deadlineAt: new Date(deadlineMs).toISOString() }),
    options: values.map((value) => ({ value, label: value })),
    ...(recommendedValue === null ? {} : { recommendedValue }),
  };
}

function keyOf(what: unknown): string {
  const text = JSON.stringify(what);
  return `ask:${createHash('sha256').update(text).digest('hex').slice(0, 40)}`;
}

/** Null: there is no answer yet. While the hub is unavailable, it waits as well. */
async function waitForAnswer(
  { client, ids: { workspaceId } }: JobContext,
  uncertaintyId: string,
  { waitMs: totalMs, signal }: { waitMs: number; signal: AbortSignal },
): Promise<Uncertainty | null> {
  const untilMs = systemClock.monotonicMs() + totalMs;
  const backoff = createBackoff(Math.random);
  for (;;) {
    signal.throwIfAborted();
    const leftMs = untilMs - systemClock.monotonicMs();
    const waitMs = Math.ceil(Math.min(WAIT_MS_MAX, Math.max(0, leftMs)));
    try {
      const body = { workspaceId, uncertaintyId, waitMs };
      const { uncertainty } = await client.uncertainties.wait(body, { signal });
      if (uncertainty.resolution !== null) return uncertainty;
      if (leftMs <= 0) return null;
      backoff.reset();
    } catch (error) {
      signal.throwIfAborted();
      const failure = judgeFailure(error);
      if (failure.kind !== 'retry') throw error;
      if (leftMs <= 0) return null;
      await systemClock.sleep(backoff.nextDelayMs(failure.retryAfterMs), signal);
    }
  }
}
