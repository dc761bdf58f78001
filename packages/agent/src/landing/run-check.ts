import { stripVTControlCharacters } from 'node:util';
import type { CheckOutcome, EvidenceCheck } from '@signalbox/contract';
import { runShellLine } from '../job/job-process.ts';
import type { JobWork } from '../job/job-work.ts';
import { fitText, lastLinesOf } from '../job/text-limits.ts';
import { withoutToken } from '../process/environment.ts';
import { type ProcessExit, ProcessStartError } from '../process/process-run.ts';
import { describe } from './describe-check.ts';
import {
  CHECK_COMMAND_CHARS_MAX,
  CHECK_LIMIT_MS_DEFAULT,
  CHECK_NAME_CHARS_MAX,
  type CheckCommand,
} from './landing-options.ts';

/** Bytes of the output that becomes evidence. Twenty checks fit into a completion. */
const OUTPUT_BYTES_MAX = 3_000;
const OUTPUT_CHARS_MAX = 2_000;

/**
 * Runs one check in the worktree, as the tool ran: the same user and environment, but without the
 * token of the job. At the time limit the check and all its descendants are ended.
 */
export async function runCheck(work: JobWork, check: CheckCommand): Promise<EvidenceCheck> {
  const { clock } = work.settings;
  const { command, name = command, timeLimitMs = CHECK_LIMIT_MS_DEFAULT } = check;
  await work.log.note(`signalbox: check ${name}`);
  const beganMs = clock.monotonicMs();
  const { exit, tail, isLate } = work.signal.aborted
    ? notRun
    : await runLimited(work, command, timeLimitMs);
  const durationMs = Math.round(clock.monotonicMs() - beganMs);
  const outcome = outcomeOf(exit, isLate, work.signal.aborted);
  const code = exit?.code ?? null;
  await work.log.note(`signalbox: check ${name}: ${describe(outcome, code)}.`);
  const clean = (text: string, charsMax: number) =>
    fitText(work.redactor.redact(text).slice(0, charsMax), charsMax * 2);
  const output = outputOf(work, tail);
  return {
    name: clean(name, CHECK_NAME_CHARS_MAX),
    command: clean(command, CHECK_COMMAND_CHARS_MAX),
    outcome,
    ...(code === null ? {} : { exitCode: code }),
    durationMs,
    ...(output === '' ? {} : { output }),
  };
}

const notRun = { exit: null, tail: '', isLate: false };

/** @returns no exit if the check could not be started. */
async function runLimited(
  work: JobWork,
  command: string,
  timeLimitMs: number,
): Promise<{ exit: ProcessExit | null; tail: string; isLate: boolean }> {
  const limit = AbortSignal.timeout(timeLimitMs);
  try {
    const run = await runShellLine(work, command, {
      env: withoutToken(work.env, work.claimed.jobToken),
      signal: AbortSignal.any([work.signal, limit]),
    });
    return { ...run, isLate: limit.aborted };
  } catch (error) {
    if (!(error instanceof ProcessStartError)) throw error;
    await work.log.note(`signalbox: ${error.message}`);
    return notRun;
  }
}

function outcomeOf(exit: ProcessExit | null, isLate: boolean, isStopped: boolean): CheckOutcome {
  if (exit?.code === 0 && !isLate) return 'passed';
  if (isStopped) return 'stopped';
  if (isLate) return 'timed_out';
  if (exit === null) return 'refused';
  return 'failed';
}

/** Redacts before it cuts: the end of a secret alone would not be recognized. */
function outputOf(work: JobWork, tail: string): string {
  const text = stripVTControlCharacters(work.redactor.redact(tail)).trim();
  return fitText(lastLinesOf(text, OUTPUT_CHARS_MAX), OUTPUT_BYTES_MAX);
}
