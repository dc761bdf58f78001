import {
  AgentAlreadyRunningError,
  type AgentRepository,
  checkJobServer,
  ExecutorLoginError,
  ExecutorMissingError,
  ExecutorSandboxError,
  IsolationError,
  type LandingOptions,
  SETUP_FILE,
  startAgent,
  ToolUserError,
} from '@signalbox/agent';
import { describeIsolation } from '@signalbox/contract';
import { CliError } from '../../cli-error.ts';
import { addHubOptions, defineCommand, type HubOptions } from '../../command-module.ts';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import { configDirectory, stateDirectory } from '../../hub/config-file.ts';
import { type HubSession, openHubSession } from '../../hub/hub-session.ts';
import { hideTokenVariable } from '../../hub/token-variable.ts';
import type { Io } from '../../terminal/io.ts';
import { oneLine } from '../../terminal/text.ts';
import { createAgentLog } from './agent-log.ts';
import { agentSignals, explainAlreadyRunning, type SignalOptions } from './agent-signals.ts';
import { agentStateDir, type ChosenClone, chooseClones } from './choose-clones.ts';
import { type ChosenExecutor, chooseExecutor, jobServer } from './choose-executor.ts';
import {
  type AgentPlan,
  defaultConfigFile,
  planAgent,
  type RepositoryPlan,
  toolChoiceOf,
} from './config/agent-plan.ts';
import { printPlan, rowsOf } from './config/config-text.ts';
import type { Sourced } from './config/setting-reader.ts';
import { setupOf } from './config/setup-options.ts';
import { adaptersDirectory } from './provide-adapter.ts';
import { addStartOptions, type StartOptions } from './start-options.ts';

/**
 * `signalbox agent start`: runs an agent in the foreground. SIGTERM and the first SIGINT let it
 * finish its jobs; a second one, or SIGQUIT, returns them to the queue and stops. With `--json`: a
 * line for each event of the agent, `{at, type, …}`. With `--dry-run` it shows what is in force and
 * asks no hub; with `--json`: `{ok, file, settings}`.
 */
export const command = defineCommand<StartOptions>({
  describe: addStartOptions,
  json: 'print a JSON line for each event',
  chooseHub: addHubOptions,
  examples: [
    ['signalbox agent start', 'with the coding tool on the PATH'],
    ['signalbox agent start --tool codex --model gpt-5.5', 'with Codex, and this model'],
    ['signalbox agent start --tool "./fix.sh" --once', 'any command, one job, for CI'],
    ["signalbox agent start --check 'npm test' --pr", 'test each commit, open a pull request'],
    ['signalbox agent start --jobs 3 --label gpu=yes', 'three jobs at a time'],
  ],
  notes: 'Ctrl-C finishes the current jobs;\na second one returns them to the queue.',

  run: ({ io, options }) => startFromOptions(io, options),
});

/** The choices of a caller that starts an agent itself. */
export interface StartPlace {
  /** Of a caller that has more to end. */
  signals?: SignalOptions;
  /** If the agent's file has none. */
  stateDir?: string;
}

/** Runs an agent until it has ended. */
export async function startFromOptions(
  given: Io,
  options: StartOptions,
  { signals = {}, stateDir }: StartPlace = {},
): Promise<ExitCode> {
  const io = { ...given, env: hideTokenVariable(given.env) };
  const plan = await planAgent(options, io.env);
  if (options.dryRun) {
    showPlan(io, plan);
    return exitCodes.ok;
  }
  const session = await openHubSession(io, hubChoiceOf(plan, options, io.env));
  const chosen = await chooseClones(io, session, plan, options.repo ?? []);
  const repositories = await equip(io, plan, chosen);
  try {
    if (plan.runAs !== undefined && repositories.some(hasJobServer)) {
      await checkJobServer(jobServer, plan.runAs.value);
    }
    const isOnce = options.once === true;
    return await runAgent(io, session, plan, {
      repositories,
      isOnce,
      signals,
      stateDir: plan.stateDir?.value ?? stateDir ?? agentStateDir(io.env, session),
    });
  } catch (error) {
    throw explainStart(error);
  }
}

function showPlan(io: Io, plan: AgentPlan): undefined {
  if (io.json) return io.printJson({ ok: true, file: plan.file, settings: rowsOf(plan) });
  printPlan(io, plan, defaultConfigFile(io.env));
}

/** The hub of the file; a flag and the environment go before it. */
function hubChoiceOf(
  { url, workspace }: AgentPlan,
  options: HubOptions,
  env: NodeJS.ProcessEnv,
): HubOptions {
  return {
    ...(url === undefined || env.SIGNALBOX_URL ? {} : { url: url.value }),
    ...(workspace === undefined || env.SIGNALBOX_WORKSPACE ? {} : { workspace: workspace.value }),
    ...options,
  };
}

/** Other commands use `signalbox mcp` and `signalbox ask` only if they want to. */
function hasJobServer({ executor }: Equipped): boolean {
  return executor.name !== 'command';
}

interface Equipped extends ChosenClone, ChosenExecutor {}

/** Gives each repository its tool. Those without settings of their own share one. */
async function equip(io: Io, plan: AgentPlan, chosen: readonly ChosenClone[]): Promise<Equipped[]> {
  const runAs = plan.runAs !== undefined;
  const tools = new Map<RepositoryPlan, ChosenExecutor>();
  for (const { plan: own } of chosen) {
    if (tools.has(own)) continue;
    tools.set(own, await chooseExecutor(toolChoiceOf(own), io, { runAs }));
  }
  return chosen.flatMap((each) => {
    const tool = tools.get(each.plan);
    return tool === undefined ? [] : [{ ...each, ...tool }];
  });
}

interface AgentRun {
  repositories: readonly Equipped[];
  isOnce: boolean;
  signals: SignalOptions;
  stateDir: string;
}

async function runAgent(
  io: Io,
  session: HubSession,
  plan: AgentPlan,
  { repositories, isOnce, signals: signalOptions, stateDir }: AgentRun,
): Promise<ExitCode> {
  const log = createAgentLog(io);
  const signals = agentSignals(log, io.signal, signalOptions);
  const [first] = repositories;
  if (first === undefined) throw new Error('chooseClones returns at least one');
  const agent = await startAgent({
    baseUrl: session.baseUrl,
    token: session.token,
    workspaceId: session.workspaceId,
    displayName: plan.name.value,
    executor: first.executor,
    repositories: repositories.map(repositoryOf),
    stateDir,
    maxConcurrentJobs: isOnce ? 1 : plan.jobs.value,
    labels: valuesOf(plan.labels),
    leaseMs: plan.lease.value,
    jobTimeLimitMs: plan.timeLimit.value,
    hooksDir: plan.hooks?.value,
    warmWorktrees: plan.warmWorktrees.value,
    runAs: plan.runAs?.value,
    ...isolationOf(plan, io.env),
    ...(plan.readOnly.value ? { capabilities: { canWrite: false } } : {}),
    env: io.env,
    onEvent(event) {
      log.onEvent(event);
      if (isOnce && event.type === 'job-claimed') signals.drain();
    },
  });
  const isUniform = repositories.every(({ executor }) => executor === first.executor);
  const tool = describeTool(first, agent.toolVersion);
  log.sayStart({
    name: plan.name.value,
    session,
    file: plan.file,
    tool: isUniform ? tool : null,
    clones: repositories.map((each) => ({
      ...each.clone,
      tool: each === first ? tool : describeTool(each, null),
      setup: each.plan.setup.from === undefined ? null : `by ${SETUP_FILE} of its commits`,
    })),
    isolation: describeIsolation(agent.proof),
    jobs: isOnce ? 'one, then exit' : `${plan.jobs.value} at a time`,
    warnings: [
      ...new Set(repositories.flatMap((each) => each.warnings)),
      ...agent.toolWarnings,
      ...agent.proof.broken.map(({ rung, why }) => `Isolation: ${rung} does not hold: ${why}.`),
    ],
  });
  await signals.untilDone(agent);
  return signals.stopCode() ?? (isOnce ? log.resultCode() : exitCodes.ok);
}

/** The login, the state of all agents and their adapters are those of this person. */
function isolationOf({ isolation, readable }: AgentPlan, env: NodeJS.ProcessEnv) {
  const { SIGNALBOX_TOKEN_FILE: tokenFile } = env;
  return {
    ...(isolation.value === 'auto' ? {} : { isolation: isolation.value }),
    readable: [adaptersDirectory(env), ...readable.map(({ value }) => value)],
    privatePaths: [
      ...[configDirectory(env), stateDirectory(env)],
      ...(tokenFile === undefined ? [] : [tokenFile]),
    ],
  };
}

function repositoryOf({ clone, plan, executor }: Equipped): AgentRepository {
  const { base, fetch, hold, environment } = plan;
  return {
    repoId: clone.repoId,
    path: clone.path,
    executor,
    holdMs: hold.value,
    environment: valuesOf(environment),
    landing: landingOf(plan),
    shareChanges: plan.shareChanges.value,
    setup: setupOf(plan.setup),
    ...(base === undefined ? {} : { baseRef: base.value }),
    ...(fetch.value ? { fetchOrigin: true } : {}),
  };
}

function landingOf(plan: RepositoryPlan): LandingOptions {
  const { checks, checkLimit, repositoryChecks, push, pullRequest, landInto, landBy } = plan;
  return {
    checks: checks.map(({ value }) => ({ timeLimitMs: checkLimit.value, ...value })),
    repositoryChecks: repositoryChecks.value,
    ...(push.value ? { push: true } : {}),
    ...(pullRequest.value ? { pullRequest: true } : {}),
    ...(landInto === undefined ? {} : { into: landInto.value }),
    ...(plan.pushBase.value ? { pushBase: true } : {}),
    by: landBy.value,
  };
}

function valuesOf(named: Readonly<Record<string, Sourced<string>>>): Record<string, string> {
  return Object.fromEntries(Object.entries(named).map(([name, { value }]) => [name, value]));
}

function describeTool({ executor, plan: { tool } }: Equipped, version: string | null): string {
  const [number] = /\d+(\.\d+)+\S*/.exec(version ?? '') ?? [];
  const isKnown = executor.tool !== undefined && executor.tool !== 'acp';
  const name = isKnown ? executor.tool : oneLine(tool.name?.value ?? executor.name);
  const known = number === undefined ? name : `${name} ${number}`;
  const how = executor.name === 'acp' ? ' over ACP' : '';
  return [`${known}${how}`, ...(executor.describe?.() ?? [])].join(' · ');
}

function explainStart(error: unknown): unknown {
  if (error instanceof AgentAlreadyRunningError) return explainAlreadyRunning(error);
  if (error instanceof ExecutorMissingError) {
    return new CliError(exitCodes.usage, 'EXECUTOR_MISSING', error.message, {
      fix: 'Use another tool, or any command: signalbox agent start --tool "…"',
      cause: error,
    });
  }
  if (error instanceof ExecutorLoginError) {
    return new CliError(exitCodes.usage, 'EXECUTOR_NOT_LOGGED_IN', error.message, { cause: error });
  }
  if (error instanceof ExecutorSandboxError) {
    return new CliError(exitCodes.usage, 'EXECUTOR_SANDBOX_BROKEN', error.message, {
      cause: error,
    });
  }
  if (error instanceof IsolationError) {
    return new CliError(exitCodes.usage, 'ISOLATION_REFUSED', error.message, {
      fix: 'To see what this machine can do: signalbox doctor',
      cause: error,
    });
  }
  if (error instanceof ToolUserError) {
    return new CliError(exitCodes.usage, 'RUN_AS_REFUSED', error.message, { cause: error });
  }
  return error;
}
