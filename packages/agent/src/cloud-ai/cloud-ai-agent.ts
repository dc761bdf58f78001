import { createClient } from '@signalbox/sdk';
import manifest from '../../package.json' with { type: 'json' };
import { silentLogger } from '../agent-events.ts';
import { systemClock } from '../clock.ts';
import { createRedactor } from '../job/redaction.ts';
import { openStateDirectory, readMachineFingerprint } from '../state-directory.ts';
import { acquireStateLock, type StateLock } from '../state-lock.ts';
import { type CloudAiControl, startCloudAiLoops } from './cloud-ai-loops.ts';
import {
  type CloudAiAgentOptions,
  CloudAiProviderRefusedError,
  cloudAiDefaults,
  type RunningCloudAiAgent,
} from './cloud-ai-options.ts';

/** Telling the hub that the executor drains is a courtesy; it does not hold it up for long. */
const TOLD_MS_MAX = 5_000;

/**
 * Starts an executor of cloud AI jobs: registers as an agent, claims model calls and makes them
 * until it is drained or stopped. What comes later arrives at `onEvent` and `done`.
 *
 * @throws {AgentAlreadyRunningError} the state directory is in use.
 * @throws {TypeError} an option cannot be used.
 */
export async function startCloudAiAgent(
  options: CloudAiAgentOptions,
): Promise<RunningCloudAiAgent> {
  const { concurrency = cloudAiDefaults.concurrency } = options;
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > 1_000) {
    throw new TypeError('concurrency must be an integer from 1 to 1000.');
  }
  const state = await openStateDirectory(options.stateDir);
  const lock = await acquireStateLock(state.lockFile);
  try {
    return runAgent(options, lock, await readMachineFingerprint(options.stateDir));
  } catch (error) {
    await lock.release();
    throw error;
  }
}

function runAgent(
  options: CloudAiAgentOptions,
  lock: StateLock,
  machineFingerprint: string,
): RunningCloudAiAgent {
  const emit = options.onEvent ?? (() => {});
  const logger = options.logger ?? silentLogger;
  const left = Promise.withResolvers<void>();
  // Whoever waits for it gets the error; one that nobody waits for must not end the process.
  left.promise.catch(() => {});
  const hurry = new AbortController();
  const control: CloudAiControl = { isLeaving: false, isDrainedByHub: false, agentId: null };
  let fault: { error: unknown } | null = null;

  function fail(error: unknown): void {
    if (fault === null) logger.error('The executor cannot go on.', { error });
    fault ??= { error };
    void stop();
  }

  const loops = startCloudAiLoops({
    ...{ options, control, emit, machineFingerprint },
    client: options.client ?? clientOf(options),
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
    redactor: createRedactor([...(options.secrets ?? []), options.token ?? '']),
    onUnserved: (message) => fail(new CloudAiProviderRefusedError(message)),
    onFault: fail,
  });

  async function leave(): Promise<void> {
    const { presence, claims, held } = loops;
    await presence.told(AbortSignal.any([hurry.signal, AbortSignal.timeout(TOLD_MS_MAX)]));
    await claims.settle();
    // The stop may have come before the claim that has just been settled.
    if (hurry.signal.aborted) held.stopAll();
    await held.released();
    await presence.stop();
    await presence.leave();
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

  function stop(): Promise<void> {
    hurry.abort();
    loops.held.stopAll();
    return drain();
  }

  return { heldJobIds: () => loops.held.ids(), drain, stop, done: left.promise };
}

function clientOf({ baseUrl, token }: CloudAiAgentOptions) {
  // One attempt a call: the loops know better than the client when, and whether, to try again.
  const userAgent = `signalbox-cloud-ai/${manifest.version}`;
  return createClient({ baseUrl, token, userAgent, maxAttempts: 1 });
}
