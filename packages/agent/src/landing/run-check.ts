import { stripVTControlCharacters } from 'node:util';
import type { CheckOutcome, EvidenceCheck } from '@signalbox/contract';
import { wrapOf } from '../job/job-isolation.ts';
import type { JobWork } from '../job/job-work.ts';
import { fitText, lastLinesOf, tailOf } from '../job/text-limits.ts';
import { withoutToken } from '../process/environment.ts';
import { type ProcessExit, ProcessStartError, runProcess } from '../process/process-run.ts';
import { describe } from './describe-check.ts';
import {
  CHECK_COMMAND_CHARS_MAX,
  CHECK_LIMIT_MS_DEFAULT,
  CHECK_NAME_CHARS_MAX,
  type CheckCommand,
} from './landing-options.ts';

/** Characters kept of the output of a check. Redaction may need more than is shown. */
const TAIL_CHARS_MAX = 8_000;
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
  const tail = { text: '' };
  await work.log.note(`signalbox: check ${name}`);
  const beganMs = clock.monotonicMs();
  const { exit, isLate } = work.signal.aborted
    ? { exit: null, isLate: false }
    : await runLimited(work, command, timeLimitMs, tail);
  const durationMs = Math.round(clock.monotonicMs() - beganMs);
  const outcome = outcomeOf(exit, isLate, work.signal.aborted);
  const code = exit?.code ?? null;
  await work.log.note(`signalbox: check ${name}: ${describe(outcome, code)}.`);
  const clean = (text: string, charsMax: number) =>
    fitText(work.redactor.redact(text).slice(0, charsMax), charsMax * 2);
  const output = outputOf(work, tail.text);
  return {
    name: clean(name, CHECK_NAME_CHARS_MAX),
    command: clean(command, CHECK_COMMAND_CHARS_MAX),
    outcome,
    ...(code === null ? {} : { exitCode: code }),
    durationMs,
    ...(output === '' ? {} : { output }),
  };
}

/** @returns no exit if the check could not be started. */
async function runLimited(
  work: JobWork,
  command: string,
  timeLimitMs: number,
  tail: { text: string },
): Promise<{ exit: ProcessExit | null; isLate: boolean }> {
  const { settings, signal, claimed } = work;
  const limit = new AbortController();
  const ended = new AbortController();
  void settings.clock.sleep(timeLimitMs, ended.signal).then(() => {
    if (!ended.signal.aborted) limit.abort();
  });
  try {
    const exit = await runProcess({
      file: '/bin/sh',
      // One pipe for both streams, so that the output is in the order in which it was written.
      args: ['-c', `exec 2>&1; ${command}`],
      cwd: work.directory.worktree,
      env: withoutToken(work.env, claimed.jobToken),
      wrap: wrapOf(work),
      user: settings.toolUser,
      mark: work.mark,
      directory: work.directory.worktree,
      stdin: '',
      async onOutput(stream, text) {
        tail.text = tailOf(tail.text + text, TAIL_CHARS_MAX);
        await work.log.write(stream, text);
      },
      signal: AbortSignal.any([signal, limit.signal]),
      killGraceMs: settings.killGraceMs,
      clock: settings.clock,
    });
    return { exit, isLate: limit.signal.aborted };
  } catch (error) {
    if (!(error instanceof ProcessStartError)) throw error;
    await work.log.note(`signalbox: ${error.message}`);
    return { exit: null, isLate: false };
  } finally {
    ended.abort();
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
