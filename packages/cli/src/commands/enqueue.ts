import {
  ATTEMPTS_MAX_DEFAULT,
  type JobKind,
  jobKinds,
  PRIORITY_MAX,
  PRIORITY_MIN,
} from '@signalbox/contract';
import { Option } from 'commander';
import { CliError } from '../cli-error.ts';
import {
  addExamples,
  addHubOptions,
  addJsonOption,
  defineCommand,
  type HubOptions,
} from '../command-module.ts';
import { asTyped } from '../command-name.ts';
import { parseDurationMs } from '../duration.ts';
import { exitCodes } from '../exit-codes.ts';
import { openHubSession } from '../hub-session.ts';
import type { Io } from '../io.ts';
import { followJob } from '../job-follow.ts';
import { findJobId } from '../job-reference.ts';
import { exitCodeOf, shortId } from '../job-text.ts';
import { parseAmount, parseInteger } from '../numbers.ts';
import { checkPrompt } from '../prompt-text.ts';
import { askText } from '../prompts.ts';
import { findRepository } from '../repository-reference.ts';
import { readText } from '../stdin-text.ts';

interface Options extends HubOptions {
  repo: string;
  kind: JobKind;
  role?: string;
  priority?: number;
  requirements?: string;
  dependsOn?: string[];
  delay?: number;
  key?: string;
  concurrencyKey?: string;
  maxAttempts?: number;
  run?: string;
  budget?: number;
  wait?: true;
  timeout?: number;
}

/**
 * `signalbox enqueue`: enqueues one job, from an argument or standard input. With `--wait` it shows
 * the timeline and exits with the outcome. With `--json`: the hub's answer `{ok, jobId, job}`; with
 * `--wait` too, lines as of `signalbox job --follow --json`.
 */
export const command = defineCommand<Options>({
  describe(program) {
    program
      .argument('[prompt]', 'the task for the agent; - reads it from standard input')
      .option('--repo <path|id>', 'the repository, by a clone or an ID', '.')
      .addOption(new Option('--kind <kind>', 'kind of job').choices(jobKinds).default('work'))
      .option('--wait', 'show the timeline until the job ends; exit with its outcome')
      .option(
        '--timeout <time>',
        'with --wait: stop waiting after this time, such as 30m',
        parseDurationMs,
      );
    addQueueOptions(program.optionsGroup('When and by whom:'));
    addJsonOption(program.optionsGroup('Options:'));
    addHubOptions(program);
    addExamples(program, [
      ['signalbox enqueue "Add a health check" --wait', 'for the clone in the current directory'],
      ['git diff | signalbox enqueue - --kind pr_review', 'prompt from a pipe'],
      ['signalbox enqueue "…" --depends-on 8f3a1c2d --delay 10m', 'after another job'],
    ]);
  },

  async run({ io, args, options }) {
    const prompt = await readPrompt(io, args[0]);
    const requirements = readRequirements(options.requirements);
    const session = await openHubSession(io, options);
    const { client, workspaceId } = session;
    const { signal } = io;
    const dependsOn: string[] = [];
    for (const id of options.dependsOn ?? []) dependsOn.push(await findJobId(session, id, signal));
    const { kind, role, priority, delay, key, concurrencyKey, maxAttempts, run, budget } = options;
    const answer = await client.jobs.enqueue(
      {
        workspaceId,
        repoId: await findRepository(io, session, options.repo),
        ...{ kind, prompt, dependsOn },
        ...(role === undefined ? {} : { role }),
        ...(priority === undefined ? {} : { priority }),
        ...(requirements === undefined ? {} : { requirements }),
        ...(delay === undefined ? {} : { delayMs: delay }),
        ...(key === undefined ? {} : { idempotencyKey: key }),
        ...(concurrencyKey === undefined ? {} : { concurrencyKey }),
        ...(maxAttempts === undefined ? {} : { maxAttempts }),
        ...(run === undefined ? {} : { runId: run }),
        ...(budget === undefined ? {} : { budget: { costUsd: budget } }),
      },
      { signal },
    );
    if (options.wait) {
      if (!io.json) sayEnqueued(io, answer);
      const { timeout: timeoutMs } = options;
      return exitCodeOf((await followJob(io, session, answer.jobId, { timeoutMs })).status);
    }
    if (io.json) return io.printJson(answer);
    sayEnqueued(io, answer);
    io.print(io.styles.dim(asTyped(`  signalbox job ${shortId(answer.jobId)} --follow`)));
  },
});

type Program = Parameters<typeof addJsonOption>[0];

function addQueueOptions(program: Program): void {
  const collect = (id: string, ids: string[] = []) => [...ids, ...id.split(',').filter(Boolean)];
  const priorities = { min: PRIORITY_MIN, max: PRIORITY_MAX };
  const attempts = { min: 1, max: 100 };
  program
    .option(
      '--priority <number>',
      'higher runs first; 1 counts as 10 minutes of waiting',
      parseInteger(priorities),
    )
    .option('--delay <time>', 'earliest start from now, such as 10m', parseDurationMs)
    .option('--depends-on <id>', 'start only after this job is done; repeatable', collect)
    .option('--concurrency-key <key>', 'at most one job per key runs at a time')
    .option(
      '--requirements <json|text>',
      'JSON: required capabilities; text: instructions for the agent',
    )
    .option('--role <role>', 'role of the agent (default: implementer)')
    .option('--run <id>', 'the run of the job')
    .option('--budget <usd>', 'limit of cost in US dollars, passed on to the agent', parseAmount)
    .option(
      '--max-attempts <number>',
      `limit of attempts (default: ${ATTEMPTS_MAX_DEFAULT})`,
      parseInteger(attempts),
    )
    .option('--key <key>', 'idempotency key: the same key enqueues the same job only once');
}

async function readPrompt(io: Io, argument: string | undefined): Promise<string> {
  const fromPipe = argument === '-' || (argument === undefined && !io.stdin.isTTY);
  const prompt = fromPipe
    ? (await readText(io)).trimEnd()
    : (argument ??
      (await askText(io, {
        message: 'What should the agent do?',
        placeholder: 'Add a health check to the API.',
        missing: 'The prompt is missing. Give it as an argument, or - to read it from a pipe.',
      })));
  return checkPrompt(prompt);
}

/**
 * Text that begins like an object must be valid JSON: otherwise a typo would turn required
 * capabilities into plain text.
 */
function readRequirements(text: string | undefined): string | Record<string, unknown> | undefined {
  if (!text?.trimStart().startsWith('{')) return text;
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch (error) {
    const message = `--requirements is not valid JSON: ${(error as Error).message}.`;
    throw new CliError(exitCodes.usage, 'USAGE', message, { cause: error });
  }
}

function sayEnqueued(io: Io, answer: { jobId: string; idempotent?: boolean }): void {
  const { green, dim } = io.styles;
  const done = answer.idempotent ? 'Already enqueued with this key:' : 'Enqueued';
  io.print(`${green('✔')} ${done} ${answer.jobId}`);
  if (answer.idempotent) io.print(dim('  No new job was added to the queue.'));
}
