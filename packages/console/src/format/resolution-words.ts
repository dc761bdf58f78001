import type { JobStatus, ListedUncertainty, Resolution, Uncertainty } from '@signalbox/contract';
import { isFinished } from './job-words.ts';
import { plainText } from './text.ts';

/*
 * The words for a question that is resolved, the same on its card, in the inbox and on the page of
 * a run. A person, a deadline or the end of the job resolves it; what follows depends on the job.
 */

/** The job that asked: null if none did, or if retention has deleted it. */
export type AskingJob = { status: JobStatus } | null;

/** Whether an answer reaches the job that asked. */
function awaitsAnswer(job: AskingJob): boolean {
  return job !== null && !isFinished(job.status);
}

/** Who resolved the question and how, as the beginning of a sentence: `Ada answered`. */
export function resolverWords(
  { mode, createdBy, ruleId }: Pick<Resolution, 'mode' | 'createdBy' | 'ruleId'>,
  { isMine = false, isOfSession = false }: { isMine?: boolean; isOfSession?: boolean } = {},
): string {
  if (createdBy === null && isOfSession) return 'The session waits no longer';
  if (createdBy === null) return mode === 'dismissed' ? 'The job ended' : 'The deadline passed';
  if (ruleId !== undefined) return `A rule of ${isMine ? 'yours' : plainText(createdBy)} answered`;
  const who = isMine ? 'You' : plainText(createdBy);
  if (mode === 'dismissed') return `${who} dismissed the question`;
  if (mode === 'assumed') return `${who} accepted the assumed value`;
  return `${who} answered`;
}

/** Says what follows from the resolution; null where that is not known. */
export function effectWords(
  asked: Pick<Uncertainty, 'decisionRequestId' | 'assumedValue' | 'jobId' | 'session'>,
  { mode, value, createdBy }: Pick<Resolution, 'mode' | 'value' | 'createdBy'>,
  job: AskingJob,
): string | null {
  if (asked.session) return sessionEffect(mode, createdBy);
  if (mode === 'dismissed') {
    if (createdBy === null) return 'Nothing can use an answer any more.';
    return awaitsAnswer(job)
      ? 'The job continues without an answer.'
      : 'No job waits for an answer, so nothing else happens.';
  }
  if (awaitsAnswer(job)) {
    return mode === 'assumed'
      ? 'The job continues with the assumed value.'
      : 'The job continues with this answer.';
  }
  // Of a job that has ended, it is not known whether it got the answer before.
  if (asked.jobId !== null) return null;
  const isApplied = asked.decisionRequestId !== null || value !== asked.assumedValue;
  return isApplied
    ? 'Another job applies it in the repository.'
    : 'The work is based on this value already.';
}

function sessionEffect(mode: Resolution['mode'], createdBy: string | null): string {
  if (mode !== 'dismissed') return 'The session continues with this answer.';
  return createdBy === null
    ? 'It was answered at its terminal, its time is over, or it has ended.'
    : 'The session asks at its terminal.';
}

/** An earlier resolution that a later one replaced: `Ada answered “8080”`. */
export function replacedWords(
  resolution: Pick<Resolution, 'mode' | 'value' | 'createdBy' | 'ruleId'>,
): string {
  const { mode, value } = resolution;
  const words = resolverWords(resolution);
  return mode === 'dismissed' ? words : `${words}: ${plainText(value)}`;
}

/** A resolution in a row of a list: `Ada: Port 9443`. */
export function answerLine(
  { mode, by, title }: NonNullable<ListedUncertainty['answer']>,
  { isOfSession = false }: { isOfSession?: boolean } = {},
): string {
  if (by === null && isOfSession) return 'The session waits no longer';
  if (by === null) return mode === 'dismissed' ? 'The job ended' : `Deadline: ${plainText(title)}`;
  return `${plainText(by)}: ${mode === 'dismissed' ? 'dismissed' : plainText(title)}`;
}

/** When an answer takes effect that can still be withdrawn. */
export function handOverWords(
  { mode }: Pick<Resolution, 'mode'>,
  { job, secondsLeft }: { job: AskingJob; secondsLeft: number },
): string {
  const what = mode !== 'dismissed' && awaitsAnswer(job) ? 'The job gets it' : 'Takes effect';
  return `${what} ${secondsLeft === 0 ? 'now' : `in ${secondsLeft} s`}`;
}

/** Explains the buttons that resolve a question. */
export function formHint(job: AskingJob, isOfSession = false): string {
  return `You can undo an answer for five seconds. ${dismissHint(job, isOfSession)}`;
}

function dismissHint(job: AskingJob, isOfSession: boolean): string {
  if (isOfSession) return 'Dismiss leaves it to the terminal.';
  return awaitsAnswer(job)
    ? 'Dismiss lets the job continue without one.'
    : 'Dismiss closes the question without one.';
}
