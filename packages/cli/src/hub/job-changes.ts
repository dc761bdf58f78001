import { BULK_JOBS_MAX, type BulkAction, type BulkResult } from '@signalbox/contract';
import type { Command } from 'commander';
import { CliError } from '../cli-error.ts';
import type { CommandCall, CommandModule, Example } from '../command-module.ts';
import { asTyped } from '../command-name.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { findJobIds } from '../find/job-reference.ts';
import type { Io } from '../terminal/io.ts';
import { oneLine } from '../terminal/text.ts';
import { shortId, statusText } from '../words/job-text.ts';
import { defineHubCommand } from './hub-command.ts';
import type { HubSession } from './hub-session.ts';

export type JobChange = Exclude<BulkAction, 'set_priority'>;

/** Adds the argument of all commands that change jobs. */
export function addJobIds(program: Command): void {
  program.argument('<id...>', 'jobs, by their IDs or the ends of them, as shown by signalbox jobs');
}

/** Adds what the commands that change jobs have in common, after their own options. */
export function addChangeReason(program: Command): void {
  program.option('--reason <text>', 'why; the audit log keeps it');
}

/** @throws {CliError} USAGE: too many jobs. */
export function refuseTooMany({ length }: CommandCall['args']): void {
  if (length <= BULK_JOBS_MAX) return;
  const message = `Give at most ${BULK_JOBS_MAX} jobs at a time, not ${length}.`;
  throw new CliError(exitCodes.usage, 'USAGE', message);
}

/** Defines a command that takes one action on each of its jobs. */
export function defineJobChange(action: JobChange, examples: readonly Example[]): CommandModule {
  return defineHubCommand<{ reason?: string }>({
    examples,
    describe(program) {
      addJobIds(program);
      addChangeReason(program);
    },
    check: (_, args) => refuseTooMany(args),
    run: async ({ io, args, options, session }) =>
      await changeJobs(io, session, args, action, options.reason),
  });
}

/**
 * Takes one action on each job, in one transaction. A job that refuses it does not prevent it for
 * the others; the exit code then is 4.
 * @throws the errors of `findJobId`, before anything has changed.
 */
export async function changeJobs(
  io: Io,
  session: HubSession,
  references: CommandCall['args'],
  action: JobChange,
  reason: string | undefined,
): Promise<ExitCode | undefined> {
  const { client, workspaceId } = session;
  const jobIds = await findJobIds(session, references);
  const jobs = jobIds.map((jobId) => ({ jobId }));
  const { results } = await client.jobs.bulk({ workspaceId, action, jobs, reason });
  return sayChanges(io, action, results);
}

/** Prints one line for each job. With `--json`: `{ok, results}`; ok is false if a job refused. */
export function sayChanges(
  io: Io,
  action: JobChange,
  results: readonly BulkResult[],
): ExitCode | undefined {
  const refused = results.filter(({ result }) => result === 'refused');
  const exitCode = refused.length > 0 ? exitCodes.refused : undefined;
  if (io.json) {
    io.printJson({ ok: refused.length === 0, results });
    return exitCode;
  }
  const { styles, errorStyles } = io;
  for (const each of results) {
    const id = shortId(each.jobId);
    if (each.result === 'refused') {
      const { message = 'The hub refused.', error = '' } = each;
      const code = errorStyles.dim(error);
      io.note(`${errorStyles.red('✖')} ${id}  ${oneLine(message)} ${code}`.trimEnd());
    } else {
      const icon = each.result === 'changed' ? styles.green('✔') : styles.dim('–');
      io.print(`${icon} ${styles.bold(id)}  ${outcomeOf(action, each)}`);
    }
  }
  const [first] = refused;
  if (first !== undefined) {
    const fix = `See what happened: signalbox job ${shortId(first.jobId)}`;
    io.note(`  ${errorStyles.dim('Fix')}  ${asTyped(fix)}`);
  }
  return exitCode;
}

function outcomeOf(action: JobChange, { result, status }: BulkResult): string {
  if (result === 'unchanged') {
    const isEnding = action === 'cancel' && status === 'running';
    return isEnding ? 'is being canceled already' : `is ${status ?? 'in that state'} already`;
  }
  if (action === 'cancel') {
    return status === 'running' ? 'is canceled as soon as its agent stops it' : 'canceled';
  }
  const shown = status === undefined ? '' : ` (${statusText(status)})`;
  if (action === 'retry') return `retried${shown}`;
  return `taken from its agent${shown}`;
}
