import { userInfo } from 'node:os';
import { stripVTControlCharacters } from 'node:util';
import type { ChildJob, CommentFate, JobOutcome, OutcomeReason } from '@signalbox/contract';
import { passingFailures, type ToolFailure } from '../executors/tool-failure.ts';
import type { GitEvidence } from '../git/git-evidence.ts';
import type { CompleteBody } from '../hub-client.ts';
import type { OutboxEntry } from '../loops/outbox.ts';
import { nameOf } from '../offered-tools.ts';
import { attemptOf, type ClaimedJob, fenceOf, type StopReason } from './attempt.ts';
import { findOverspent } from './job-budget.ts';
import { JobFailure, type JobWork } from './job-work.ts';
import { parkedQuestion, summaryOfPark } from './parked-question.ts';
import { reasonLineOf } from './reason-line.ts';
import { checkChildren, type ResultFile, ResultFileError, readResultFile } from './result-file.ts';
import { cleanText, fitText, lastLinesOf } from './text-limits.ts';
import { readToolReport, type ToolReport } from './tool-report.ts';

/** The result of an attempt, without its git evidence. */
export interface JobResult {
  outcome: JobOutcome;
  message: string;
  outcomeReason?: OutcomeReason;
  children?: ResultFile['children'];
  usage?: ResultFile['usage'];
}

const MESSAGE_BYTES_MAX = 40_000;
const SUMMARY_BYTES_MAX = 8_000;
/** For a plain command, the end of its output is the message. */
const OUTPUT_MESSAGE_CHARS_MAX = 2_000;

/** The result of an attempt whose steps all succeeded: what the command and the tool report. */
export async function readResult(work: JobWork): Promise<JobResult> {
  let file: ResultFile | null;
  let told: ToolReport;
  try {
    ({ file, told } = await readFiles(work));
  } catch (error) {
    if (!(error instanceof ResultFileError)) throw error;
    const summary = `The command wrote an invalid result file. ${error.message}`;
    return resultOfFailure(new JobFailure('execution', 'result_file_invalid', summary));
  }
  work.toolReport = told;
  for (const line of told.torn) {
    await work.log.note(`signalbox: line ${line} of the tool's report is torn, and is left out.`);
  }
  const report = work.executorReport ?? {};
  const usage = file?.usage ?? report.usage;
  const children = [...(file?.children ?? []), ...told.children];
  const common = {
    ...(usage === undefined ? {} : { usage }),
    ...(children.length === 0 ? {} : { children }),
  };
  if (report.blocked !== undefined) return { ...common, ...resultOfBlock(report.blocked) };
  const waiting = parkedQuestion(told);
  // The tool was told to end because no person has answered; it may have ended with any exit code.
  if (file === null && waiting !== undefined && report.failure === undefined) {
    return { ...common, ...resultOfBlock({ summary: summaryOfPark(waiting) }) };
  }
  const failure = findOverspent(work, usage) ?? failureOfExit(work);
  // A command that reports `done` and then exits with an error did not finish. Any other reported
  // outcome takes precedence over the exit code.
  const said = file ?? told.finish;
  if (said !== null && (failure === null || said.outcome !== 'done')) {
    const message = said.message ?? report.message ?? outputMessage(work);
    return { ...said, ...common, message };
  }
  if (failure !== null) return { ...common, ...resultOfFailure(failure) };
  return { ...common, outcome: 'done', message: report.message ?? outputMessage(work) };
}

/** @throws {ResultFileError} */
async function readFiles({ directory, settings }: JobWork) {
  const uid = settings.toolUser?.uid;
  const file = await readResultFile(directory.resultFile, uid);
  const told = await readToolReport(directory.reportFile, uid);
  checkChildren([...(file?.children ?? []), ...told.children]);
  return { file, told };
}

/** The result of work that waits for a person, and continues with the answer. */
function resultOfBlock({ summary }: { summary: string }): JobResult {
  const reason = { category: 'decision', code: 'waiting_for_answer', retryable: false, summary };
  return { outcome: 'blocked', message: summary, outcomeReason: reason };
}

/** The usage of a canceled attempt. The hub discards everything else of it. */
export function resultOfCancel(work: JobWork): JobResult | null {
  if (usageOf(work) === undefined) return null;
  const summary = 'The job was canceled.';
  const outcomeReason = { category: 'agent', code: CANCELED_CODE, retryable: false, summary };
  return { outcome: 'failed', message: summary, outcomeReason };
}

/** The code of a completion that only tells what a canceled attempt has used. */
export const CANCELED_CODE = 'canceled';

function usageOf(work: JobWork): JobResult['usage'] {
  return work.executorReport?.usage ?? work.usage;
}

/** The result when a step failed. */
export function resultOfFailure(failure: JobFailure): JobResult {
  return { outcome: 'failed', message: failure.message, outcomeReason: failure.reason };
}

/** Whether this agent may not report on a job that was stopped for this reason. */
export function isUnreported(reason: StopReason): boolean {
  return reason === 'canceled' || reason === 'lease_lost';
}

/** The result of work that was stopped; null when nothing may be reported. */
export function resultOfStop(reason: StopReason, why: string): JobResult | null {
  if (isUnreported(reason)) return null;
  const failure =
    reason === 'time_limit' || reason === 'budget_spent'
      ? new JobFailure('execution', reason, why)
      : new JobFailure('agent', 'agent_stopped', why, { recommendedDelayMs: 0 });
  return resultOfFailure(failure);
}

/** Builds the body of the completion: secrets redacted, all fields within the hub's limits. */
export function completionOf(
  work: JobWork,
  result: JobResult,
  gitEvidence: GitEvidence,
  commentFates: readonly CommentFate[],
): CompleteBody {
  const { claimed, settings, redactor } = work;
  const { outcome, outcomeReason, children, usage = usageOf(work) } = result;
  const { sessionId, mode, ...listed } = work.executorReport ?? {};
  const warnings = [...(settings.tool.warnings ?? []), ...(listed.warnings ?? [])];
  const clean = (texts: readonly string[]) => [...new Set(texts)].map((t) => redactor.redact(t));
  const { evidence: reported = [], findings = [], files = [] } = work.toolReport ?? {};
  const evidence = {
    ...gitEvidence,
    ...(work.buildsOn === undefined ? {} : { buildsOn: work.buildsOn }),
    ...(reported.length === 0 ? {} : { reported: reported.map((one) => cleanAll(work, one)) }),
    ...(findings.length === 0 ? {} : { findings: findings.map((one) => cleanAll(work, one)) }),
    ...(files.length === 0 ? {} : { attachments: files.map((file) => cleanAll(work, file)) }),
    executor: {
      name: settings.executor.name,
      tool: nameOf(settings.executor),
      version: settings.tool.version,
      ...work.executorReport?.tool,
      ...(sessionId === undefined ? {} : { sessionId }),
      ...isolationOf(work),
      ...(mode === undefined ? {} : { mode }),
      ...(listed.denied === undefined ? {} : { denied: clean(listed.denied) }),
      ...(listed.unasked === undefined ? {} : { unasked: clean(listed.unasked) }),
      ...(warnings.length === 0 ? {} : { warnings: clean(warnings) }),
    },
  };
  return {
    ...fenceOf(claimed),
    ...(claimed.job.runId === null ? {} : { runId: claimed.job.runId }),
    outcome,
    message: fitText(redactor.redact(result.message), MESSAGE_BYTES_MAX),
    ...(outcomeReason === undefined ? {} : { outcomeReason: cleanReason(work, outcomeReason) }),
    evidence,
    ...(children === undefined
      ? {}
      : { children: children.map((child) => cleanChild(work, child)) }),
    ...(usage === undefined ? {} : { usage }),
    ...(commentFates.length === 0 ? {} : { commentFates: [...commentFates] }),
    ...(work.session === undefined ? {} : { messagesDelivered: [...work.session.messages.told] }),
  };
}

/** Absent: the job has ended before its tool could begin. */
function isolationOf({ proof, settings: { toolUser } }: JobWork) {
  if (proof === undefined) return {};
  const { rungs, proved } = proof;
  return { isolation: { rungs, proved, user: toolUser?.name ?? userName() } };
}

/** A user may have no name, as in a container. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.geteuid?.() ?? 'unknown');
  }
}

/** Returns a job of an unmapped repository to the queue at once; another agent may serve it. */
export function completionOfUnknownRepository(claimed: ClaimedJob, nowMs: number): OutboxEntry {
  const summary = 'The repository of the job is not mapped on this machine.';
  const outcomeReason = {
    category: 'environment',
    code: 'repository_not_mapped',
    retryable: true,
    summary,
    recommendedDelayMs: 0,
  };
  return {
    attempt: attemptOf(claimed),
    completion: {
      ...fenceOf(claimed),
      message: summary,
      outcomeReason,
      outcome: 'failed',
    },
    logOffset: 0,
    createdAt: new Date(nowMs).toISOString(),
  };
}

function failureOfExit(work: JobWork): JobFailure | null {
  const said = work.executorReport?.failure;
  // Coding tools end with 1 for every reason; what they say is more.
  if (said !== undefined) return failureOfTool(said);
  const summary = describeExit(work);
  if (summary === null) return null;
  const { code, signal } = work.exit ?? {};
  return new JobFailure('execution', signal ? `signal_${signal}` : `exit_${code}`, summary);
}

/** How the command failed, with its last words; null when it did not. */
export function describeExit(work: JobWork): string | null {
  const { code, signal } = work.exit ?? { code: null, signal: null };
  if (code === 0) return null;
  const how = code === null ? `was killed by ${signal}` : `exited with ${code}`;
  const lastWords = lastLine(work, work.tail.stderr) ?? lastLine(work, work.tail.stdout);
  return `The command ${how}${lastWords === undefined ? '.' : `: ${lastWords}`}`;
}

function failureOfTool({ code, summary, retryMs, resetsAtMs }: ToolFailure): JobFailure {
  const rule = passingFailures[code];
  if (rule === undefined) {
    const retry = retryMs === undefined ? null : { recommendedDelayMs: retryMs };
    return new JobFailure('execution', code, summary, retry);
  }
  const { category, spendsAttempt, occurrencesMax } = rule;
  // This agent pauses; another one, with another account, may take the job at once.
  const recommendedDelayMs = retryMs ?? 0;
  const resetsAt = resetsAtMs === undefined ? null : new Date(resetsAtMs).toISOString();
  return new JobFailure(category, code, summary, {
    recommendedDelayMs,
    spendsAttempt,
    ...(occurrencesMax === undefined ? {} : { occurrencesMax }),
    ...(resetsAt === null ? {} : { details: { resetsAt } }),
  });
}

function cleanReason(work: JobWork, reason: OutcomeReason): OutcomeReason {
  const clean = (text: string) => fitText(work.redactor.redact(text), SUMMARY_BYTES_MAX);
  if (typeof reason === 'string') return clean(reason);
  return reason.summary === undefined ? reason : { ...reason, summary: clean(reason.summary) };
}

function cleanChild(work: JobWork, child: ChildJob): ChildJob {
  return { ...child, prompt: work.redactor.redact(child.prompt) };
}

/** Redacts every text of a record. */
function cleanAll<Fields extends object>({ redactor }: JobWork, fields: Fields): Fields {
  const clean = (value: unknown) =>
    typeof value === 'string' ? cleanText(redactor.redact(value)) : value;
  const entries = Object.entries(fields).map(([name, value]) => [name, clean(value)]);
  // The same names with values of the same types.
  return Object.fromEntries(entries) as Fields;
}

/** Redacts before it cuts: the end of a secret alone would not be recognized. */
function outputMessage(work: JobWork): string {
  const text = stripVTControlCharacters(work.redactor.redact(work.tail.stdout)).trim();
  return lastLinesOf(text, OUTPUT_MESSAGE_CHARS_MAX);
}

function lastLine(work: JobWork, text: string): string | undefined {
  const lines = stripVTControlCharacters(work.redactor.redact(text)).split('\n');
  return reasonLineOf(lines)?.trim();
}
