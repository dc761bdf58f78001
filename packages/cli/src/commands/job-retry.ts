import { CliError } from '../cli-error.ts';
import { addExamples, defineCommand } from '../command-module.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { findJobId } from '../find/job-reference.ts';
import { type HubSession, openHubSession } from '../hub/hub-session.ts';
import {
  addChangeOptions,
  addJobIds,
  changeJobs,
  type JobChangeOptions,
  sayChanges,
} from '../hub/job-changes.ts';
import { editText } from '../terminal/editor.ts';
import { describeFailure } from '../terminal/exit.ts';
import type { Io } from '../terminal/io.ts';
import { readText } from '../terminal/stdin-text.ts';
import { checkPrompt } from '../words/prompt-text.ts';

interface Options extends JobChangeOptions {
  edit?: true;
  prompt?: string;
}

/**
 * `signalbox job retry ID…`: puts failed and blocked jobs back in the queue; one job also with
 * another prompt. With `--json`: `{ok, results}`, one result `{jobId, result, status, error,
 * message}` for each.
 */
export const command = defineCommand<Options>({
  describe(program) {
    addJobIds(program);
    program
      .option('--edit', 'edit the prompt of one job in $EDITOR first')
      .option('--prompt <text>', 'another prompt for one job; - reads it from standard input');
    addChangeOptions(program);
    addExamples(program, [
      ['signalbox job retry 8f3a1c2d', 'as it was'],
      ['signalbox job retry 8f3a1c2d --edit', 'with a better prompt'],
      ['signalbox job retry 8f3a1c2d --prompt - < prompt.md', 'with the prompt of a file'],
    ]);
  },

  async run({ io, args, options }) {
    const { edit, prompt } = options;
    if (!edit && prompt === undefined) return await changeJobs(io, args, 'retry', options);
    refuseUnclear(args.length, options);
    const session = await openHubSession(io, options);
    const jobId = await findJobId(session, args[0] ?? '', io.signal);
    if (prompt === undefined) return await retryEdited(io, session, jobId);
    const text = prompt === '-' ? (await readText(io)).trimEnd() : prompt;
    return await retryWith(io, session, jobId, checkPrompt(text));
  },
});

/** @throws {CliError} USAGE: options that do not go together. */
function refuseUnclear(
  jobs: number,
  { edit, prompt, reason }: Pick<Options, 'edit' | 'prompt' | 'reason'>,
): void {
  const refuse = (message: string) => new CliError(exitCodes.usage, 'USAGE', message);
  if (jobs > 1) throw refuse('A new prompt is for one job. Give one ID with --edit or --prompt.');
  if (edit && prompt !== undefined) throw refuse('Give either --edit or --prompt.');
  if (reason === undefined) return;
  throw refuse('--reason does not go with --edit or --prompt: the timeline keeps both prompts.');
}

async function retryWith(
  io: Io,
  { client, workspaceId }: HubSession,
  jobId: string,
  prompt: string | undefined,
): Promise<ExitCode | undefined> {
  const { job } = await client.jobs.retry(
    { workspaceId, jobId, ...(prompt === undefined ? {} : { prompt }) },
    { signal: io.signal },
  );
  return sayChanges(io, 'retry', [{ jobId, result: 'changed', status: job.status }]);
}

async function retryEdited(io: Io, session: HubSession, jobId: string) {
  const { client, workspaceId } = session;
  const { job } = await client.jobs.get({ workspaceId, jobId }, { signal: io.signal });
  // Asked before the person writes, so that the work is not in vain.
  if (job.status !== 'failed' && job.status !== 'blocked') {
    const message = `The job is ${job.status}; only failed and blocked jobs can be retried.`;
    throw new CliError(exitCodes.refused, 'JOB_NOT_RETRYABLE', message, {
      fix: `See what it does: signalbox job ${jobId}`,
    });
  }
  const edited = await editText(io, `${job.prompt}\n`, 'PROMPT.md');
  try {
    const prompt = checkPrompt(edited.text.trimEnd());
    const isSame = prompt === job.prompt.trimEnd();
    const exitCode = await retryWith(io, session, jobId, isSame ? undefined : prompt);
    await edited.remove();
    if (isSame && !io.json) io.note('The prompt is unchanged.');
    return exitCode;
  } catch (error) {
    const { exitCode, code, message } = describeFailure(error);
    throw new CliError(exitCode, code, message, {
      fix: `Send the kept prompt: signalbox job retry ${jobId} --prompt - < ${edited.file}`,
      cause: error,
    });
  }
}
