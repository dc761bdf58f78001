import type { Clock } from '../clock.ts';

/** One who waits for an answer; `cancel` ends it at once. */
export interface ParkedWait {
  /** Resolves on the answer, after the time, when the client goes away, when the hub stops. */
  ended: Promise<void>;
  cancel(): void;
}

/**
 * Those who wait for the answer to an uncertainty, in memory: an idle one costs a socket and no
 * query. Park first, then read: an answer that is committed after the read finds the waiter parked,
 * so that nothing is missed. What woke it, the waiter sees by reading again.
 */
export class DecisionWaiters {
  readonly #clock: Clock;
  readonly #notifyOthers: (workspaceId: string, uncertaintyId: string) => void;
  readonly #parked = new Map<string, Set<() => void>>();
  #closed = false;

  /** @param notifyOthers notifies the other hubs of the database of a resolution given here. */
  constructor(
    clock: Clock,
    notifyOthers: (workspaceId: string, uncertaintyId: string) => void = () => undefined,
  ) {
    this.#clock = clock;
    this.#notifyOthers = notifyOthers;
  }

  get count(): number {
    let count = 0;
    for (const waiters of this.#parked.values()) count += waiters.size;
    return count;
  }

  park(
    workspaceId: string,
    uncertaintyId: string,
    waitMs: number,
    signal: AbortSignal,
  ): ParkedWait {
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    if (this.#closed || signal.aborted || waitMs <= 0) {
      resolve();
      return { ended, cancel: resolve };
    }
    const key = keyOf(workspaceId, uncertaintyId);
    const waiters = this.#parked.get(key) ?? new Set();
    this.#parked.set(key, waiters);
    const cancel = () => {
      waiters.delete(cancel);
      // A set that became empty may have been replaced by another since.
      if (waiters.size === 0 && this.#parked.get(key) === waiters) this.#parked.delete(key);
      cancelTimer();
      signal.removeEventListener('abort', cancel);
      resolve();
    };
    const cancelTimer = this.#clock.schedule(waitMs, cancel);
    signal.addEventListener('abort', cancel, { once: true });
    waiters.add(cancel);
    return { ended, cancel };
  }

  /** What is waited for here. */
  parkedIds(): { workspaceId: string; uncertaintyId: string }[] {
    return [...this.#parked.keys()].map((key) => {
      const [workspaceId = '', uncertaintyId = ''] = key.split(' ');
      return { workspaceId, uncertaintyId };
    });
  }

  /** Wakes all who wait for this answer, on whichever hub. */
  wake(workspaceId: string, uncertaintyId: string): void {
    this.wakeHere(workspaceId, uncertaintyId);
    this.#notifyOthers(workspaceId, uncertaintyId);
  }

  /** Wakes those of this hub. */
  wakeHere(workspaceId: string, uncertaintyId: string): void {
    for (const end of [...(this.#parked.get(keyOf(workspaceId, uncertaintyId)) ?? [])]) end();
  }

  /** Answers all that wait, and from now on lets nobody wait: the hub stops. */
  close(): void {
    this.#closed = true;
    for (const waiters of [...this.#parked.values()]) for (const end of [...waiters]) end();
  }
}

function keyOf(workspaceId: string, uncertaintyId: string): string {
  return `${workspaceId} ${uncertaintyId}`;
}
