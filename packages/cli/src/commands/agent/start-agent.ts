import { hostname } from 'node:os';
import {
  AgentAlreadyRunningError,
  claudePermissionModes,
  codexSandboxes,
  ExecutorLoginError,
  ExecutorMissingError,
  startAgent,
  ToolUserError,
} from '@signalbox/agent';
import { LEASE_MS_MAX, LEASE_MS_MIN } from '@signalbox/contract';
import { InvalidArgumentError, Option } from 'commander';
import { CliError } from '../../cli-error.ts';
import {
  addExamples,
  addHubOptions,
  addJsonOption,
  defineCommand,
  type HubOptions,
} from '../../command-module.ts';
import { parseDurationMs } from '../../duration.ts';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import { type HubSession, openHubSession } from '../../hub-session.ts';
import type { Io } from '../../io.ts';
import type { LinkedClone } from '../../linked-clones.ts';
import { parseInteger } from '../../numbers.ts';
import { hideTokenVariable } from '../../token-variable.ts';
import { createAgentLog } from './agent-log.ts';
import { agentSignals, explainAlreadyRunning } from './agent-signals.ts';
import { addAcpOptions } from './choose-acp.ts';
import { agentStateDir, chooseClones } from './choose-clones.ts';
import { chooseExecutor, type ExecutorChoice, executorNames } from './choose-executor.ts';
import { addLandingOptions, type LandingChoice, landingOf } from './choose-landing.ts';

interface Options extends HubOptions, ExecutorChoice, LandingChoice {
  jobs: number;
  label?: Record<string, string>;
  name: string;
  once?: true;
  lease?: number;
  timeLimit?: number;
  repo?: string[];
  base?: string;
  fetch?: true;
  readOnly?: true;
  hooks?: string;
  runAs?: string;
  stateDir?: string;
}

/**
 * `signalbox agent start`: runs an agent in the foreground. SIGTERM and the first SIGINT let it
 * finish its jobs; a second one, or SIGQUIT, returns them to the queue and stops. With `--json`: a
 * line for each event of the agent, `{at, type, …}`.
 */
export const command = defineCommand<Options>({
  describe(program) {
    program
      .addOption(
        new Option(
          '--executor <tool>',
          'the coding tool (default: the first one on the PATH)',
        ).choices(executorNames),
      )
      .option('--command <line>', 'run this for each job: prompt on standard input, in a worktree')
      .option('--model <name>', 'the model for claude or codex')
      .option(
        '--allow <rule>',
        "what claude may do without asking, such as 'Bash(npm test:*)'; repeatable",
        collect,
      )
      .addOption(
        new Option('--permission-mode <mode>', 'of claude (default: acceptEdits)').choices(
          claudePermissionModes,
        ),
      )
      .addOption(
        new Option('--sandbox <mode>', 'of codex (default: workspace-write)').choices(
          codexSandboxes,
        ),
      )
      .option('--trust-repository', "let the repository's own hooks of claude run")
      .option('--once', 'claim one job, finish it, and exit with its outcome');
    addAcpOptions(program.optionsGroup('A tool that can ask people:'));
    addJobOptions(program.optionsGroup('Which jobs, and how:'));
    addLandingOptions(program.optionsGroup('What happens to the work:'));
    addJsonOption(program.optionsGroup('Options:'), 'print a JSON line for each event');
    addHubOptions(program);
    addExamples(program, [
      ['signalbox agent start', 'with the coding tool on the PATH'],
      ['signalbox agent start --acp claude', 'Claude Code, whose questions come to the inbox'],
      ['signalbox agent start --command "./fix.sh" --once', 'any command, one job, for CI'],
      [
        "signalbox agent start --executor claude --allow 'Bash(npm test:*)'",
        'Claude may run tests',
      ],
      ["signalbox agent start --check 'npm test' --pr", 'test each commit, open a pull request'],
      ['signalbox agent start --jobs 3 --label gpu=yes', 'three jobs at a time'],
    ]);
    program.addHelpText(
      'after',
      '\nCtrl-C (or SIGTERM) finishes the current jobs; a second one returns them to the queue and stops.',
    );
  },

  async run({ io: given, options }) {
    const io = { ...given, env: hideTokenVariable(given.env) };
    const session = await openHubSession(io, options);
    const executor = await chooseExecutor(options, io.env);
    const clones = await chooseClones(io, session, options.repo ?? []);
    try {
      return await runAgent(io, session, options, { executor, clones });
    } catch (error) {
      throw explainStart(error);
    }
  },
});

type Program = Parameters<typeof addJsonOption>[0];

function collect(value: string, values: string[] = []): string[] {
  return [...values, value];
}

function addJobOptions(program: Program): void {
  program
    .option('--jobs <number>', 'concurrent jobs', parseInteger({ min: 1, max: 1_000 }), 1)
    .option('--repo <path|id>', 'only this linked clone; repeatable', collect)
    .option(
      '--base <ref>',
      "the commit that jobs start from (default: the clone's current checkout)",
    )
    .option('--fetch', "fetch from the clone's origin before each job")
    .option('--read-only', 'claim only read-only jobs')
    .option('--label <name=value>', 'a label that jobs may require; repeatable', readLabel)
    .option('--name <text>', 'name of the agent', hostname())
    .option(
      '--lease <time>',
      'how long a job stays leased without a renewal, such as 10m',
      readLease,
    )
    .option('--time-limit <time>', 'time limit of one job, such as 2h', parseDurationMs)
    .option('--hooks <dir>', 'directory of environment, pre-checkout, pre-command, post-command')
    .option('--run-as <user>', 'run the tool as this user, who cannot read what the agent keeps')
    .option('--state-dir <dir>', "the agent's own directory; not shared between agents");
}

function readLabel(text: string, labels: Record<string, string> = {}): Record<string, string> {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) {
    throw new InvalidArgumentError('It must have the form name=value, such as os=linux.');
  }
  return { ...labels, [name]: value };
}

function readLease(text: string): number {
  const leaseMs = parseDurationMs(text);
  if (leaseMs < LEASE_MS_MIN || leaseMs > LEASE_MS_MAX) {
    throw new InvalidArgumentError('It must be from 1s to 24h.');
  }
  return leaseMs;
}

interface Equipment {
  executor: Awaited<ReturnType<typeof chooseExecutor>>;
  clones: readonly LinkedClone[];
}

async function runAgent(
  io: Io,
  session: HubSession,
  options: Options,
  { executor, clones }: Equipment,
): Promise<ExitCode> {
  const log = createAgentLog(io);
  const signals = agentSignals(log);
  const { base, fetch, lease, timeLimit, hooks, readOnly, runAs } = options;
  const agent = await startAgent({
    baseUrl: session.baseUrl,
    token: session.token,
    workspaceId: session.workspaceId,
    displayName: options.name,
    executor,
    repositories: clones.map(({ repoId, path }) => ({
      ...{ repoId, path },
      ...(base === undefined ? {} : { baseRef: base }),
      ...(fetch === undefined ? {} : { fetchOrigin: fetch }),
      landing: landingOf(options),
    })),
    stateDir: options.stateDir ?? agentStateDir(io.env, session),
    maxConcurrentJobs: options.once ? 1 : options.jobs,
    labels: options.label,
    leaseMs: lease,
    jobTimeLimitMs: timeLimit,
    holdMs: options.hold,
    hooksDir: hooks,
    runAs,
    ...(readOnly ? { capabilities: { canWrite: false } } : {}),
    env: io.env,
    onEvent(event) {
      log.onEvent(event);
      if (options.once && event.type === 'job-claimed') signals.drain();
    },
  });
  log.sayStart({
    name: options.name,
    session,
    tool: describeTool(executor, agent.toolVersion),
    clones,
    options,
  });
  await signals.untilDone(agent);
  return signals.stopCode() ?? (options.once ? log.resultCode() : exitCodes.ok);
}

function describeTool({ name, describe }: Equipment['executor'], version: string | null): string {
  const [number] = /\d+(\.\d+)+\S*/.exec(version ?? '') ?? [];
  const known = number === undefined ? name : `${name} ${number}`;
  return [known, ...(describe?.() ?? [])].join(' · ');
}

function explainStart(error: unknown): unknown {
  if (error instanceof AgentAlreadyRunningError) return explainAlreadyRunning(error);
  if (error instanceof ExecutorMissingError) {
    return new CliError(exitCodes.usage, 'EXECUTOR_MISSING', error.message, {
      fix: 'Use any command instead: signalbox agent start --command "…"',
      cause: error,
    });
  }
  if (error instanceof ExecutorLoginError) {
    return new CliError(exitCodes.usage, 'EXECUTOR_NOT_LOGGED_IN', error.message, { cause: error });
  }
  if (error instanceof ToolUserError) {
    return new CliError(exitCodes.usage, 'RUN_AS_REFUSED', error.message, { cause: error });
  }
  return error;
}
