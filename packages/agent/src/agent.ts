import { createClient } from '@signalbox/sdk';
import manifest from '../package.json' with { type: 'json' };
import { leaveHub } from './agent-departure.ts';
import { silentLogger } from './agent-events.ts';
import { type AgentOptions, agentDefaults, type RunningAgent } from './agent-options.ts';
import { systemClock } from './clock.ts';
import type { HubClient } from './hub-client.ts';
import type { JobSettings } from './job/job-work.ts';
import { recoverState } from './job/recovery.ts';
import { type AgentControl, startLoops } from './loops/agent-loops.ts';
import { type Outbox, openOutbox } from './loops/outbox.ts';
import { openStateDirectory, readMachineFingerprint } from './state-directory.ts';
import { acquireStateLock, type StateLock } from './state-lock.ts';

/**
 * Starts an agent: cleans up after a dead one, registers with the hub and claims jobs until it is
 * drained or stopped. Returns once it is set up; what comes later arrives at `onEvent` and `done`.
 *
 * @throws {AgentAlreadyRunningError} the state directory is in use.
 * @throws {ExecutorMissingError} the coding tool is not on the PATH.
 * @throws {TypeError} an option cannot be used.
 */
export async function startAgent(options: AgentOptions): Promise<RunningAgent> {
  checkOptions(options);
  const clock = options.clock ?? systemClock;
  const env = options.env ?? process.env;
  const tool = await options.executor.check(env);
  const state = await openStateDirectory(options.stateDir);
  const lock = await acquireStateLock(state.lockFile);
  try {
    const killGraceMs = options.killGraceMs ?? agentDefaults.killGraceMs;
    const outbox = openOutbox(state);
    const recovery = await recoverState(state, outbox, killGraceMs, clock);
    (options.logger ?? silentLogger).info('The state directory is ready.', { ...recovery });
    const settings: JobSettings = {
      ...{ state, clock, tool, env, killGraceMs },
      executor: options.executor,
      baseUrl: options.baseUrl,
      token: options.token,
      hooksDir: options.hooksDir,
      canWrite: options.capabilities?.canWrite ?? true,
    };
    const machineFingerprint =
      options.machineFingerprint ?? (await readMachineFingerprint(options.stateDir));
    return runAgent(options, settings, outbox, lock, machineFingerprint);
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** What the parts of a running agent meet in; each loop is in a file of its own. */
function runAgent(
  options: AgentOptions,
  settings: JobSettings,
  store: Outbox,
  lock: StateLock,
  machineFingerprint: string,
): RunningAgent {
  const logger = options.logger ?? silentLogger;
  const emit = options.onEvent ?? (() => {});
  const left = Promise.withResolvers<void>();
  // Whoever waits for it gets the error; an agent that nobody waits for must not end the process.
  left.promise.catch(() => {});
  const hurry = new AbortController();
  const control: AgentControl = { isLeaving: false, isDrainedByHub: false, agentId: null };
  let fault: { error: unknown } | null = null;

  function fail(error: unknown): void {
    if (fault === null) logger.error('The agent cannot go on.', { error });
    fault ??= { error };
    void stop('The agent cannot go on.');
  }

  const loops = startLoops({
    ...{ options, settings, store, control, emit, logger, machineFingerprint },
    client: options.client ?? clientOf(options),
    onFault: fail,
  });

  async function leave(): Promise<void> {
    // An agent that cannot go on cannot deliver either; its results stay on disk.
    const flushMs = fault === null ? (options.flushMs ?? agentDefaults.flushMs) : 0;
    await leaveHub({ ...loops, clock: settings.clock, hurry: hurry.signal, flushMs });
    if (fault === null) await loops.presence.leave();
    await lock.release();
    emit({ type: 'offline' });
  }

  function drain(): Promise<void> {
    if (!control.isLeaving) {
      control.isLeaving = true;
      emit({ type: 'draining', byHub: false });
      leave().then(() => {
        if (fault === null) left.resolve();
        else left.reject(fault.error);
      }, left.reject);
    }
    return left.promise;
  }

  function stop(why: string): Promise<void> {
    hurry.abort(why);
    loops.heldJobs.stopAll(why);
    return drain();
  }

  return {
    machineFingerprint,
    heldJobIds: () => loops.heldJobs.ids(),
    drain,
    stop: () => stop('The agent was stopped.'),
    done: left.promise,
  };
}

function clientOf(options: AgentOptions): HubClient {
  // One attempt a call: the loops know better than the client when, and whether, to try again.
  return createClient({
    baseUrl: options.baseUrl,
    token: options.token,
    userAgent: `signalbox-agent/${manifest.version}`,
    maxAttempts: 1,
  });
}

function checkOptions(options: AgentOptions): void {
  const repoIds = new Set(options.repositories.map(({ repoId }) => repoId));
  if (repoIds.size !== options.repositories.length) {
    throw new TypeError('A repository is mapped twice; keep one clone of it.');
  }
  const { maxConcurrentJobs = 1, leaseMs = agentDefaults.leaseMs } = options;
  if (!Number.isInteger(maxConcurrentJobs) || maxConcurrentJobs < 1 || maxConcurrentJobs > 1_000) {
    throw new TypeError('maxConcurrentJobs must be an integer from 1 to 1000.');
  }
  if (!Number.isInteger(leaseMs) || leaseMs < 1_000 || leaseMs > 86_400_000) {
    throw new TypeError('leaseMs must be an integer from 1000 to 86400000.');
  }
}
