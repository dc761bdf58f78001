/** How many calls of one caller may be under way, and how many more may wait. */
interface SlotLimits {
  busyMax: number;
  waitingMax: number;
}

/** The place of one call. */
export interface Slot {
  /** Resolves when it is the call's turn; null: at once. A call that leaves before never has it. */
  ready: Promise<void> | null;
  /** Frees the slot, or leaves the line. Further calls do nothing. */
  leave(): void;
}

interface Line {
  busy: number;
  /** In order; each starts its call. */
  waiting: Set<() => void>;
}

/**
 * Limits the calls that one caller has under way. The others wait in line with their bodies unread,
 * so that agents which share a token are not refused.
 */
export class CallSlots {
  readonly #limits: SlotLimits;
  readonly #lines = new Map<string, Line>();

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  /**
   * Takes a slot or a place in the line.
   * @returns null: too many wait already.
   */
  enter(key: string): Slot | null {
    let line = this.#lines.get(key);
    if (line === undefined) {
      line = { busy: 0, waiting: new Set() };
      this.#lines.set(key, line);
    }
    return line.busy < this.#limits.busyMax ? this.#start(key, line) : this.#wait(key, line);
  }

  #start(key: string, line: Line): Slot {
    line.busy += 1;
    let hasLeft = false;
    const leave = () => {
      if (!hasLeft) this.#pass(key, line);
      hasLeft = true;
    };
    return { ready: null, leave };
  }

  #wait(key: string, line: Line): Slot | null {
    if (line.waiting.size >= this.#limits.waitingMax) return null;
    const { promise, resolve } = Promise.withResolvers<void>();
    let started: Slot | null = null;
    const start = () => {
      started = this.#start(key, line);
      resolve();
    };
    line.waiting.add(start);
    const leave = () => {
      line.waiting.delete(start);
      started?.leave();
    };
    return { ready: promise, leave };
  }

  /** Hands a slot to the next call in the line, or frees it. */
  #pass(key: string, line: Line): void {
    line.busy -= 1;
    const next = line.waiting.values().next().value;
    if (next !== undefined) {
      line.waiting.delete(next);
      next();
    } else if (line.busy === 0) {
      this.#lines.delete(key);
    }
  }
}
