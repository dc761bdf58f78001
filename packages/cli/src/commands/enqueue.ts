import {
  ATTEMPTS_MAX_DEFAULT,
  type JobKind,
  type JobTemplateValues,
  jobKinds,
  PRIORITY_MAX,
  PRIORITY_MIN,
  VARIANTS_MAX,
  type Variant,
} from '@signalbox/contract';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { CliError } from '../cli-error.ts';
import { addHubOptions, defineCommand, type HubOptions } from '../command-module.ts';
import { asTyped } from '../command-name.ts';
import { exitCodes } from '../exit-codes.ts';
import { findJobId } from '../find/job-reference.ts';
import { findRepository } from '../find/repository-reference.ts';
import { enqueueBatch } from '../hub/enqueue-batch.ts';
import { type HubSession, openHubSession } from '../hub/hub-session.ts';
import { followJob } from '../hub/job-follow.ts';
import { findTemplate, saveTemplate } from '../hub/job-template.ts';
import { type Prompt, type PromptOptions, readPrompt } from '../hub/prompt-source.ts';
import { parseDurationMs } from '../terminal/duration.ts';
import { describeFailure } from '../terminal/exit.ts';
import type { Io } from '../terminal/io.ts';
import { parseAmount, parseInteger } from '../terminal/numbers.ts';
import { exitCodeOf, shortId } from '../words/job-text.ts';

interface Options extends HubOptions, PromptOptions {
  repo?: string;
  template?: string;
  saveTemplate?: string;
  batch?: string;
  attach?: string[];
  kind?: JobKind;
  role?: string;
  priority?: number;
  requirements?: string;
  tool?: string;
  model?: string;
  with?: Variant[];
  reviews?: string;
  dependsOn?: string[];
  base?: string;
  delay?: number;
  key?: string;
  concurrencyKey?: string;
  maxAttempts?: number;
  run?: string;
  budget?: number;
  timeLimit?: number;
  wait?: true;
  timeout?: number;
}

/**
 * `signalbox enqueue`: enqueues one job, or with `--batch` one for each line of a file. With
 * `--wait` it shows the timeline and exits with the outcome. With `--json`: the hub's answer `{ok,
 * jobId, job}`; with `--save-template` `{ok, template}`; with `--wait` too, lines as of `signalbox
 * job --follow --json`; with `--batch` `{ok, jobs}`.
 */
export const command = defineCommand<Options>({
  describe(program) {
    program
      .argument('[prompt]', 'the task for the agent; - reads it from standard input')
      .option('--file <file>', 'the prompt is the text of this file')
      .option('--edit', 'write the prompt in $EDITOR; so does a terminal without a prompt')
      .option('--template <name>', 'begin with the values of this template of the workspace')
      .option('--set <name=value>', 'fill {{name}} in its prompt; repeatable', readPair)
      .option('--save-template <name>', 'save the values under this name; enqueue nothing')
      .option('--attach <file>', 'a file for the tool; repeatable, up to 10 times', collectFile)
      .option('--batch <file>', 'enqueue each line of a JSON Lines file; - reads standard input')
      .option('--repo <path|id>', 'the repository, by a clone or an ID (default: this clone)')
      .addOption(new Option('--kind <kind>', 'kind of job (default: work)').choices(jobKinds))
      .option('--reviews <job>', 'a pr_review of the commit of this job, with its findings there')
      .option('--wait', 'show the timeline until the job ends; exit with its outcome')
      .option(
        '--timeout <time>',
        'with --wait: stop waiting after this time, such as 30m',
        parseDurationMs,
      );
    addQueueOptions(program.optionsGroup('When and by whom:'));
  },

  chooseHub: addHubOptions,
  examples: [
    ['signalbox enqueue "Add a health check" --wait', 'for the clone in the current directory'],
    ['git diff | signalbox enqueue - --kind pr_review', 'prompt from a pipe'],
    ['signalbox enqueue "Look for races." --reviews 8f3a1c2d', 'a review of what a job has done'],
    ['signalbox enqueue "Review {{area}}." --save-template review', 'for the whole workspace'],
    ['signalbox enqueue --template review --set area=login', 'with its values'],
    ['signalbox enqueue --batch jobs.jsonl', 'many jobs; repeat it after a mistake'],
    ['signalbox enqueue "…" --tool codex --model gpt-5.5', 'by this tool and model'],
    ['signalbox enqueue "…" --with claude,codex', 'by both, to compare the results'],
    ['signalbox enqueue "…" --depends-on 8f3a1c2d --delay 10m', 'after another job, on its work'],
    ['signalbox enqueue "…" --base release-1.x', 'on another branch, and to land there'],
  ],

  async run({ io, args, options }) {
    if (options.batch !== undefined) return await runBatch(io, options, args[0]);
    if (options.reviews !== undefined && (options.kind ?? 'pr_review') !== 'pr_review') {
      const message = '--reviews is for jobs of the kind pr_review: leave --kind out.';
      throw new CliError(exitCodes.usage, 'USAGE', message);
    }
    if (options.with !== undefined && options.tool !== undefined) {
      const message = '--with names the tools: leave --tool out.';
      throw new CliError(exitCodes.usage, 'USAGE', message);
    }
    if (options.saveTemplate !== undefined) return await runSave(io, options, args[0]);
    const { template: name } = options;
    const session = await openHubSession(io, options);
    const template = name === undefined ? undefined : await findTemplate(session, name);
    const values = chosenValues(options, template?.values ?? {});
    if (options.wait && values.variants !== undefined) {
      const message = '--wait follows one job, and these are variants: leave it out.';
      throw new CliError(exitCodes.usage, 'USAGE', message);
    }
    const text = template?.values.prompt;
    const filled = name === undefined || text === undefined ? undefined : { name, prompt: text };
    const prompt = await readPrompt(io, args[0], options, filled);
    const answer = await enqueue(io, session, prompt, options, values);
    if (options.wait) {
      if (!io.json) sayEnqueued(io, answer);
      const { timeout: timeoutMs } = options;
      return exitCodeOf((await followJob(io, session, answer.jobId, { timeoutMs })).status);
    }
    if (io.json) return io.printJson(answer);
    sayEnqueued(io, answer);
    for (const id of answer.variantJobIds ?? [answer.jobId]) {
      io.print(io.styles.dim(asTyped(`  signalbox job ${shortId(id)} --follow`)));
    }
  },
});

/** @throws {CliError} USAGE: options that a template does not keep. */
async function runSave(io: Io, options: Options, argument: string | undefined): Promise<undefined> {
  const ofOneJob = [
    ...(['wait', 'attach', 'key', 'dependsOn', 'base', 'reviews', 'delay', 'run', 'set'] as const),
  ];
  const wrong = ofOneJob.find((name) => options[name] !== undefined);
  if (wrong !== undefined) {
    const message = `A template does not keep --${wrong.replace('sO', 's-o')}: leave it out.`;
    throw new CliError(exitCodes.usage, 'USAGE', message);
  }
  const { file, edit, template: from, saveTemplate: name = '', repo } = options;
  const hasPrompt = argument !== undefined || file !== undefined || edit;
  const prompt = hasPrompt ? await readPrompt(io, argument, options) : null;
  const session = await openHubSession(io, options);
  const values = from === undefined ? {} : (await findTemplate(session, from)).values;
  await saveTemplate(io, session, name, {
    ...chosenValues(options, values),
    ...(repo === undefined ? {} : { repoId: await findRepository(io, session, repo) }),
    ...(prompt === null ? {} : { prompt: prompt.text }),
  });
  await prompt?.edited?.remove();
  return undefined;
}

/** @throws {CliError} USAGE: options that do not go together. */
async function runBatch(
  io: Io,
  { batch: file = '', ...options }: Options,
  prompt: string | undefined,
): Promise<undefined> {
  const ofOneJob = [
    ...([
      'file',
      'edit',
      'template',
      'saveTemplate',
      'attach',
      'wait',
      'key',
      'dependsOn',
      'base',
      'timeLimit',
      'reviews',
      'tool',
      'model',
      'with',
    ] as const),
  ];
  const wrong = ofOneJob.find((name) => options[name] !== undefined);
  if (prompt !== undefined || wrong !== undefined) {
    const what =
      wrong === undefined
        ? 'a prompt'
        : `--${wrong.replace(/[A-Z]/, (at) => `-${at.toLowerCase()}`)}`;
    const message = `--batch has the jobs in its file, so ${what} has no place.`;
    throw new CliError(exitCodes.usage, 'USAGE', message);
  }
  const session = await openHubSession(io, options);
  return await enqueueBatch(io, session, { file, repo: options.repo ?? '.' });
}

/** @throws what the hub says; a prompt that was written in the editor is kept then. */
async function enqueue(
  io: Io,
  session: HubSession,
  { text: prompt, edited }: Prompt,
  options: Options,
  values: JobTemplateValues,
) {
  try {
    const answer = await session.client.jobs.enqueue(
      await requestOf(io, session, prompt, options, values),
    );
    await edited?.remove();
    return answer;
  } catch (error) {
    if (edited === null) throw error;
    const { exitCode, code, message } = describeFailure(error);
    throw new CliError(exitCode, code, message, {
      fix: `Send the kept prompt: signalbox enqueue --file ${edited.file}`,
      cause: error,
    });
  }
}

async function requestOf(
  io: Io,
  session: HubSession,
  prompt: string,
  options: Options,
  values: JobTemplateValues,
) {
  const { workspaceId } = session;
  const dependsOn: string[] = [];
  for (const id of options.dependsOn ?? []) dependsOn.push(await findJobId(session, id));
  const { delay, key, run, repo, reviews, base } = options;
  const reviewed = reviews === undefined ? null : await readReviewed(session, reviews);
  const ofTemplate = repo === undefined ? values.repoId : undefined;
  const repoId = reviewed?.repoId ?? ofTemplate ?? (await findRepository(io, session, repo ?? '.'));
  const attachments = await attach(io, session, options.attach ?? []);
  return {
    ...values,
    workspaceId,
    repoId,
    kind: values.kind ?? 'work',
    prompt,
    dependsOn,
    ...(reviewed === null ? {} : { kind: 'pr_review' as const, reviewsJobId: reviewed.jobId }),
    ...(attachments.length === 0 ? {} : { attachments }),
    delayMs: delay,
    base: base && (await readBase(session, base)),
    idempotencyKey: key,
    runId: run,
  };
}

/** The job whose commit is reviewed, which names the repository, too. */
async function readReviewed(session: HubSession, reference: string) {
  const { client, workspaceId } = session;
  const jobId = await findJobId(session, reference);
  return (await client.jobs.get({ workspaceId, jobId })).job;
}

/** The id of a job, by an ID or the end of one, or else the name of a branch. */
async function readBase(session: HubSession, text: string): Promise<string> {
  try {
    return await findJobId(session, text);
  } catch (error) {
    if (error instanceof CliError && error.code === 'JOB_NOT_FOUND') return text;
    throw error;
  }
}

/** The values of a template, and in their place those that options give. */
function chosenValues(options: Options, template: JobTemplateValues): JobTemplateValues {
  const { kind, role, priority, concurrencyKey, maxAttempts } = options;
  const given = readRequirements(options.requirements) ?? template.requirements;
  const requirements = withTool(given, options);
  const { variants: _, ...others } = template;
  const budget = {
    ...template.budget,
    ...(options.budget === undefined ? {} : { costUsd: options.budget }),
    ...(options.timeLimit === undefined ? {} : { timeLimitMs: options.timeLimit }),
  };
  const variants = options.with ?? (options.tool === undefined ? template.variants : undefined);
  return {
    ...others,
    ...(variants === undefined ? {} : { variants }),
    ...(kind === undefined ? {} : { kind }),
    ...(role === undefined ? {} : { role }),
    ...(priority === undefined ? {} : { priority }),
    ...(requirements === undefined ? {} : { requirements }),
    ...(concurrencyKey === undefined ? {} : { concurrencyKey }),
    ...(maxAttempts === undefined ? {} : { maxAttempts }),
    ...(Object.keys(budget).length === 0 ? {} : { budget }),
  };
}

function addQueueOptions(program: Command): void {
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
    .option(
      '--depends-on <id>',
      'start after this job is done, with its commits; repeatable',
      collect,
    )
    .option('--base <branch|job>', 'build on this branch, or on the result of this job')
    .option('--concurrency-key <key>', 'at most one job per key runs at a time')
    .option('--tool <name>', 'only by an agent with this tool, as `signalbox agents` shows it')
    .option('--model <name>', 'with this model of the tool')
    .option(
      '--with <tools|number>',
      'try it several times: once by each of these tools, or this often; keep one by `job choose`',
      readVariants,
    )
    .option(
      '--requirements <json|text>',
      'JSON: required capabilities; text: instructions for the agent',
    )
    .option('--role <role>', 'role of the agent (default: implementer)')
    .option('--run <id>', 'the run of the job')
    .option('--budget <usd>', 'limit of cost in US dollars, over all attempts', parseAmount)
    .option(
      '--time-limit <time>',
      'limit of the time of each attempt, such as 30m',
      parseDurationMs,
    )
    .option(
      '--max-attempts <number>',
      `limit of attempts (default: ${ATTEMPTS_MAX_DEFAULT})`,
      parseInteger(attempts),
    )
    .option('--key <key>', 'idempotency key: the same key enqueues the same job only once');
}

/** Such as `claude,codex`, or `3` for as many tries by any tool. */
function readVariants(text: string): Variant[] {
  const names = text.split(',').filter((name) => name !== '');
  const count = /^\d+$/.test(text) ? Number(text) : names.length;
  if (count < 2 || count > VARIANTS_MAX) {
    const form = `It must be 2 to ${VARIANTS_MAX} tools, or a number of tries`;
    throw new InvalidArgumentError(`${form}, such as claude,codex or 3.`);
  }
  const isNumber = count !== names.length;
  return Array.from({ length: count }, (_, at) => (isNumber ? {} : { tool: names[at] ?? null }));
}

function collectFile(file: string, files: string[] = []): string[] {
  return [...files, file];
}

function readPair(text: string, pairs: Record<string, string> = {}): Record<string, string> {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) {
    throw new InvalidArgumentError('It must have the form name=value, such as area=login.');
  }
  return { ...pairs, [name]: value };
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

/** @throws {CliError} USAGE: requirements that are a text have no place for a tool. */
function withTool(
  requirements: string | Record<string, unknown> | undefined,
  { tool, model }: Pick<Options, 'tool' | 'model'>,
): string | Record<string, unknown> | undefined {
  if (tool === undefined && model === undefined) return requirements;
  if (typeof requirements === 'string') {
    const message = '--tool and --model need --requirements as JSON, not as a text.';
    throw new CliError(exitCodes.usage, 'USAGE', message);
  }
  return {
    ...requirements,
    ...(tool === undefined ? {} : { tool }),
    ...(model === undefined ? {} : { model }),
  };
}

interface Enqueued {
  jobId: string;
  variantJobIds?: string[];
  idempotent?: boolean;
}

function sayEnqueued(io: Io, answer: Enqueued): void {
  const { green, dim } = io.styles;
  const done = answer.idempotent ? 'Already enqueued with this key:' : 'Enqueued';
  const what = answer.variantJobIds?.join(' ') ?? answer.jobId;
  io.print(`${green('✔')} ${done} ${what}`);
  if (answer.idempotent) io.print(dim('  No new job was added to the queue.'));
}

/** The agent's code is loaded only where files are sent. */
async function attach(io: Io, session: HubSession, files: readonly string[]): Promise<string[]> {
  if (files.length === 0) return [];
  const { attachFiles } = await import('./agent/attach-files.ts');
  return attachFiles(io, session, files);
}
