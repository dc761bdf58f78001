import type { Clock } from '../clock.ts';

/** A `claim-next` that waits for a job: whom it is for, and how to tell whether it may care. */
export interface ClaimWaiter {
  workspaceId: string;
  agentId: string;
  /** Whether a job that became ready in this lane can be for it. */
  suits(laneId: string): boolean;
}

interface Parked extends ClaimWaiter {
  wake(laneId: string | null): void;
}

/** Wakes remembered for each workspace: more than happen while one claim is tried. */
const RECENT_MAX = 256;

/** The latest wakes of a workspace, in a ring; null stands for a wake that is not of one lane. */
interface RecentWakes {
  version: number;
  laneIds: (string | null)[];
}

/**
 * Claims that wait, in memory: an idle one costs a socket and no query. Each job that becomes ready
 * wakes the waiter that has waited longest of those that it suits; a waiter that then cannot take
 * it passes it on with `wakeNext`.
 */
export class ClaimWaiters {
  readonly #clock: Clock;
  readonly #parked = new Map<string, Set<Parked>>();
  readonly #recent = new Map<string, RecentWakes>();
  #closed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * A mark to take before a claim is tried and to hand to `wait`: what became ready between the
   * two ends the wait at once, so that nothing is missed.
   */
  version(workspaceId: string): number {
    return this.#recent.get(workspaceId)?.version ?? 0;
  }

  get count(): number {
    let count = 0;
    for (const waiters of this.#parked.values()) count += waiters.size;
    return count;
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
    const missed = this.#findMissed(waiter, version);
    if (missed !== null) return Promise.resolve(missed);
    return new Promise((resolve) => {
      const waiters = this.#parked.get(waiter.workspaceId) ?? new Set();
      this.#parked.set(waiter.workspaceId, waiters);
      const end = (result: { laneId: string | null } | 'timeout') => {
        waiters.delete(parked);
        if (waiters.size === 0) this.#parked.delete(waiter.workspaceId);
        cancelTimer();
        signal.removeEventListener('abort', timeout);
        resolve(result);
      };
      const timeout = () => end('timeout');
      const parked: Parked = { ...waiter, wake: (laneId) => end({ laneId }) };
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

  /** Wakes one waiter for a job that became ready in a lane. */
  wakeNext(workspaceId: string, laneId: string): void {
    this.#note(workspaceId, laneId);
    for (const parked of this.#parked.get(workspaceId) ?? []) {
      if (parked.suits(laneId)) {
        parked.wake(laneId);
        return;
      }
    }
  }

  /** Wakes those of one agent: what it may claim has changed. */
  wakeAgent(workspaceId: string, agentId: string): void {
    this.#note(workspaceId, null);
    for (const parked of [...(this.#parked.get(workspaceId) ?? [])]) {
      if (parked.agentId === agentId) parked.wake(null);
    }
  }

  /** Wakes all of a workspace: a pause ended, a repository came back. */
  wakeWorkspace(workspaceId: string): void {
    this.#note(workspaceId, null);
    for (const parked of [...(this.#parked.get(workspaceId) ?? [])]) parked.wake(null);
  }

  /** Answers all that wait, and from now on lets nobody wait: the hub stops. */
  close(): void {
    this.#closed = true;
    for (const workspaceId of [...this.#parked.keys()]) this.wakeWorkspace(workspaceId);
  }

  #note(workspaceId: string, laneId: string | null): void {
    let recent = this.#recent.get(workspaceId);
    if (recent === undefined) {
      recent = { version: 0, laneIds: [] };
      this.#recent.set(workspaceId, recent);
    }
    recent.version += 1;
    recent.laneIds[recent.version % RECENT_MAX] = laneId;
  }

  /** What this waiter would have been woken by since it took its mark. */
  #findMissed(waiter: ClaimWaiter, version: number): { laneId: string | null } | null {
    const recent = this.#recent.get(waiter.workspaceId);
    if (recent === undefined) return null;
    if (recent.version - version > RECENT_MAX) return { laneId: null };
    for (let at = version + 1; at <= recent.version; at++) {
      const laneId = recent.laneIds[at % RECENT_MAX] ?? null;
      if (laneId === null || waiter.suits(laneId)) return { laneId };
    }
    return null;
  }
}
