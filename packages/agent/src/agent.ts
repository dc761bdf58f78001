import assert from 'node:assert/strict';
import {
  type AgentCapabilities,
  LANDING_MODE,
  LEASE_MS_MAX,
  LEASE_MS_MIN,
} from '@signalbox/contract';
import { type AgentOptions, agentDefaults, type RunningAgent } from './agent-options.ts';
import { systemClock } from './clock.ts';
import type { Executor, ExecutorTool } from './executors/executor.ts';
import { openIsolation, proveAtStart } from './isolation/isolation.ts';
import { mergeProofs } from './isolation/rungs.ts';
import { openClaimRecord } from './job/claim-record.ts';
import { startJobWork } from './job/held-jobs.ts';
import type { JobSettings } from './job/job-work.ts';
import { sharesOnRequest } from './job/patch-sharing.ts';
import { recoverState } from './job/recovery.ts';
import { createHubClient, Lifecycle, withLockedState } from './lifecycle.ts';
import { openOutbox } from './loops/outbox.ts';
import { createOfferedTools } from './offered-tools.ts';
import { cleanEnvironment } from './process/environment.ts';
import {
  admitUser,
  checkReach,
  environmentOf,
  findToolUser,
  type ToolUser,
} from './process/tool-user.ts';
import { createReportingClient } from './report-calls.ts';
import { readMachineFingerprint, type StateDirectory, writeKeptMax } from './state-directory.ts';

/**
 * Starts an agent: cleans up after a crashed predecessor, registers with the hub and claims jobs
 * until the agent is drained or stopped. Returns after setup; later events arrive at `onEvent` and
 * `done`.
 *
 * @throws {AgentAlreadyRunningError} another agent uses the state directory.
 * @throws {ToolUserError} tools cannot run as the user of `runAs`.
 * @throws {ExecutorMissingError} the coding tool is not on the PATH.
 * @throws {ExecutorLoginError} the coding tool is not logged in.
 * @throws {ExecutorSandboxError} its sandbox does not work.
 * @throws {IsolationError} the tools are not kept from the machine as asked.
 * @throws {TypeError} an option is invalid.
 */
export async function startAgent(options: AgentOptions): Promise<RunningAgent> {
  checkOptions(options);
  const { emit, clock, random, env, killGraceMs, leaseMs, slots } = fillIn(options);
  const toolUser = options.runAs === undefined ? null : await findToolUser(options.runAs);
  const checked = await checkTools(options, env, toolUser);
  return withLockedState(options.stateDir, async (state, lock) => {
    await admitToolUser(state, toolUser);
    const outbox = openOutbox(state);
    const claims = await openClaimRecord(state);
    const abandoned = await recoverState(state, outbox, claims.attemptsBefore, killGraceMs, clock);
    const { baseUrl, token, hooksDir, workspaceId, displayName } = options;
    const isolation = await openIsolation(options.isolation ?? null, env, toolUser, clock, {
      agentPaths: [state.path, ...(options.privatePaths ?? [])],
      clones: options.repositories.map(({ path }) => path),
      readable: options.readable ?? [],
    });
    const place = { state, env: environmentOf(toolUser, cleanEnvironment(env, token)) };
    const tools = await proveTools(checked, isolation, place);
    const [first] = tools;
    assert.ok(first, 'an agent has a tool');
    const [executor, tool] = first;
    const hub = options.client ?? createHubClient('signalbox-agent', options);
    const client = createReportingClient(hub, clock);
    const settings: JobSettings = {
      state,
      clock,
      tool,
      env,
      killGraceMs,
      executor,
      baseUrl,
      token,
      hooksDir,
      toolUser,
      client,
      holdMs: options.holdMs ?? agentDefaults.holdMs,
      isolation,
      canWrite: options.capabilities?.canWrite ?? true,
      warmWorktrees: options.warmWorktrees ?? slots,
    };
    await writeKeptMax(state, settings.warmWorktrees);
    const offeredTools = await createOfferedTools({ options, tools, state });
    const machineFingerprint = await readMachineFingerprint(options.stateDir);
    const lifecycle = new Lifecycle(
      {
        client,
        workspaceId,
        displayName,
        machineFingerprint,
        leaseMs,
        slots,
        lock,
        clock,
        random,
        emit,
        capabilities: capabilitiesOf(options, slots),
      },
      (hooks) =>
        startJobWork({
          ...hooks,
          options,
          settings,
          tools,
          offeredTools,
          outbox,
          claims,
          abandoned,
          random,
          leaseMs,
          emit,
        }),
    );
    return { ...handleOf(lifecycle, [...tools.values()]), machineFingerprint };
  });
}

/** Checks the tools of all repositories; each is used by at least one. */
async function checkTools(
  { executor, repositories }: AgentOptions,
  env: NodeJS.ProcessEnv,
  user: ToolUser | null,
): Promise<ReadonlyMap<Executor, ExecutorTool>> {
  const own = repositories.map((repository) => repository.executor ?? executor);
  const tools = new Map<Executor, ExecutorTool>();
  for (const each of new Set(own.length === 0 ? [executor] : own)) {
    tools.set(each, await each.check(env, user));
  }
  return tools;
}

/** @param tools the first is that of jobs without one of their own. */
function handleOf(
  lifecycle: Lifecycle,
  tools: readonly ExecutorTool[],
): Omit<RunningAgent, 'machineFingerprint'> {
  return {
    toolVersion: tools[0]?.version ?? null,
    proof: mergeProofs(tools.flatMap(({ proof }) => proof ?? [])),
    toolWarnings: [...new Set(tools.flatMap(({ warnings = [] }) => warnings))],
    heldJobIds: () => lifecycle.heldJobIds(),
    drain: () => lifecycle.drain(),
    stop: () => lifecycle.stop(),
    done: lifecycle.done,
  };
}

/** Tries each tool against what its isolation must hold. */
async function proveTools(
  checked: ReadonlyMap<Executor, ExecutorTool>,
  isolation: JobSettings['isolation'],
  place: Parameters<typeof proveAtStart>[2],
): Promise<ReadonlyMap<Executor, ExecutorTool>> {
  const tools = new Map<Executor, ExecutorTool>();
  for (const [each, found] of checked) {
    tools.set(each, { ...found, proof: await proveAtStart(isolation, each, place) });
  }
  return tools;
}

/** Lets the user of tools reach the directories of its jobs and the objects that they borrow. */
async function admitToolUser(state: StateDirectory, user: ToolUser | null): Promise<void> {
  for (const path of [state.path, state.jobs, state.mirrors, state.sessions])
    await admitUser(path, user);
  await checkReach(state.jobs, user);
}

function fillIn(options: AgentOptions) {
  return {
    emit: options.onEvent ?? (() => {}),
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
    env: options.env ?? process.env,
    killGraceMs: options.killGraceMs ?? agentDefaults.killGraceMs,
    leaseMs: options.leaseMs ?? agentDefaults.leaseMs,
    slots: options.maxConcurrentJobs ?? agentDefaults.maxConcurrentJobs,
  };
}

function capabilitiesOf(options: AgentOptions, maxConcurrentJobs: number): AgentCapabilities {
  return {
    executionModes: ['cli', LANDING_MODE],
    canWrite: true,
    canUseNetwork: true,
    ...options.capabilities,
    reposAllowed: options.repositories.map(({ repoId }) => repoId),
    changesOnRequest: options.repositories.filter(sharesOnRequest).map(({ repoId }) => repoId),
    labels: { ...options.capabilities?.labels, ...options.labels },
    maxConcurrentJobs,
  };
}

function checkOptions(options: AgentOptions): void {
  const repoIds = new Set(options.repositories.map(({ repoId }) => repoId));
  if (repoIds.size !== options.repositories.length) {
    throw new TypeError('A repository is mapped to two clones; keep one.');
  }
  const { maxConcurrentJobs = 1, leaseMs = agentDefaults.leaseMs } = options;
  if (!Number.isInteger(maxConcurrentJobs) || maxConcurrentJobs < 1 || maxConcurrentJobs > 1_000) {
    throw new TypeError('maxConcurrentJobs must be an integer from 1 to 1000.');
  }
  if (!Number.isInteger(leaseMs) || leaseMs < LEASE_MS_MIN || leaseMs > LEASE_MS_MAX) {
    throw new TypeError(`leaseMs must be an integer from ${LEASE_MS_MIN} to ${LEASE_MS_MAX}.`);
  }
}
