import { type Change, changeKinds } from '@signalbox/contract';
import type { HintHandler } from '../cluster/hint-receiver.ts';
import type { HintSender } from '../cluster/hint-sender.ts';
import { type Batch, ChangeLog, PendingChanges } from './change-log.ts';
import type { CommittedChange } from './watch-writes.ts';

/** Changes within this time after an announcement share the next one. */
const ANNOUNCE_INTERVAL_MS = 50;
/** A log without listeners is kept for clients that come, or come back. */
const IDLE_LOG_MS = 10 * 60 * 1_000;
/** By then every other hub has noticed that this one listens, and sends it hints. */
const ACQUAINTED_MS = 2_000;
/** Pause between resets while hints of other hubs do not arrive or may have been lost. */
const RESET_INTERVAL_MS = 5_000;

/** Prefix of the kinds of hints between hubs. */
const HINT = 'change:';

/** An open stream. */
interface ChangeListener {
  onChanges(batch: Batch): void;
  /** Changes may have been missed. */
  onReset(): void;
  /** The hub stops. */
  onEnd(): void;
}

interface WorkspaceFeed {
  log: ChangeLog;
  pending: PendingChanges;
  listeners: Set<ChangeListener>;
  /** Whether an announcement is due, or was made within the interval. */
  isPaced: boolean;
  idleTimer: NodeJS.Timeout | null;
}

interface ChangeFeedOptions {
  /** Notifies the other hubs; null on SQLite. */
  hints: Pick<HintSender, 'notify'> | null;
  hasOthers: () => boolean;
}

/**
 * Hands committed changes, of this hub and the others, to the streams of this hub
 * (docs/decisions/0033). A workspace without a stream costs nothing but a lookup.
 */
export class ChangeFeed {
  readonly #workspaces = new Map<string, WorkspaceFeed>();
  readonly #relayed = new Map<string, PendingChanges>();
  #options: ChangeFeedOptions = { hints: null, hasOthers: () => false };
  #isRelayPaced = false;
  #resetAtMs = Number.NEGATIVE_INFINITY;
  #isClosed = false;
  #joinTimer: NodeJS.Timeout | null = null;
  #onChange: (change: CommittedChange) => void = () => {};

  /** Tells the feed of the other hubs, before it is used. */
  connect(options: ChangeFeedOptions): void {
    this.#options = options;
  }

  /** Calls a function for each change of this hub, before the caller of the change learns of it. */
  onChange(listener: (change: CommittedChange) => void): void {
    this.#onChange = listener;
  }

  /** Announces what an action of this hub has committed. */
  announce(changes: readonly CommittedChange[]): void {
    for (const change of changes) {
      const { workspaceId, kind, id } = change;
      this.#onChange(change);
      this.#addHere(workspaceId, { kind, id });
      if (this.#options.hints !== null && this.#options.hasOthers()) {
        this.#relay(workspaceId, { kind, id });
      }
    }
  }

  /** Adds a stream of a workspace until the returned function is called. */
  listen(workspaceId: string, listener: ChangeListener): { log: ChangeLog; leave: () => void } {
    const feed = this.#open(workspaceId);
    feed.listeners.add(listener);
    if (feed.idleTimer !== null) clearTimeout(feed.idleTimer);
    feed.idleTimer = null;
    const leave = () => {
      feed.listeners.delete(listener);
      this.#forgetLater(workspaceId, feed);
    };
    return { log: feed.log, leave };
  }

  /** The position of now: a stream that continues there misses nothing that happens after it. */
  position(workspaceId: string): string {
    const feed = this.#open(workspaceId);
    this.#forgetLater(workspaceId, feed);
    return feed.log.positionAt(feed.log.seq);
  }

  /** Call it when this hub begins to listen to the others, or does so again. */
  joined(): void {
    if (this.#options.hints === null) return;
    this.#resetAll();
    if (this.#joinTimer !== null) clearTimeout(this.#joinTimer);
    this.#joinTimer = setTimeout(() => {
      if (this.#options.hasOthers()) this.#resetAll();
    }, ACQUAINTED_MS);
    this.#joinTimer.unref();
  }

  /** Ends every stream. */
  close(): void {
    this.#isClosed = true;
    if (this.#joinTimer !== null) clearTimeout(this.#joinTimer);
    for (const { listeners, idleTimer } of this.#workspaces.values()) {
      if (idleTimer !== null) clearTimeout(idleTimer);
      for (const listener of [...listeners]) listener.onEnd();
    }
  }

  /** How many streams are open. */
  get count(): number {
    return [...this.#workspaces.values()].reduce((sum, { listeners }) => sum + listeners.size, 0);
  }

  /** Takes the hints of other hubs. */
  readonly hintHandler: HintHandler = {
    onWorkspaceHints: async (workspaceId, { ids, kinds, more }) => {
      if (more) this.#reset(workspaceId);
      for (const kind of changeKinds) {
        for (const id of Object.keys(ids[HINT + kind] ?? {})) {
          this.#addHere(workspaceId, { kind, id });
        }
        if (kinds.includes(HINT + kind)) this.#addHere(workspaceId, { kind, id: null });
      }
    },
    onKinds: (kinds) => {
      if (kinds === null) this.joined();
      for (const kind of changeKinds) {
        if (kinds?.includes(HINT + kind)) this.#addHere(null, { kind, id: null });
      }
    },
    look: async (mayHaveMissed) => {
      if (!mayHaveMissed || !this.#options.hasOthers() || this.#workspaces.size === 0) return false;
      if (performance.now() - this.#resetAtMs < RESET_INTERVAL_MS) return true;
      this.#resetAll();
      return false;
    },
  };

  #open(workspaceId: string): WorkspaceFeed {
    const known = this.#workspaces.get(workspaceId);
    if (known !== undefined) {
      // Without listeners nothing need wait, and who comes now is not told of what was before.
      const isHeard = known.listeners.size > 0;
      if (!isHeard && !known.pending.isEmpty) known.log.append(known.pending.take());
      return known;
    }
    const feed: WorkspaceFeed = {
      log: new ChangeLog(),
      pending: new PendingChanges(),
      listeners: new Set(),
      isPaced: false,
      idleTimer: null,
    };
    this.#workspaces.set(workspaceId, feed);
    return feed;
  }

  /** Keeps a log that has no listener for a while. */
  #forgetLater(workspaceId: string, feed: WorkspaceFeed): void {
    if (feed.listeners.size > 0 || feed.idleTimer !== null || this.#isClosed) return;
    feed.idleTimer = setTimeout(() => this.#workspaces.delete(workspaceId), IDLE_LOG_MS);
    feed.idleTimer.unref();
  }

  #addHere(workspaceId: string | null, change: Change): void {
    if (workspaceId === null) {
      for (const feed of this.#workspaces.values()) add(feed, { ...change, id: null });
      return;
    }
    const feed = this.#workspaces.get(workspaceId);
    if (feed !== undefined) add(feed, change);
  }

  #relay(workspaceId: string | null, { kind, id }: Change): void {
    if (workspaceId === null) {
      this.#options.hints?.notify(null, { kind: HINT + kind, id: null });
      return;
    }
    let pending = this.#relayed.get(workspaceId);
    if (pending === undefined) {
      pending = new PendingChanges();
      this.#relayed.set(workspaceId, pending);
    }
    pending.add({ kind, id });
    if (this.#isRelayPaced) return;
    this.#isRelayPaced = true;
    setImmediate(() => this.#sendRelayed());
  }

  /** Sends what was collected, and what is collected meanwhile after the interval. */
  #sendRelayed(): void {
    if (this.#relayed.size === 0) {
      this.#isRelayPaced = false;
      return;
    }
    for (const [workspaceId, pending] of this.#relayed) {
      for (const { kind, id } of pending.take()) {
        this.#options.hints?.notify(workspaceId, { kind: HINT + kind, id });
      }
    }
    this.#relayed.clear();
    setTimeout(() => this.#sendRelayed(), ANNOUNCE_INTERVAL_MS).unref();
  }

  #reset(workspaceId: string): void {
    const feed = this.#workspaces.get(workspaceId);
    if (feed === undefined) return;
    feed.log.forget();
    for (const listener of [...feed.listeners]) listener.onReset();
  }

  #resetAll(): void {
    this.#resetAtMs = performance.now();
    for (const workspaceId of this.#workspaces.keys()) this.#reset(workspaceId);
  }
}

function add(feed: WorkspaceFeed, change: Change): void {
  feed.pending.add(change);
  if (feed.isPaced) return;
  feed.isPaced = true;
  setImmediate(() => flush(feed));
}

function flush(feed: WorkspaceFeed): void {
  if (feed.pending.isEmpty) {
    feed.isPaced = false;
    return;
  }
  const batch = feed.log.append(feed.pending.take());
  for (const listener of [...feed.listeners]) listener.onChanges(batch);
  setTimeout(() => flush(feed), ANNOUNCE_INTERVAL_MS).unref();
}

/** The changes of several batches in one, each once. */
export function mergeBatches(batches: readonly Batch[]): Change[] {
  const merged = new PendingChanges();
  for (const { changes } of batches) for (const change of changes) merged.add(change);
  return merged.take();
}
