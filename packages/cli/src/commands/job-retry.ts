import type { Job } from '@signalbox/contract';
import { CliError } from '../cli-error.ts';
import { asTyped } from '../command-name.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { findJobId } from '../find/job-reference.ts';
import { defineHubCommand } from '../hub/hub-command.ts';
import type { HubSession } from '../hub/hub-session.ts';
import {
  addChangeReason,
  addJobIds,
  changeJobs,
  refuseTooMany,
  sayChanges,
} from '../hub/job-changes.ts';
import { editText } from '../terminal/editor.ts';
import { describeFailure } from '../terminal/exit.ts';
import type { Io } from '../terminal/io.ts';
import { readText } from '../terminal/stdin-text.ts';
import { shortId } from '../words/job-text.ts';
import { checkPrompt } from '../words/prompt-text.ts';

interface Options {
  reason?: string;
  edit?: true;
  prompt?: string;
  tool?: string;
  model?: string;
}

/**
 * `signalbox job retry ID…`: puts failed and blocked jobs back in the queue; one job also with
 * another prompt, tool or model. The result of a job that is done stays, so with another tool or
 * model it is enqueued as a new job. With `--json`: `{ok, results}`, one result `{jobId, result,
 * status, error, message}` for each, and for a new job the answer `{ok, jobId, job}`.
 */
export const command = defineHubCommand<Options>({
  describe(program) {
    addJobIds(program);
    program
      .option('--edit', 'edit the prompt of one job in $EDITOR first')
      .option('--prompt <text>', 'another prompt for one job; - reads it from standard input')
      .option('--tool <name>', 'let another tool do one job, also one that is done')
      .option('--model <name>', 'with another model, for one job');
    addChangeReason(program);
  },

  examples: [
    ['signalbox job retry 8f3a1c2d', 'as it was'],
    ['signalbox job retry 8f3a1c2d --tool codex', 'by an agent with Codex'],
    ['signalbox job retry 8f3a1c2d --edit', 'with a better prompt'],
    ['signalbox job retry 8f3a1c2d --prompt - < prompt.md', 'with the prompt of a file'],
  ],

  check(options, args) {
    if (isChanged(options)) refuseUnclear(args.length, options);
    else refuseTooMany(args);
  },

  async run({ io, args, options, session }) {
    const { edit, prompt, tool, model, reason } = options;
    if (!isChanged(options)) return await changeJobs(io, session, args, 'retry', reason);
    const jobId = await findJobId(session, args[0] ?? '');
    if (edit) return await retryEdited(io, session, jobId, options);
    if (prompt === undefined) return await retryWith(io, session, jobId, { prompt, tool, model });
    const text = prompt === '-' ? (await readText(io)).trimEnd() : prompt;
    return await retryWith(io, session, jobId, { prompt: checkPrompt(text), tool, model });
  },
});

function isChanged({ edit, prompt, tool, model }: Options): boolean {
  return [edit, prompt, tool, model].some((value) => value !== undefined);
}

/** @throws {CliError} USAGE: options that do not go together. */
function refuseUnclear(
  jobs: number,
  { edit, prompt, reason }: Pick<Options, 'edit' | 'prompt' | 'reason'>,
): void {
  const refuse = (message: string) => new CliError(exitCodes.usage, 'USAGE', message);
  if (jobs > 1) throw refuse('A new prompt, tool or model is for one job. Give one ID.');
  if (edit && prompt !== undefined) throw refuse('Give either --edit or --prompt.');
  if (reason === undefined) return;
  throw refuse(
    '--reason goes with none of --edit, --prompt, --tool and --model: the timeline says those.',
  );
}

type Changes = Record<'prompt' | 'tool' | 'model', string | undefined>;

async function retryWith(
  io: Io,
  { client, workspaceId }: HubSession,
  jobId: string,
  options: Changes,
): Promise<ExitCode | undefined> {
  const { prompt, tool, model } = options;
  const { job: before } = await client.jobs.get({ workspaceId, jobId });
  if (before.status === 'done' && (tool !== undefined || model !== undefined)) {
    return await enqueueElsewhere(io, client, before, options);
  }
  const { job } = await client.jobs.retry({
    workspaceId,
    jobId,
    prompt,
    tool,
    model,
  });
  return sayChanges(io, 'retry', [{ jobId, result: 'changed', status: job.status }]);
}

/** Enqueues a job that is done once more, for another tool or model. */
async function enqueueElsewhere(
  io: Io,
  client: HubSession['client'],
  job: Job,
  { prompt = job.prompt, tool, model }: Changes,
): Promise<undefined> {
  const { workspaceId, repoId, kind, role, priority, runId, concurrencyKey, budget } = job;
  const { requirements, dependsOn, base, attachments } = job;
  if (typeof requirements === 'string') {
    const message = 'The requirements of the job are a text, which has no place for a tool.';
    throw new CliError(exitCodes.usage, 'USAGE', message);
  }
  const { model: _, ...others } = requirements ?? {};
  const answer = await client.jobs.enqueue({
    workspaceId,
    repoId,
    kind,
    role,
    prompt,
    priority,
    dependsOn,
    requirements: {
      ...(tool === undefined ? requirements : others),
      ...(tool === undefined ? {} : { tool }),
      ...(model === undefined ? {} : { model }),
    },
    runId: runId ?? undefined,
    concurrencyKey: concurrencyKey ?? undefined,
    budget: budget ?? undefined,
    base,
    attachments: attachments?.map(({ uploadId }) => uploadId),
  });
  if (io.json) return io.printJson(answer);
  io.print(`${io.styles.green('✔')} Enqueued ${answer.jobId}; ${shortId(job.jobId)} stays done`);
  io.print(io.styles.dim(asTyped(`  signalbox job ${shortId(answer.jobId)} --follow`)));
}

async function retryEdited(io: Io, session: HubSession, jobId: string, { tool, model }: Options) {
  const { client, workspaceId } = session;
  const { job } = await client.jobs.get({ workspaceId, jobId });
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
    const exitCode = await retryWith(io, session, jobId, {
      prompt: isSame ? undefined : prompt,
      tool,
      model,
    });
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
