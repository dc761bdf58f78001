import { type ProcessExit, type ProcessOptions, runProcess } from '../process/process-run.ts';
import { wrapOf } from './job-isolation.ts';
import type { JobWork } from './job-work.ts';
import { tailOf } from './text-limits.ts';

type OwnOptions = Pick<ProcessOptions, 'file' | 'args' | 'onOutput'> & Partial<ProcessOptions>;

/** Runs a process of a job: by default in its worktree, as its tool, until the job is stopped. */
export function runJobProcess(work: JobWork, options: OwnOptions): Promise<ProcessExit> {
  const { settings, directory, mark, env, signal } = work;
  return runProcess({
    cwd: directory.worktree,
    env,
    user: settings.toolUser,
    mark,
    signal,
    stdin: '',
    directory: directory.worktree,
    killGraceMs: () => settings.killGraceMs,
    clock: settings.clock,
    ...options,
    wrap: options.wrap === undefined ? wrapOf(work) : options.wrap,
  });
}

/** Characters kept of the output of a line. Redaction may need more than is shown. */
const TAIL_CHARS_MAX = 8_000;

/** Runs a line of the person, and logs its output. @returns also the end of its output. */
export async function runShellLine(
  work: JobWork,
  line: string,
  options: Partial<ProcessOptions>,
): Promise<{ exit: ProcessExit; tail: string }> {
  let tail = '';
  const exit = await runJobProcess(work, {
    file: '/bin/sh',
    // One pipe for both streams, so that the output is in the order in which it was written.
    args: ['-c', `exec 2>&1; ${line}`],
    async onOutput(stream, text) {
      tail = tailOf(tail + text, TAIL_CHARS_MAX);
      await work.log.write(stream, text);
    },
    ...options,
  });
  return { exit, tail };
}
