import type { Clock } from '../base/clock.ts';

/** A wait for an answer; `cancel` ends it at once. */
export interface ParkedWait {
  /** Resolves on the answer, after the time, when the client disconnects, or when the hub stops. */
  ended: Promise<void>;
  cancel(): void;
}

/**
 * Waits for answers to uncertainties, in memory: an idle one costs a socket and no query. Callers
 * park first and then read, so that an answer committed after the read finds the waiter parked. A
 * woken caller reads again.
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
      // An empty set may have been replaced by a new one meanwhile.
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

  /** The uncertainties with waiters on this hub. */
  parkedIds(): { workspaceId: string; uncertaintyId: string }[] {
    return [...this.#parked.keys()].map((key) => {
      const [workspaceId = '', uncertaintyId = ''] = key.split(' ');
      return { workspaceId, uncertaintyId };
    });
  }

  /** Wakes all waiters for this answer, on all hubs. */
  wake(workspaceId: string, uncertaintyId: string): void {
    this.wakeHere(workspaceId, uncertaintyId);
    this.#notifyOthers(workspaceId, uncertaintyId);
  }

  /** Wakes the waiters of this hub. */
  wakeHere(workspaceId: string, uncertaintyId: string): void {
    for (const end of [...(this.#parked.get(keyOf(workspaceId, uncertaintyId)) ?? [])]) end();
  }

  /** Answers all waiters and refuses new ones, because the hub stops. */
  close(): void {
    this.#closed = true;
    for (const waiters of [...this.#parked.values()]) for (const end of [...waiters]) end();
  }
}

function keyOf(workspaceId: string, uncertaintyId: string): string {
  return `${workspaceId} ${uncertaintyId}`;
}
