/** A waiting party: a workspace, or one of its callers. */
interface Share {
  /** Time that it has used beyond its share of the turns so far. */
  debtMs: number;
}

interface CallerShare<Entry> extends Share {
  waiting: Entry[];
}

interface WorkspaceShare<Entry> extends Share {
  /** In the order of their turns. A caller without a waiting entry is not in the map. */
  callers: Map<string, CallerShare<Entry>>;
}

/** The workspace and the caller that an entry is for; empty for work of the hub itself. */
export interface Beneficiary {
  readonly workspace: string;
  readonly caller: string;
}

/** Debt that a turn pays: about what a short write takes. */
const TURN_MS = 0.25;

/**
 * Waiting work that is handed out one entry at a time. Workspaces get equal shares of the time, and
 * so do the callers of a workspace (deficit round robin). So neither many entries of one caller nor
 * expensive ones delay those of others by more than one entry. The entries of a caller in a
 * workspace keep their order.
 */
export class FairLine<Entry> {
  /** In the order of their turns. A workspace without a waiting entry is not in the map. */
  readonly #workspaces = new Map<string, WorkspaceShare<Entry>>();
  #latest: readonly Share[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add({ workspace, caller }: Beneficiary, entry: Entry): void {
    let share = this.#workspaces.get(workspace);
    if (share === undefined) {
      share = { debtMs: 0, callers: new Map() };
      this.#workspaces.set(workspace, share);
    }
    const own = share.callers.get(caller);
    if (own === undefined) share.callers.set(caller, { debtMs: 0, waiting: [entry] });
    else own.waiting.push(entry);
    this.#length += 1;
  }

  /** Takes the next entry. Call `charge` when its work has ended. */
  next(): Entry | undefined {
    const workspace = takeTurn(this.#workspaces);
    if (workspace === undefined) return undefined;
    const [workspaceKey, workspaceShare] = workspace;
    const [callerKey, callerShare] = takeTurn(workspaceShare.callers) ?? [];
    const entry = callerShare?.waiting.shift();
    if (callerKey === undefined || callerShare === undefined || entry === undefined) {
      throw new Error('a workspace in line has no waiting entry');
    }
    if (callerShare.waiting.length === 0) workspaceShare.callers.delete(callerKey);
    if (workspaceShare.callers.size === 0) this.#workspaces.delete(workspaceKey);
    this.#latest = [workspaceShare, callerShare];
    this.#length -= 1;
    return entry;
  }

  /** Charges the time that the latest entry took to its caller and workspace. */
  charge(tookMs: number): void {
    for (const share of this.#latest) share.debtMs += tookMs;
  }

  /** Takes all entries, in no particular order. */
  clear(): Entry[] {
    const entries: Entry[] = [];
    for (let entry = this.next(); entry !== undefined; entry = this.next()) entries.push(entry);
    return entries;
  }
}

/** Finds the first share without a debt. It and those before it move to the end of the order. */
function takeTurn<T extends Share>(shares: Map<string, T>): [string, T] | undefined {
  for (;;) {
    const first = shares.entries().next().value;
    if (first === undefined) return undefined;
    const [key, share] = first;
    shares.delete(key);
    shares.set(key, share);
    if (share.debtMs <= 0) return first;
    share.debtMs -= TURN_MS;
  }
}
