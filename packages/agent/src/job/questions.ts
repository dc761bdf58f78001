import type { Uncertainty } from '@signalbox/contract';
import type { Clock } from '../clock.ts';
import {
  HoldOverError,
  type Question,
  type QuestionDesk,
  type Reply,
} from '../executors/conversation.ts';
import type { HubClient } from '../hub-client.ts';
import type { Backoff } from '../loops/backoff.ts';
import { type Attempt, fenceOf } from './attempt.ts';
import { JobFailure } from './job-work.ts';
import { cleanText, fitText } from './text-limits.ts';
import type { QuestionRecord, ToolSession } from './tool-session.ts';
import { untilAnswered } from './until-answered.ts';

/** Below 30 s, after which many proxies close an idle connection. */
const WAIT_MS_MAX = 25_000;
const PROMPT_BYTES_MAX = 8_000;
const CONTEXT_BYTES_MAX = 120_000;
/** The contract's limit of options. */
const OPTIONS_MAX = 50;

export interface QuestionOptions {
  client: Pick<HubClient, 'uncertainties'>;
  attempt: Attempt;
  runId: string | null;
  session: ToolSession;
  clock: Clock;
  backoff: () => Backoff;
  /** How long the tool waits for a person before the job is parked. */
  holdMs: number;
  redact(text: string): string;
  note(line: string): Promise<void>;
}

/**
 * Asks people through the hub. An answer goes through four steps, each durable before the next: the
 * hub has it; this machine has stored it; the hub knows that this machine has taken it; it is used.
 * Wherever a process is killed, the next one continues from the last step. An answer that allows an
 * action is used before the tool has it: the action may have run from then on, so that a repeat is
 * a new question, which says so.
 */
export class HubQuestions implements QuestionDesk {
  readonly #options: QuestionOptions;
  /** Actions that are being asked about now. Two alike at once are two questions. */
  readonly #live = new Set<string>();

  constructor(options: QuestionOptions) {
    this.#options = options;
  }

  async ask(question: Question, signal: AbortSignal): Promise<Reply> {
    const { session } = this.#options;
    const actionKey = freeKey(question.actionKey, this.#live);
    this.#live.add(actionKey);
    try {
      const known = session.findQuestion(actionKey);
      const answered = known?.answer
        ? known
        : await this.#askHub({ ...question, actionKey }, signal);
      await this.#take(answered, signal);
      return replyOf(answered, session);
    } finally {
      this.#live.delete(actionKey);
    }
  }

  async #askHub(question: Question, signal: AbortSignal): Promise<QuestionRecord> {
    const { client, attempt, runId, session, clock, holdMs, redact, note } = this.#options;
    const untilMs = clock.monotonicMs() + holdMs;
    const body = bodyOf(
      withHistory(question, await this.#findEarlier(question, signal)),
      attempt,
      redact,
    );
    const { uncertaintyId } = await this.#retry(signal, (timeoutMs) =>
      client.uncertainties.createWithAutoPromotion(
        { ...body, ...(runId === null ? {} : { runId }) },
        { signal, timeoutMs },
      ),
    );
    const record = recordOf(question, uncertaintyId);
    await session.keepQuestion(record);
    await note(`signalbox: waiting for an answer: ${question.prompt}`);
    const stored = { ...record, answer: await this.#answerOf(uncertaintyId, untilMs, signal) };
    await session.keepQuestion(stored);
    return stored;
  }

  /** The last question about this action whose answer a tool was given, on any machine. */
  async #findEarlier({ kind, actionKey }: Question, signal: AbortSignal) {
    if (kind !== 'approval') return undefined;
    const { client, attempt } = this.#options;
    const { workspaceId, jobId } = attempt;
    const { uncertainties } = await this.#retry(signal, (timeoutMs) =>
      client.uncertainties.list({ workspaceId, jobId }, { signal, timeoutMs }),
    );
    // The whole view was asked for.
    return (uncertainties as Uncertainty[]).find(
      (one) =>
        one.takenAt !== null &&
        one.resolution?.mode === 'answered' &&
        baseOf(one.actionKey ?? '') === baseOf(actionKey),
    );
  }

  /** The hub does not count the answer as received until it is taken. */
  async #answerOf(uncertaintyId: string, untilMs: number, signal: AbortSignal) {
    const { client, clock, attempt } = this.#options;
    const { workspaceId } = attempt;
    for (;;) {
      const leftMs = untilMs - clock.monotonicMs();
      const waitMs = Math.ceil(Math.min(WAIT_MS_MAX, Math.max(0, leftMs)));
      const { uncertainty } = await this.#retry(signal, (timeoutMs) =>
        client.uncertainties.wait(
          { workspaceId, uncertaintyId, waitMs, peek: true },
          { signal, timeoutMs: timeoutMs + waitMs },
        ),
      );
      const { resolution } = uncertainty;
      if (resolution !== null) return { mode: resolution.mode, value: resolution.value };
      if (leftMs <= 0) throw new HoldOverError('No person has answered yet.');
    }
  }

  /** Fenced by the claim: an attempt that has lost the job uses no answer. */
  async #take(record: QuestionRecord, signal: AbortSignal): Promise<void> {
    const { client, session, attempt } = this.#options;
    const { uncertaintyId } = record;
    const { taken } = await this.#retry(signal, (timeoutMs) =>
      client.uncertainties.takeAnswer(
        { ...fenceOf(attempt), uncertaintyId },
        { signal, timeoutMs },
      ),
    );
    if (taken) return;
    await session.keepQuestion({ ...record, isUsed: true });
    const summary = 'Another agent has used the answer to a question of this job.';
    throw new JobFailure('agent', 'answer_taken', summary, { recommendedDelayMs: 0 });
  }

  #retry<Answer>(
    signal: AbortSignal,
    call: (timeoutMs: number) => Promise<Answer>,
  ): Promise<Answer> {
    const { clock, backoff } = this.#options;
    const means = { clock, backoff: backoff(), refusal: 'question_refused' };
    return untilAnswered(means, signal, call);
  }
}

/** Tells people that an action may have run, by an answer that a process has had before. */
function withHistory(question: Question, earlier: Uncertainty | undefined): Question {
  if (earlier === undefined) return question;
  const value = earlier.resolution?.value;
  const label = earlier.options.find((option) => option.value === value)?.label ?? value;
  return {
    ...question,
    // A person has to know this, so no rule answers.
    action: null,
    prompt: `${question.prompt} (it may have run already)`,
    context:
      `A tool was given an answer to this before in this job: ${label}. If that allowed it, it ` +
      `may have run already.\n\n${question.context}`,
  };
}

function baseOf(actionKey: string): string {
  return actionKey.split('#')[0] ?? '';
}

function bodyOf(
  { prompt, context, kind, actionKey, options, action }: Question,
  attempt: Attempt,
  redact: (text: string) => string,
) {
  const clean = (text: string, bytesMax: number) => fitText(redact(text), bytesMax);
  return {
    ...fenceOf(attempt),
    kind,
    actionKey,
    ...(action !== null && { action }),
    prompt: clean(prompt, PROMPT_BYTES_MAX),
    context: clean(context, CONTEXT_BYTES_MAX),
    // Silence is never consent: no value is assumed, and there is no deadline.
    confidence: 0,
    autoPromoteThreshold: 1,
    onDeadline: 'keep_waiting' as const,
    options: options.slice(0, OPTIONS_MAX).map(({ value, label, description }) => ({
      value: cleanText(value).slice(0, 2_000),
      label: clean(label, 200),
      ...(description === undefined ? {} : { description: clean(description, 2_000) }),
    })),
  };
}

function recordOf({ actionKey, kind, options }: Question, uncertaintyId: string): QuestionRecord {
  return {
    uncertaintyId,
    actionKey,
    answer: null,
    isUsed: false,
    isAboutAction: kind === 'approval',
    labels: Object.fromEntries(options.map(({ value, label }) => [value, label])),
    meanings: Object.fromEntries(
      options.flatMap(({ value, meaning }) => (meaning === undefined ? [] : [[value, meaning]])),
    ),
  };
}

function replyOf(record: QuestionRecord, session: ToolSession): Reply {
  const { answer } = record;
  if (answer === null) throw new Error('a question without an answer was taken');
  const used = () => session.keepQuestion({ ...record, isUsed: true });
  return { ...answer, meaning: record.meanings[answer.value] ?? null, used };
}

function freeKey(actionKey: string, live: ReadonlySet<string>): string {
  let key = actionKey;
  for (let number = 2; live.has(key); number++) key = `${actionKey}#${number}`;
  return key;
}
