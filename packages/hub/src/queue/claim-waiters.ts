import type { Clock } from '../base/clock.ts';
import { RecentWakes, type Wake } from './recent-wakes.ts';

/** A `claim-next` that waits: its agent, and the lanes that suit it. */
export interface ClaimWaiter {
  workspaceId: string;
  agentId: string;
  /** Whether an entry that became ready in this lane may suit the agent. */
  suits(laneId: string): boolean;
}

interface Parked extends ClaimWaiter {
  /** Identifies the request, which may wait several times. */
  signal: AbortSignal;
  /** null: anything may have changed. */
  wake(laneId: string | null): void;
}

/**
 * Waiting claims, in memory: an idle one costs a socket and no query. Each entry that becomes ready
 * wakes the longest waiter that it suits. A waiter that cannot take it passes the wake on with
 * `wakeNext`.
 *
 * Where several hubs share a database, each holds the claims that wait on it. `wakeNext`,
 * `wakeAgent` and `wakeWorkspace` are for changes on this hub and notify the other hubs through
 * `notifyOthers`; `wakeReady`, `wakeAgentHere` and `wakeWorkspaceHere` are for changes elsewhere.
 */
export class ClaimWaiters {
  readonly #clock: Clock;
  readonly #notifyOthers: (workspaceId: string, wake: Wake) => void;
  /** By workspace, in the order of their arrival. */
  readonly #parked = new WaiterSets();
  /** The same by agent, since each completion wakes the agent, and ten thousand may wait. */
  readonly #ofAgents = new WaiterSets();
  readonly #recent = new RecentWakes();
  #closed = false;

  constructor(
    clock: Clock,
    notifyOthers: (workspaceId: string, wake: Wake) => void = () => undefined,
  ) {
    this.#clock = clock;
    this.#notifyOthers = notifyOthers;
  }

  /**
   * A mark to take before a claim attempt and to pass to `wait`: an entry that became ready between
   * the two ends the wait at once, so no wake is missed.
   */
  version(): number {
    return this.#recent.version;
  }

  get count(): number {
    return this.listParked().length;
  }

  /** The workspaces with waiters on this hub. */
  parkedWorkspaceIds(): string[] {
    return this.#parked.keys();
  }

  /** All waiters of this hub. */
  listParked(): Parked[] {
    return this.#parked.keys().flatMap((workspaceId) => [...this.#parked.of(workspaceId)]);
  }

  /**
   * Waits until there may be something to claim.
   *
   * @returns the lane of the entry that woke it, null when anything may have changed, or `timeout`
   *   after `waitMs`, when the signal aborts or when the hub stops.
   */
  wait(
    waiter: ClaimWaiter,
    version: number,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<{ laneId: string | null } | 'timeout'> {
    if (this.#closed || signal.aborted || waitMs <= 0) return Promise.resolve('timeout');
    const missed = this.#recent.takeMissed(waiter, version);
    if (missed !== null) return Promise.resolve(missed);
    return new Promise((resolve) => {
      const { workspaceId, agentId } = waiter;
      const end = (result: { laneId: string | null } | 'timeout') => {
        this.#parked.delete(workspaceId, parked);
        this.#ofAgents.delete(agentKey(workspaceId, agentId), parked);
        cancelTimer();
        signal.removeEventListener('abort', timeout);
        resolve(result);
      };
      const timeout = () => end('timeout');
      const parked: Parked = { ...waiter, signal, wake: (laneId) => end({ laneId }) };
      const cancelTimer = this.#clock.schedule(waitMs, timeout);
      signal.addEventListener('abort', timeout, { once: true });
      this.#parked.add(workspaceId, parked);
      this.#ofAgents.add(agentKey(workspaceId, agentId), parked);
    });
  }

  /** Wakes for an entry that became claimable by any agent, or by one agent only. */
  wakeFor(entry: { workspace_id: string; lane_id: string }, agentId: string | null): void {
    if (agentId === null) this.wakeNext(entry.workspace_id, entry.lane_id);
    else this.wakeAgent(entry.workspace_id, agentId);
  }

  /** Wakes one waiter for an entry that became ready in a lane: on this hub, or else on another. */
  wakeNext(workspaceId: string, laneId: string): void {
    const woken = this.wakeReady(workspaceId, laneId, 1);
    if (woken === 0) this.#notifyOthers(workspaceId, { kind: 'lane', laneId });
  }

  /** Wakes the claims of one agent, because the jobs that it may claim have changed. */
  wakeAgent(workspaceId: string, agentId: string): void {
    this.wakeAgentHere(workspaceId, agentId);
    this.#notifyOthers(workspaceId, { kind: 'agent', agentId });
  }

  /** Wakes all claims of a workspace, for example when a pause ends. */
  wakeWorkspace(workspaceId: string): void {
    this.wakeWorkspaceHere(workspaceId);
    this.#notifyOthers(workspaceId, { kind: 'workspace' });
  }

  /**
   * Wakes waiters of this hub, at most one for each ready entry of a lane.
   * @returns how many.
   */
  wakeReady(workspaceId: string, laneId: string, count: number): number {
    let woken = 0;
    for (const parked of this.#parked.of(workspaceId)) {
      if (woken === count) break;
      if (!parked.suits(laneId)) continue;
      parked.wake(laneId);
      woken += 1;
    }
    // A waiter that does not take its entry passes the wake on, so one wake an entry is enough.
    this.#recent.note(workspaceId, { kind: 'lane', laneId }, count - woken);
    return woken;
  }

  wakeAgentHere(workspaceId: string, agentId: string): void {
    this.#recent.note(workspaceId, { kind: 'agent', agentId });
    for (const parked of this.#ofAgents.of(agentKey(workspaceId, agentId))) parked.wake(null);
  }

  wakeWorkspaceHere(workspaceId: string): void {
    this.#recent.note(workspaceId, { kind: 'workspace' });
    for (const parked of this.#parked.of(workspaceId)) parked.wake(null);
  }

  /** Answers all waiters and refuses new ones, because the hub stops. */
  close(): void {
    this.#closed = true;
    for (const workspaceId of this.#parked.keys()) this.wakeWorkspaceHere(workspaceId);
  }
}

/** Sets of waiters by key; an empty one takes no memory. */
class WaiterSets {
  readonly #sets = new Map<string, Set<Parked>>();

  keys(): string[] {
    return [...this.#sets.keys()];
  }

  /** A waiter that is woken leaves the set, which its reader may be going through. */
  of(key: string): Iterable<Parked> {
    return this.#sets.get(key) ?? [];
  }

  add(key: string, parked: Parked): void {
    const set = this.#sets.get(key);
    if (set === undefined) this.#sets.set(key, new Set([parked]));
    else set.add(parked);
  }

  delete(key: string, parked: Parked): void {
    const set = this.#sets.get(key);
    set?.delete(parked);
    if (set?.size === 0) this.#sets.delete(key);
  }
}

function agentKey(workspaceId: string, agentId: string): string {
  return `${workspaceId} ${agentId}`;
}
