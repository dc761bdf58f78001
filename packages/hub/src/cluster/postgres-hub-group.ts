import { hostname } from 'node:os';
import type { Tx } from '../db/engine.ts';
import { isDemoted } from '../db/postgres/postgres-database.ts';
import type { DatabaseClock } from './database-clock.ts';
import type { LineageWatch } from './database-lineage.ts';
import { unpackHints } from './hint-payload.ts';
import { HintSender } from './hint-sender.ts';
import { type HubGroup, type HubGroupListener, type HubRow, newHubId } from './hub-group.ts';
import {
  enterHub,
  HEARTBEAT_INTERVAL_MS,
  type HeartbeatAnswer,
  leadershipEndOf,
  leaveHubs,
  sendHeartbeat,
} from './hub-heartbeat.ts';
import { HubLink } from './hub-link.ts';
import type { SchemaWatch } from './schema-watch.ts';

interface HubGroupOptions {
  url: string;
  isPooled: boolean;
  connectMs: number;
  directoryId: string;
  /** The version of this Signalbox, for operators. */
  version: string;
  /** Corrected with every heartbeat; null in tests that set the clock by hand. */
  clock: DatabaseClock | null;
  /** Learns of a newer schema with every heartbeat. */
  schema: SchemaWatch;
  lineage: LineageWatch;
}

/** A hub on PostgreSQL, which other hubs may share. */
class PostgresHubGroup implements HubGroup {
  readonly hints: HintSender;
  readonly #hub: HubRow;
  readonly #link: HubLink;
  readonly #options: HubGroupOptions;
  #listener: HubGroupListener | null = null;
  /** By `performance.now()`. */
  #leadershipEndsAtMs = 0;
  /** By `performance.now()`. */
  #answeredAtMs = performance.now();
  #others = 0;
  #isAvailable = true;
  #hasEntered = false;
  #isStopped = false;
  #isRestored = false;
  #wasLeader = false;
  /** Whether the last heartbeat failed. */
  #hasFailed = false;
  #timer: NodeJS.Timeout | null = null;
  #heartbeat: Promise<void> = Promise.resolve();

  constructor(options: HubGroupOptions) {
    this.#options = options;
    const { directoryId, version } = options;
    this.#hub = { hubId: newHubId(), host: hostname(), address: '', version, directoryId };
    this.#link = new HubLink({
      url: options.url,
      applicationName: `signalbox ${this.#hub.hubId}`,
      connectMs: options.connectMs,
      isPooled: options.isPooled,
      onNotification: (payload) => this.#receive(payload),
      onConnected: () => this.#listener?.onHints(null),
      onLost: (cause) => this.#setAvailable(false, cause),
    });
    this.hints = new HintSender({
      hubId: this.#hub.hubId,
      hasOthers: () => this.#others > 0,
      send: (payloads) => this.#link.notify(payloads),
    });
  }

  heartbeatAgeMs(): number {
    return performance.now() - this.#answeredAtMs;
  }

  get hubId(): string {
    return this.#hub.hubId;
  }

  get others(): number {
    return this.#others;
  }

  get directoryId(): string {
    return this.#hub.directoryId;
  }

  readonly isLeader = (): boolean => performance.now() < this.#leadershipEndsAtMs;

  isListening(): boolean {
    return this.#link.isListening;
  }

  enter(tx: Tx): Promise<Pick<HubRow, 'hubId' | 'directoryId'>[]> {
    this.#hasEntered = true;
    return enterHub(tx, this.#hub);
  }

  announce(address: string): void {
    // The next heartbeat writes it.
    this.#hub.address = address;
  }

  async start(listener: HubGroupListener): Promise<void> {
    await this.#link.start();
    this.#listener = listener;
    await this.#beat();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#heartbeat;
    this.#leadershipEndsAtMs = 0;
    // A hub whose start is refused has entered and has no connection yet.
    if (this.#hasEntered) await this.#link.start();
    // If the database is unavailable, the row stays: the others soon see that its heartbeat ended.
    await leaveHubs((text, values) => this.#link.query(text, values), this.hubId).catch(
      () => undefined,
    );
    await this.#link.stop();
  }

  /** Sends heartbeats until the hub stops, each an interval after the end of the one before. */
  #beat(): Promise<void> {
    this.#heartbeat = this.#beatOnce().finally(() => {
      if (this.#isStopped) return;
      this.#timer = setTimeout(() => void this.#beat(), HEARTBEAT_INTERVAL_MS);
    });
    return this.#heartbeat;
  }

  async #beatOnce(): Promise<void> {
    try {
      const ask = <Row>(...statement: Parameters<HubLink['query']>) =>
        this.#link.query<Row>(...statement);
      const answer = await sendHeartbeat(ask, this.#hub, this.#options.schema);
      this.#hasFailed = false;
      const isKept = this.#options.lineage.follow(answer.state, (error) =>
        this.#listener?.onStateFileFailure(error),
      );
      if (!isKept) return this.#endService();
      this.#apply(answer);
      this.#setAvailable(true, null);
    } catch (error) {
      if (!this.#hasFailed && !this.#isStopped) this.#listener?.onHeartbeatFailure(error);
      this.#hasFailed = true;
      // Of other failures, the link decides whether the database is unavailable or only one of its
      // connections ended.
      if (!isDemoted(error)) return;
      // The primary has become a standby; the address may lead to the new primary by now.
      this.#link.drop();
      this.#setAvailable(false, error);
    }
  }

  #apply(answer: HeartbeatAnswer): void {
    this.#options.clock?.correct(answer.nowMs, answer.beforeMs, answer.afterMs);
    this.#leadershipEndsAtMs = leadershipEndOf(answer);
    this.#answeredAtMs = answer.afterMs;
    this.#others = answer.others;
    if (answer.isLeader !== this.#wasLeader) this.#listener?.onLeadership(answer.isLeader);
    this.#wasLeader = answer.isLeader;
    this.#options.schema.note(answer.newerSchema);
  }

  /** Ends the service: this hub's state belongs to another past of the database. */
  #endService(): void {
    if (this.#isRestored) return;
    this.#leadershipEndsAtMs = 0;
    this.#setAvailable(false, new Error('The database was restored.'));
    this.#isRestored = true;
    this.#listener?.onRestored();
  }

  #setAvailable(isAvailable: boolean, cause: unknown): void {
    if (this.#isAvailable === isAvailable || this.#isStopped || this.#isRestored) return;
    this.#isAvailable = isAvailable;
    this.#listener?.onAvailability(isAvailable, cause);
  }

  #receive(payload: string): void {
    const hints = unpackHints(payload);
    if (hints?.hubId !== this.hubId) this.#listener?.onHints(hints);
  }
}

export function createHubGroup(options: HubGroupOptions): HubGroup {
  return new PostgresHubGroup(options);
}
