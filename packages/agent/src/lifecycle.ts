import type { AgentCapabilities, AgentCommand } from '@signalbox/contract';
import { type Client, createClient } from '@signalbox/sdk';
import manifest from '../package.json' with { type: 'json' };
import type { AgentEvent, AgentLogger } from './agent-events.ts';
import type { Clock } from './clock.ts';
import type { HubClient } from './hub-client.ts';
import { createBackoff } from './loops/backoff.ts';
import { type ClaimCall, type ClaimLoop, startClaimLoop } from './loops/claim-loop.ts';
import { type PresenceLoop, startPresenceLoop } from './loops/presence-loop.ts';
import { openStateDirectory, type StateDirectory } from './state-directory.ts';
import { acquireStateLock, type StateLock } from './state-lock.ts';

/** How long a leaving agent waits for the hub to acknowledge that it drains. */
const DRAINING_ACK_MS_MAX = 5_000;

/** What every agent reports, whichever jobs it works on. */
export type LifecycleEvent = Extract<
  AgentEvent,
  { type: 'online' | 'hub-unreachable' | 'hub-back' | 'draining' | 'resumed' | 'offline' }
>;

/** The jobs that an agent holds. */
export interface HeldWork {
  ids(): string[];
  /** How many slots are in use. */
  count(): number;
  cancel(jobId: string): void;
  stopAll(why: string): void;
  /**
   * Resolves when no job is worked on, its results are delivered or kept for the next start, and
   * no lease is renewed any more.
   *
   * @param canDeliver false: the agent failed, so do not wait for the hub to take results.
   */
  settle(canDeliver: boolean): Promise<void>;
}

/** What the work reports to the lifecycle. */
export interface WorkHooks {
  /** The hub sent orders with the answer to a renewal. */
  onCommands(commands: readonly AgentCommand[]): void;
  /** A slot became free. */
  onRoom(): void;
  /** The agent cannot continue: a defect, or a provider that refuses it. */
  onFault(error: unknown): void;
}

/** The queue that an agent claims from, and what it does with what it gets. */
export interface Work {
  claim: ClaimCall;
  held: HeldWork;
}

export interface LifecycleOptions {
  client: Pick<HubClient, 'agents'>;
  workspaceId: string;
  displayName: string;
  machineFingerprint: string;
  capabilities: AgentCapabilities;
  /** Jobs at a time. */
  slots: number;
  leaseMs: number;
  lock: StateLock;
  clock: Clock;
  /** Jitter; in [0, 1). */
  random: () => number;
  logger: AgentLogger;
  emit(event: LifecycleEvent): void;
}

/**
 * A running agent, for jobs and for cloud AI jobs alike: registers by heartbeats, claims while it
 * has free slots, obeys the hub's commands, and leaves in order.
 */
export class Lifecycle {
  readonly #options: LifecycleOptions;
  readonly #work: Work;
  readonly #presence: PresenceLoop;
  readonly #claims: ClaimLoop;
  readonly #left = Promise.withResolvers<void>();
  readonly #hurry = new AbortController();
  #isLeaving = false;
  #isDrainedByHub = false;
  /** Null until the first heartbeat was answered. */
  #agentId: string | null = null;
  #fault: { error: unknown } | null = null;
  /** The hub rejects the heartbeats of this agent for good. */
  #isRejected = false;

  /** @param createWork makes the work; it may call its hooks once the constructor has returned. */
  constructor(options: LifecycleOptions, createWork: (hooks: WorkHooks) => Work) {
    this.#options = options;
    // Callers may never look at `done`; without a handler its rejection would end the process.
    this.#left.promise.catch(() => {});
    this.#work = createWork({
      onCommands: (commands) => this.#applyCommands(commands),
      onRoom: () => this.#claims.wake(),
      onFault: (error) => this.#fail(error),
    });
    this.#presence = this.#startPresence();
    this.#claims = this.#startClaims();
  }

  heldJobIds(): string[] {
    return this.#work.held.ids();
  }

  /** Resolves when the agent has left; rejects with the fault that ended it. */
  get done(): Promise<void> {
    return this.#left.promise;
  }

  /** Claims nothing more, finishes what is held with its lease renewed, delivers, leaves. */
  drain(): Promise<void> {
    if (!this.#isLeaving) {
      this.#isLeaving = true;
      this.#options.emit({ type: 'draining', byHub: false });
      this.#leave().then(() => {
        if (this.#fault === null) this.#left.resolve();
        else this.#left.reject(this.#fault.error);
      }, this.#left.reject);
    }
    return this.#left.promise;
  }

  /** Leaves now: stops the work and gives the jobs back. May follow `drain`. */
  stop(why = 'The agent was stopped.'): Promise<void> {
    this.#hurry.abort(why);
    this.#work.held.stopAll(why);
    return this.drain();
  }

  /**
   * The hub learns first that the agent drains, so that it grants nothing new. The claim in
   * progress is settled, so that no job is granted unseen. Held jobs are finished (or stopped,
   * after `stop`) while heartbeats and renewals continue.
   */
  async #leave(): Promise<void> {
    const { signal } = this.#hurry;
    const limit = AbortSignal.timeout(DRAINING_ACK_MS_MAX);
    await this.#presence.acknowledged(AbortSignal.any([signal, limit]));
    await this.#claims.settle();
    // The stop may have come before the claim that has just been settled.
    if (signal.aborted) this.#work.held.stopAll(String(signal.reason));
    await this.#work.held.settle(this.#fault === null);
    await this.#presence.stop();
    // A hub that rejects this agent's heartbeats would reject this one too.
    if (!this.#isRejected) await this.#presence.leave();
    await this.#options.lock.release();
    this.#options.emit({ type: 'offline' });
  }

  #fail(error: unknown): void {
    if (this.#fault === null) this.#options.logger.error('The agent cannot continue.', { error });
    this.#fault ??= { error };
    void this.stop('The agent cannot continue.');
  }

  #startPresence(): PresenceLoop {
    const { client, workspaceId, displayName, machineFingerprint, capabilities } = this.#options;
    const { clock, random, emit } = this.#options;
    return startPresenceLoop({
      ...{ client, workspaceId, displayName, machineFingerprint, capabilities, clock, emit },
      agentVersion: manifest.version,
      backoff: createBackoff(random),
      status: () => (this.#isLeaving || this.#isDrainedByHub ? 'draining' : 'online'),
      onAgentId: (agentId) => this.#register(agentId),
      onCommands: (commands) => this.#applyCommands(commands),
      onRejected: (error) => {
        this.#isRejected = true;
        this.#fail(error);
      },
      onDefect: (error) => this.#fail(error),
    });
  }

  #startClaims(): ClaimLoop {
    const { clock, random, leaseMs, slots } = this.#options;
    const { claim, held } = this.#work;
    return startClaimLoop({
      ...{ clock, random, leaseMs, claim },
      backoff: createBackoff(random),
      agentId: () => this.#agentId,
      mayClaim: () => !this.#isLeaving && !this.#isDrainedByHub && held.count() < slots,
      onUnknownAgent: () => this.#presence.wake(),
      onDefect: (error) => this.#fail(error),
    });
  }

  #register(agentId: string): void {
    if (this.#agentId === agentId) return;
    this.#agentId = agentId;
    this.#options.emit({ type: 'online', agentId });
    this.#claims.wake();
  }

  #applyCommands(commands: readonly AgentCommand[]): void {
    for (const { command, jobId } of commands) {
      if (command !== 'cancel-job') this.#setDrained(command === 'drain');
      else if (jobId !== undefined) this.#work.held.cancel(jobId);
    }
  }

  #setDrained(isDrained: boolean): void {
    if (this.#isDrainedByHub === isDrained) return;
    this.#isDrainedByHub = isDrained;
    this.#options.emit(isDrained ? { type: 'draining', byHub: true } : { type: 'resumed' });
    this.#presence.wake();
    this.#claims.wake();
  }
}

/**
 * Opens and locks an agent's state directory, then calls `start`. The lock belongs to the agent
 * that `start` returns; if `start` fails, the lock is released.
 *
 * @throws {AgentAlreadyRunningError} the state directory is in use.
 */
export async function withLockedState<Agent>(
  stateDir: string,
  start: (state: StateDirectory, lock: StateLock) => Promise<Agent>,
): Promise<Agent> {
  const state = await openStateDirectory(stateDir);
  const lock = await acquireStateLock(state.lockFile);
  try {
    return await start(state, lock);
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** A client of the hub for an agent. `name` is the program in the user agent header. */
export function createHubClient(
  name: string,
  { baseUrl, token }: { baseUrl: string; token?: string | undefined },
): Client {
  // One attempt a call: the loops decide when, and whether, to try again.
  return createClient({ baseUrl, token, userAgent: `${name}/${manifest.version}`, maxAttempts: 1 });
}
