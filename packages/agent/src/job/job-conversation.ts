import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { untilAborted } from '../clock.ts';
import type {
  ConversationHost,
  ToolJob,
  ToolProcess,
  ToolStart,
} from '../executors/conversation.ts';
import type { ExecutorPlan } from '../executors/executor.ts';
import { createBackoff } from '../loops/backoff.ts';
import { createLineFilter } from '../process/line-filter.ts';
import type { StopReason } from './attempt.ts';
import { runJobProcess } from './job-process.ts';
import { JobStopped, type JobWork } from './job-work.ts';
import { HubMessages } from './messages.ts';
import { untilParked } from './parked-question.ts';
import { recordProcess } from './process-record.ts';
import { HubQuestions } from './questions.ts';
import { tailOf } from './text-limits.ts';

/** Characters kept of what a tool printed on standard error. */
const TAIL_CHARS_MAX = 4_000;

/** Talks with the tool until the job is done, or until it waits for a person for too long. */
export async function runConversation(
  work: JobWork,
  toolJob: ToolJob,
  converse: NonNullable<ExecutorPlan['converse']>,
): Promise<void> {
  const { session, settings, claimed } = work;
  if (session === undefined) throw new Error('a conversation has a session');
  const { clock } = settings;
  const { redact } = toolJob;
  const note = (line: string) => work.log.note(redact(line));
  const host: ConversationHost = {
    ...toolJob,
    cwd: work.directory.worktree,
    clock,
    session,
    note,
    repository: work.repository,
    signal: work.signal,
    questions: new HubQuestions({
      attempt: claimed,
      runId: claimed.job.runId,
      session,
      clock,
      redact,
      note,
      client: settings.client,
      backoff: () => createBackoff(Math.random),
      holdMs: settings.holdMs,
    }),
    messages: new HubMessages({
      client: settings.client,
      attempt: claimed,
      session,
      clock,
      signal: work.signal,
      backoff: () => createBackoff(Math.random),
    }),
    untilParked: (signal) => untilParked(work, signal),
    startTool: (start) => startTool(work, start),
    log: (parts) => work.log.append('stdout', parts),
    onModelAnswer: () => work.onModelAnswer(),
    onUsage: (usage) => work.onUsage(usage),
    report: (progress) => work.report(redact(progress)),
  };
  try {
    work.executorReport = await converse(host);
  } catch (error) {
    if (work.signal.aborted) throw new JobStopped();
    throw error;
  }
  // A tool that is still needed has ended by itself only in failures, which the report names.
  work.exit = { code: 0, signal: null };
}

async function startTool(work: JobWork, start: ToolStart): Promise<ToolProcess> {
  const stopping = new AbortController();
  let { killGraceMs } = work.settings;
  let lastWords = '';
  const quiet = createLineFilter(start.noise);
  const started = Promise.withResolvers<Writable>();
  const received = new TransformStream<Uint8Array, Uint8Array>();
  const writer = received.writable.getWriter();
  const encoder = new TextEncoder();
  const logError = async (text: string) => {
    lastWords = tailOf(lastWords + text, TAIL_CHARS_MAX);
    if (text !== '') await work.log.write('stderr', text);
  };
  const exited = runJobProcess(work, {
    file: start.file,
    args: start.args,
    env: { ...work.env, ...start.env },
    stdin: (stdin) => started.resolve(stdin),
    async onOutput(stream, text) {
      if (stream === 'stdout') return await deliver(writer, encoder.encode(text));
      await logError(quiet(text));
    },
    onStart: (pid) => recordProcess(work, pid),
    signal: AbortSignal.any([killSignal(work), stopping.signal]),
    killGraceMs: () => killGraceMs,
  });
  const closed = exited.finally(() => {
    // The reader may be gone.
    writer.close().catch(() => {});
  });
  const ended = closed.then(async (exit) => {
    await logError(quiet('', true));
    return exit;
  });
  // Callers that await the end get its errors; a tool that does not start fails at once, below.
  ended.catch((error: unknown) => started.reject(error));
  const stdin = await started.promise;
  return {
    input: writableOf(stdin),
    output: received.readable,
    exited: ended,
    lastWords: () => work.redactor.redact(lastWords).trim(),
    async stop(graceMs) {
      killGraceMs = graceMs;
      stopping.abort();
      await ended;
    },
  };
}

/** Reasons to stop that leave the tool time to end its turn and to tell what it has used. */
const gentleReasons = new Set<StopReason>(['canceled', 'time_limit', 'budget_spent']);
/** More than the conversation takes for that. */
const GENTLE_MS = 3_000;

/** Fires when the tool must be ended from outside of its conversation. */
function killSignal({ signal, settings: { clock } }: JobWork): AbortSignal {
  const killing = new AbortController();
  void untilAborted(signal).then(async () => {
    // The caller that stops an attempt gives this reason, see `JobRunOptions.signal`.
    const { reason } = signal.reason as { reason: StopReason };
    if (gentleReasons.has(reason)) await clock.sleep(GENTLE_MS);
    killing.abort();
  });
  return killing.signal;
}

/** A reader that has gone away reads nothing more; the process is being ended then. */
async function deliver(
  writer: WritableStreamDefaultWriter<Uint8Array>,
  bytes: Uint8Array,
): Promise<void> {
  await writer.write(bytes).catch(() => {});
}

/** A tool that has ended closes its input; the connection finds that out by its output. */
function writableOf(stdin: Writable): WritableStream<Uint8Array> {
  return new WritableStream({
    async write(bytes) {
      if (stdin.destroyed || stdin.writableEnded) return;
      if (!stdin.write(bytes)) await Promise.race([once(stdin, 'drain'), once(stdin, 'close')]);
    },
    close: () => {
      stdin.end();
    },
  });
}
