import TinyQueue from 'tinyqueue';

/** The workspace and the caller that an entry is for; empty for work of the hub itself. */
export interface Beneficiary {
  readonly workspace: string;
  readonly caller: string;
}

/** How far a party that has used less than its share may precede the others. */
const CREDIT_MS = 100;
/** Parties without an entry that are remembered, for the time that they have used. */
const IDLE_PARTIES_MAX = 1_000;

/** One that shares the time of a line with others: a workspace, or one of its callers. */
class Party {
  /** The time that it has had, by the clock of its line. */
  usedMs = Number.NEGATIVE_INFINITY;
  /** Orders parties that have used the same. */
  arrival = 0;
  /** Whether it has an entry, or its latest one is not charged yet. */
  isInLine = false;
}

/** Parties by key. Of those that wait, the one that has used the least is next. */
class Parties<T extends Party> {
  readonly #create: () => T;
  readonly #byKey = new Map<string, T>();
  readonly #waiting = new TinyQueue<T>([], comesFirst);
  /** The clock of the line: the time that its latest party had had when its turn came. */
  #nowMs = 0;
  #arrivals = 0;

  constructor(create: () => T) {
    this.#create = create;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Finds a party that gets an entry; it waits from now on, or again after its latest one. */
  enter(key: string): T {
    let party = this.#byKey.get(key);
    if (party === undefined) {
      if (this.#byKey.size >= this.#waiting.length + IDLE_PARTIES_MAX) this.#forgetIdle();
      party = this.#create();
      this.#byKey.set(key, party);
    }
    if (!party.isInLine) this.wait(party);
    return party;
  }

  wait(party: T): void {
    party.isInLine = true;
    party.arrival = this.#arrivals++;
    party.usedMs = Math.max(party.usedMs, this.#nowMs - CREDIT_MS);
    this.#waiting.push(party);
  }

  /** Takes the next one, which `wait`s again or leaves the line when it has been charged. */
  take(): T | undefined {
    const party = this.#waiting.pop();
    if (party !== undefined) this.#nowMs = Math.max(this.#nowMs, party.usedMs);
    return party;
  }

  /** A forgotten party starts over as a new one. */
  #forgetIdle(): void {
    for (const [key, party] of this.#byKey) if (!party.isInLine) this.#byKey.delete(key);
  }
}

function comesFirst(a: Party, b: Party): number {
  return a.usedMs - b.usedMs || a.arrival - b.arrival;
}

class Caller<Entry> extends Party {
  readonly entries: Entry[] = [];
}

class Workspace<Entry> extends Party {
  readonly callers = new Parties(() => new Caller<Entry>());
}

/**
 * Waiting work that is handed out one entry at a time. Workspaces get equal shares of the time, and
 * so do the callers of a workspace (start-time fair queuing). So neither many entries of one caller
 * nor expensive ones delay those of others by more than one entry. A party that has used less than
 * its share precedes the others until it has had as much, within a bound: the few calls of an agent
 * that have gathered during a pause of the hub do not wait in turn with those of a caller who sends
 * without end. The entries of a caller in a workspace keep their order.
 */
export class FairLine<Entry> {
  readonly #workspaces = new Parties(() => new Workspace<Entry>());
  /** Those of the entry that was taken last. */
  #latest: { workspace: Workspace<Entry>; caller: Caller<Entry> } | null = null;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add({ workspace, caller }: Beneficiary, entry: Entry): void {
    this.#workspaces.enter(workspace).callers.enter(caller).entries.push(entry);
    this.#length += 1;
  }

  /** Takes the next entry. Call `charge` when its work has ended, before the entry after it. */
  next(): Entry | undefined {
    this.#returnLatest();
    const workspace = this.#workspaces.take();
    if (workspace === undefined) return undefined;
    const caller = workspace.callers.take();
    const entry = caller?.entries.shift();
    if (caller === undefined || entry === undefined) {
      throw new Error('a workspace in line has no waiting entry');
    }
    this.#latest = { workspace, caller };
    this.#length -= 1;
    return entry;
  }

  /** Charges the time that the latest entry took to its caller and workspace. */
  charge(tookMs: number): void {
    if (this.#latest === null) return;
    this.#latest.caller.usedMs += tookMs;
    this.#latest.workspace.usedMs += tookMs;
  }

  /** Takes all entries, in no particular order. */
  clear(): Entry[] {
    const entries: Entry[] = [];
    for (let entry = this.next(); entry !== undefined; entry = this.next()) entries.push(entry);
    return entries;
  }

  #returnLatest(): void {
    if (this.#latest === null) return;
    const { workspace, caller } = this.#latest;
    this.#latest = null;
    if (caller.entries.length > 0) workspace.callers.wait(caller);
    else caller.isInLine = false;
    if (workspace.callers.isEmpty) workspace.isInLine = false;
    else this.#workspaces.wait(workspace);
  }
}
