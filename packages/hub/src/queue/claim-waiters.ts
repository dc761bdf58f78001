import type { Clock } from '../clock.ts';
import { RecentWakes, type Wake } from './recent-wakes.ts';

/** A `claim-next` that waits for a job: whom it is for, and how to tell whether it may care. */
export interface ClaimWaiter {
  workspaceId: string;
  agentId: string;
  /** Whether a job that became ready in this lane can be for it. */
  suits(laneId: string): boolean;
}

interface Parked extends ClaimWaiter {
  /** Of its request, which it is known by: it may wait several times. */
  signal: AbortSignal;
  /** null: anything may have changed. */
  wake(laneId: string | null): void;
}

/**
 * Claims that wait, in memory: an idle one costs a socket and no query. Each job that becomes ready
 * wakes the waiter that has waited longest of those that it suits; a waiter that then cannot take
 * it passes it on with `wakeNext`.
 *
 * Where several hubs share a database, each holds the claims that wait on it. `wakeNext`,
 * `wakeAgent` and `wakeWorkspace` are for changes on this hub and notify the other hubs through
 * `notifyOthers`; `wakeReady`, `wakeAgentHere` and `wakeWorkspaceHere` are for changes elsewhere.
 */
export class ClaimWaiters {
  readonly #clock: Clock;
  readonly #notifyOthers: (workspaceId: string, wake: Wake) => void;
  readonly #parked = new Map<string, Set<Parked>>();
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
   * A mark to take before a claim is tried and to hand to `wait`: what became ready between the
   * two ends the wait at once, so that nothing is missed.
   */
  version(_workspaceId: string): number {
    return this.#recent.version;
  }

  get count(): number {
    let count = 0;
    for (const waiters of this.#parked.values()) count += waiters.size;
    return count;
  }

  /** The workspaces of those that wait here. */
  parkedWorkspaceIds(): string[] {
    return [...this.#parked.keys()];
  }

  /** All that wait here. */
  listParked(): Parked[] {
    return [...this.#parked.values()].flatMap((waiters) => [...waiters]);
  }

  /**
   * Waits until there may be something to claim.
   *
   * @returns the lane of the job that woke it, null when anything may have changed, or `timeout`
   *   after `waitMs`, when the signal aborts and when the hub stops.
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
      const waiters = this.#parked.get(waiter.workspaceId) ?? new Set();
      this.#parked.set(waiter.workspaceId, waiters);
      const end = (result: { laneId: string | null } | 'timeout') => {
        waiters.delete(parked);
        // A set that became empty may have been replaced by another since.
        if (waiters.size === 0 && this.#parked.get(waiter.workspaceId) === waiters) {
          this.#parked.delete(waiter.workspaceId);
        }
        cancelTimer();
        signal.removeEventListener('abort', timeout);
        resolve(result);
      };
      const timeout = () => end('timeout');
      const parked: Parked = { ...waiter, signal, wake: (laneId) => end({ laneId }) };
      const cancelTimer = this.#clock.schedule(waitMs, timeout);
      signal.addEventListener('abort', timeout, { once: true });
      waiters.add(parked);
    });
  }

  /** Wakes for an entry that became claimable, by any agent or (not null) by one alone. */
  wakeFor(entry: { workspace_id: string; lane_id: string }, agentId: string | null): void {
    if (agentId === null) this.wakeNext(entry.workspace_id, entry.lane_id);
    else this.wakeAgent(entry.workspace_id, agentId);
  }

  /** Wakes one waiter for a job that became ready in a lane: of this hub, or else of another. */
  wakeNext(workspaceId: string, laneId: string): void {
    const woken = this.wakeReady(workspaceId, laneId, 1);
    if (woken === 0) this.#notifyOthers(workspaceId, { kind: 'lane', laneId });
  }

  /** Wakes those of one agent: what it may claim has changed. */
  wakeAgent(workspaceId: string, agentId: string): void {
    this.wakeAgentHere(workspaceId, agentId);
    this.#notifyOthers(workspaceId, { kind: 'agent', agentId });
  }

  /** Wakes all of a workspace: a pause ended, a repository came back. */
  wakeWorkspace(workspaceId: string): void {
    this.wakeWorkspaceHere(workspaceId);
    this.#notifyOthers(workspaceId, { kind: 'workspace' });
  }

  /**
   * Wakes waiters of this hub, at most as many as jobs are ready in a lane.
   * @returns how many.
   */
  wakeReady(workspaceId: string, laneId: string, count: number): number {
    let woken = 0;
    for (const parked of this.#parked.get(workspaceId) ?? []) {
      if (woken === count) break;
      if (!parked.suits(laneId)) continue;
      parked.wake(laneId);
      woken += 1;
    }
    // Who is woken and does not take it passes it on, so nobody else need look for it as well.
    this.#recent.note(workspaceId, { kind: 'lane', laneId }, count - woken);
    return woken;
  }

  wakeAgentHere(workspaceId: string, agentId: string): void {
    this.#recent.note(workspaceId, { kind: 'agent', agentId });
    for (const parked of [...(this.#parked.get(workspaceId) ?? [])]) {
      if (parked.agentId === agentId) parked.wake(null);
    }
  }

  wakeWorkspaceHere(workspaceId: string): void {
    this.#recent.note(workspaceId, { kind: 'workspace' });
    for (const parked of [...(this.#parked.get(workspaceId) ?? [])]) parked.wake(null);
  }

  /** Answers all that wait, and from now on lets nobody wait: the hub stops. */
  close(): void {
    this.#closed = true;
    for (const workspaceId of [...this.#parked.keys()]) this.wakeWorkspaceHere(workspaceId);
  }
}
