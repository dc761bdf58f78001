import { PARK_GRACE_MS, type ToolJob } from '../executors/conversation.ts';
import type { OutputReader } from '../executors/executor.ts';
import { judgeFailure } from '../executors/judge-failure.ts';
import type { ToolFailure } from '../executors/tool-failure.ts';
import { beginsAgain } from '../executors/tool-prompt.ts';
import { runConversation } from './job-conversation.ts';
import { runJobProcess } from './job-process.ts';
import { composePrompt } from './job-prompt.ts';
import { describeExit } from './job-result.ts';
import type { JobWork } from './job-work.ts';
import { untilParked } from './parked-question.ts';
import { recordProcess } from './process-record.ts';
import { tailOf } from './text-limits.ts';
import type { ToolSession } from './tool-session.ts';

/** Characters kept of a command's last output, for its result. */
const TAIL_CHARS_MAX = 4_000;
/** A tool event may contain a whole file. Longer events are skipped. */
const EVENT_CHARS_MAX = 16 * 1024 * 1024;

/** Runs the tool until it exits; stores exit, report and last output in `work`. */
export async function runCommand(work: JobWork): Promise<void> {
  const { executor, clock, killGraceMs } = work.settings;
  const { worktree, toolFiles, resultFile, attachments } = work.directory;
  const { session } = work;
  const toolJob = toolJobOf(work);
  const plan = executor.plan({
    ...toolJob,
    worktree,
    toolFiles,
    resultFile,
    nowMs: () => clock.nowMs(),
    ...(session === undefined ? {} : { session }),
    ...(work.claimed.job.attachments === undefined ? {} : { attachments }),
  });
  const { reader, converse } = plan;
  if (converse !== undefined) return await runConversation(work, toolJob, converse);
  if (reader !== undefined && work.claimed.job.decisions.length > 0) {
    await work.log.note(beginsAgain(`${executor.name} resumes no sessions`));
  }
  const readStdout = reader === undefined ? undefined : createLineReader(work, reader);
  const memory = plan.findSession && session && (await openMemory(work, session, plan.findSession));
  const ended = new AbortController();
  const parking = new AbortController();
  // A coding tool would continue. A plain command decides by itself how it ends.
  const isPlain = reader === undefined && memory === undefined;
  const parked = isPlain ? Promise.resolve(null) : untilParked(work, ended.signal);
  // Its errors are those of the job, at the end.
  parked.then(
    (summary) => summary === null || parking.abort(),
    () => {},
  );
  work.exit = await runJobProcess(work, {
    file: plan.file,
    args: plan.args,
    env: { ...work.env, ...plan.env },
    stdin: plan.stdin,
    async onOutput(stream, text) {
      if (stream === 'stdout' && readStdout !== undefined) return await readStdout(text);
      work.tail[stream] = tailOf(work.tail[stream] + text, TAIL_CHARS_MAX);
      await memory?.read(stream, text);
      await work.log.write(stream, text);
    },
    onStart: (pid) => recordProcess(work, pid),
    signal: AbortSignal.any([work.signal, parking.signal]),
    killGraceMs: () => (parking.signal.aborted ? PARK_GRACE_MS : killGraceMs),
  }).finally(() => ended.abort());
  await readStdout?.('\n');
  if (memory !== undefined) {
    const summary = await parked;
    const sessionId = await memory.end(summary !== null);
    work.executorReport = {
      ...(sessionId === null ? {} : { sessionId }),
      ...(summary === null ? {} : { blocked: { summary } }),
    };
  }
  if (reader === undefined) return;
  const { failure: told, ...report } = await reader.report(work.env);
  const failure = told?.code === 'no_result' ? judgeExit(work, told) : told;
  const summary = await parked;
  // A tool that was ended has no result, which is no failure then.
  const end = summary === null ? failure && { failure } : { blocked: { summary } };
  work.executorReport = { ...report, ...end };
}

function toolJobOf({ claimed: { job }, directory, round, ...work }: JobWork): ToolJob {
  const { isReadOnly, isSandboxOff = false, env, budgetUsd, redactor, settings } = work;
  return {
    job,
    isReadOnly,
    isSandboxOff,
    env,
    budgetUsd,
    holdMs: settings.holdMs,
    promptText: composePrompt(job, directory, round?.history),
    nextPromptText: composePrompt(job, directory, round?.news),
    redact: (text) => redactor.redact(text),
  };
}

/** A coding tool that ended without a result may have said why in its last words. */
function judgeExit(work: JobWork, told: ToolFailure): ToolFailure {
  const sentence = describeExit(work);
  if (sentence === null) return told;
  const failure = judgeFailure({ sentence }, work.settings.clock.nowMs());
  return failure.code === 'tool_error' ? { ...told, summary: sentence } : failure;
}

/**
 * Splits a tool's standard output into lines and logs what the reader returns for each.
 */
function createLineReader(work: JobWork, reader: OutputReader): (text: string) => Promise<void> {
  let unfinished = '';
  return async (text) => {
    const lines = (unfinished + text).split('\n');
    unfinished = lines.pop() ?? '';
    if (unfinished.length > EVENT_CHARS_MAX) unfinished = '';
    for (const line of lines) {
      if (line.trim() === '') continue;
      const read = reader.readLine(line);
      if (read.hasAnswer) work.onModelAnswer();
      if (read.progress !== undefined) work.report(work.redactor.redact(read.progress));
      await work.log.append('stdout', read.parts);
    }
  };
}

/** Follows the session of a tool in its output. */
async function openMemory(
  work: JobWork,
  session: ToolSession,
  find: (line: string) => string | null,
) {
  const resumedId = session.sessionId;
  const answers = session.newAnswers();
  const hasAsked = work.claimed.job.decisions.length > 0;
  if (resumedId !== null) await work.log.note(`signalbox: session ${resumedId} is resumed.`);
  else if (hasAsked) await work.log.note(beginsAgain('this machine has no session of this job'));
  const unfinished = { stdout: '', stderr: '' };
  let isFound = false;
  const keep = async (id: string) => {
    isFound = true;
    await session.keepSessionId(id);
    // It began with the prompt, so that a restart need not give it again.
    await session.keepTold(answers);
  };
  return {
    async read(stream: 'stdout' | 'stderr', text: string): Promise<void> {
      if (isFound) return;
      const lines = (unfinished[stream] + text).split('\n');
      unfinished[stream] = (lines.pop() ?? '').slice(0, EVENT_CHARS_MAX);
      const id = lines.map(find).find((each) => each !== null) ?? null;
      if (id !== null) await keep(id);
    },
    /** Returns the session that is kept. */
    async end(isParked: boolean): Promise<string | null> {
      const isDone = work.exit?.code === 0 || isParked;
      const id = [unfinished.stdout, unfinished.stderr].map(find).find((each) => each !== null);
      if (isDone && !isFound && id) await keep(id);
      else if (isDone) await session.keepTold(answers);
      // It may be gone. Another start would fail in the same way, so it gets the whole context.
      const isLost = resumedId !== null && !isDone && !work.signal.aborted;
      if (isLost) await session.keepSessionId(null);
      return session.sessionId;
    },
  };
}
