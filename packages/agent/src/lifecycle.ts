import type { AgentCapabilities, AgentCommand } from '@signalbox/contract';
import { VERSION } from '@signalbox/contract/version';
import { type Client, createClient } from '@signalbox/sdk';
import type { LifecycleEvent } from './agent-events.ts';
import type { Clock } from './clock.ts';
import type { HubClient } from './hub-client.ts';
import type { AskedPatch } from './job/patch-sharing.ts';
import { createBackoff } from './loops/backoff.ts';
import { type ClaimCall, type ClaimLoop, startClaimLoop } from './loops/claim-loop.ts';
import { type PresenceLoop, startPresenceLoop } from './loops/presence-loop.ts';
import { openStateDirectory, type StateDirectory } from './state-directory.ts';
import { acquireStateLock, type StateLock } from './state-lock.ts';

/** How long an agent that shuts down waits for the hub to acknowledge that it is draining. */
const DRAINING_ACK_MS_MAX = 5_000;

/** The jobs that an agent holds. */
export interface HeldWork {
  ids(): string[];
  /** How many slots are in use. */
  count(): number;
  cancel(jobId: string): void;
  stopAll(why: string): void;
  /**
   * Resolves when no job is being worked on, all results are delivered or stored for the next
   * start, and no lease is being renewed.
   *
   * @param canDeliver false: the agent failed, so do not wait for the hub to accept results.
   */
  settle(canDeliver: boolean): Promise<void>;
}

/** Called by the work to report to the lifecycle. */
export interface WorkHooks {
  /** The answer to a claim or a renewal contained commands. */
  onCommands(commands: readonly AgentCommand[]): void;
  /** More or fewer jobs may be claimed than before; a claim that waits is asked again. */
  onClaimable(): void;
  /** People are shown more or less than before about the agent. */
  onShown(): void;
  /** A slot became free. */
  onSlotFree(): void;
  /** The agent cannot continue: a defect, or a provider that rejects it. */
  onFault(error: unknown): void;
}

/** The queue that an agent claims from, and the jobs it holds. */
export interface Work {
  claim: ClaimCall;
  held: HeldWork;
  /** An earlier process may have sent a claim whose answer it has not received. */
  isClaimResumed?: boolean;
  /** False: nothing may be claimed at the moment, though slots are free. Absent: it always may. */
  mayClaim?(): boolean;
  /** Additions of the heartbeats to the agent's capabilities, such as why it claims nothing. */
  shown?(): AgentCapabilities;
  /** A member asks for the patch of an ended job. */
  sharePatch?(asked: AskedPatch): void;
  /** Ends what the work waits for, when the agent leaves. */
  stop?(): void;
}

export interface LifecycleOptions {
  client: { agents: Pick<HubClient['agents'], 'heartbeat'> };
  workspaceId: string;
  displayName: string;
  machineFingerprint: string;
  capabilities: AgentCapabilities;
  /** Limit of concurrent jobs. */
  slots: number;
  leaseMs: number;
  lock: StateLock;
  clock: Clock;
  /** Source of jitter; returns values in [0, 1). */
  random: () => number;
  emit(event: LifecycleEvent): void;
}

/**
 * A running agent, for jobs and cloud AI jobs alike: registers by heartbeats, claims while it has
 * free slots, follows the hub's commands and shuts down gracefully.
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
  /** The last command of a person that was obeyed; the hub learns it from the heartbeats. */
  #commandNumber: number | null = null;
  /** Null until the first heartbeat was answered. */
  #agentId: string | null = null;
  #fault: { error: unknown } | null = null;
  /** The hub rejects the heartbeats of this agent permanently. */
  #isRejected = false;

  /** @param createWork Creates the work. Its hooks may be called after this constructor returns. */
  constructor(options: LifecycleOptions, createWork: (hooks: WorkHooks) => Work) {
    this.#options = options;
    // Callers may ignore `done`; without a handler its rejection would end the process.
    this.#left.promise.catch(() => {});
    this.#work = createWork({
      onClaimable: () => this.#claims.refresh(),
      onShown: () => this.#presence.wake(),
      onCommands: (commands) => this.#applyCommands(commands),
      onSlotFree: () => this.#claims.wake(),
      onFault: (error) => this.#fail(error),
    });
    this.#presence = this.#startPresence();
    this.#claims = this.#startClaims();
  }

  heldJobIds(): string[] {
    return this.#work.held.ids();
  }

  /** Resolves after shutdown; rejects with the fault that ended the agent. */
  get done(): Promise<void> {
    return this.#left.promise;
  }

  /** Stops claiming, finishes held jobs while renewing leases, delivers results, shuts down. */
  drain(): Promise<void> {
    if (!this.#isLeaving) this.#options.emit({ type: 'draining', byHub: false });
    return this.#startLeaving();
  }

  #startLeaving(): Promise<void> {
    if (!this.#isLeaving) {
      this.#isLeaving = true;
      this.#leave().then(() => {
        if (this.#fault === null) this.#left.resolve();
        else this.#left.reject(this.#fault.error);
      }, this.#left.reject);
    }
    return this.#left.promise;
  }

  /** Shuts down now: stops the work and returns the jobs to the queue. May follow `drain`. */
  stop(why = 'The agent was stopped.'): Promise<void> {
    this.#hurry.abort(why);
    this.#work.held.stopAll(why);
    return this.drain();
  }

  /**
   * First reports that the agent is draining, so that the hub grants no more jobs. Then settles the
   * claim in progress, so that no granted job is missed. Held jobs are finished (or stopped, after
   * `stop`) while heartbeats and renewals continue.
   */
  async #leave(): Promise<void> {
    const { signal } = this.#hurry;
    const limit = AbortSignal.timeout(DRAINING_ACK_MS_MAX);
    await this.#presence.acknowledged(AbortSignal.any([signal, limit]));
    await this.#claims.settle();
    // `stop` may have been called before the claim just settled, so stop that job too.
    if (signal.aborted) this.#work.held.stopAll(String(signal.reason));
    await this.#work.held.settle(this.#fault === null);
    this.#work.stop?.();
    await this.#presence.stop();
    // A hub that rejects this agent's heartbeats would also reject this final one.
    if (!this.#isRejected) await this.#presence.leave();
    await this.#options.lock.release();
    this.#options.emit({ type: 'offline' });
  }

  #fail(error: unknown): void {
    this.#fault ??= { error };
    void this.stop('The agent cannot continue.');
  }

  #startPresence(): PresenceLoop {
    const { client, workspaceId, displayName, machineFingerprint, capabilities } = this.#options;
    const { clock, random, emit } = this.#options;
    return startPresenceLoop({
      client,
      workspaceId,
      displayName,
      machineFingerprint,
      clock,
      emit,
      capabilities: () => ({ ...capabilities, ...this.#work.shown?.() }),
      backoff: createBackoff(random),
      status: () => (this.#isLeaving || this.#isDrainedByHub ? 'draining' : 'online'),
      commandNumber: () => this.#commandNumber,
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
    const { claim, held, isClaimResumed = false } = this.#work;
    return startClaimLoop({
      clock,
      random,
      leaseMs,
      claim,
      isClaimResumed,
      backoff: createBackoff(random),
      agentId: () => this.#agentId,
      mayClaim: () =>
        !this.#isLeaving &&
        !this.#isDrainedByHub &&
        held.count() < slots &&
        (this.#work.mayClaim?.() ?? true),
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

  /** Obeys commands. The hub repeats each until a heartbeat says that it was obeyed. */
  #applyCommands(commands: readonly AgentCommand[]): void {
    for (const { command, jobId, number, askedByName: askedBy = '' } of commands) {
      // First, because a stop sends a heartbeat at once.
      if (number !== undefined) this.#acknowledge(number);
      switch (command) {
        case 'cancel-job':
          if (jobId !== undefined) this.#work.held.cancel(jobId);
          break;
        case 'share-patch': {
          const agentId = this.#agentId;
          if (jobId === undefined || agentId === null) break;
          this.#work.sharePatch?.({ jobId, agentId, askedBy });
          break;
        }
        case 'drain':
        case 'resume':
          this.#setDrained(command === 'drain');
          break;
        case 'stop':
        case 'stop-now':
          this.#stopByHub(command === 'stop-now');
      }
    }
  }

  #acknowledge(number: number): void {
    if (this.#commandNumber === number) return;
    this.#commandNumber = number;
    this.#presence.wake();
  }

  #stopByHub(returnsJobs: boolean): void {
    if (this.#hurry.signal.aborted) return;
    if (!this.#isLeaving || returnsJobs) this.#options.emit({ type: 'stopping', returnsJobs });
    // `done` reports how it ends.
    this.#startLeaving().catch(() => {});
    if (returnsJobs) this.stop('A person stopped the agent at the hub.').catch(() => {});
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
 * Opens and locks an agent's state directory, then calls `start`. The agent that `start` returns
 * owns the lock; if `start` fails, the lock is released.
 *
 * @throws {AgentAlreadyRunningError} another agent uses the state directory.
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

/** Creates a hub client for an agent. `name` is the program in the User-Agent header. */
export function createHubClient(
  name: string,
  { baseUrl, token }: { baseUrl: string; token?: string | undefined },
): Client {
  // No retries inside a call: the loops decide whether and when to retry.
  return createClient({ baseUrl, token, userAgent: `${name}/${VERSION}`, maxAttempts: 1 });
}
