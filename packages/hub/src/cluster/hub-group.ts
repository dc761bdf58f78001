import { isDemoted } from '../db/postgres/postgres-errors.ts';
import type { DatabaseClock } from './database-clock.ts';
import { type Hints, unpackHints } from './hint-payload.ts';
import { HintSender } from './hint-sender.ts';
import {
  type HubRow,
  leadEndOf,
  leaveHubs,
  PULSE_INTERVAL_MS,
  type PulseAnswer,
  sendPulse,
} from './hub-heartbeat.ts';
import { newHubId } from './hub-id.ts';
import { HubLink } from './hub-link.ts';

/** A hub among those that share its database. */
export interface HubGroup {
  /** Names this process. */
  readonly hubId: string;
  /** Hubs with the same one keep the bytes of uploads at the same place. */
  readonly directoryId: string;
  /** What others should hear of; null: there are no others. */
  readonly hints: HintSender | null;
  /** Whether this hub does what only one should do; at most one leads, but for one that froze. */
  readonly isLead: () => boolean;
  /** Other hubs that are alive. */
  readonly others: number;
  /** Whether notices of others reach this hub just now. */
  isListening(): boolean;
  /** Resolves after the first sign of life. */
  start(listener: HubGroupListener): Promise<void>;
  /** Lets others lead. */
  stop(): Promise<void>;
}

export interface HubGroupListener {
  /** Is told of what others did; null: anything may have happened unheard. */
  hear(hints: Hints | null): void;
  /** Whether the database answers and can be written, when that changes. */
  onReach(isReached: boolean, cause: unknown): void;
}

export interface HubGroupOptions {
  url: string;
  isPooled: boolean;
  connectMs: number;
  directoryId: string;
  /** Told the time with each pulse; null in tests that turn the clock by hand. */
  clock: DatabaseClock | null;
}

/** On PostgreSQL, by itself or with others. */
class PostgresHubGroup implements HubGroup {
  readonly hints: HintSender;
  readonly #hub: HubRow;
  readonly #link: HubLink;
  readonly #options: HubGroupOptions;
  #listener: HubGroupListener | null = null;
  #leadEndsAt = 0;
  #others = 0;
  #isReached = true;
  #isStopped = false;
  #timer: NodeJS.Timeout | null = null;
  #pulsing: Promise<void> = Promise.resolve();

  constructor(options: HubGroupOptions) {
    this.#options = options;
    this.#hub = { hubId: newHubId(), directoryId: options.directoryId };
    this.#link = new HubLink({
      url: options.url,
      connectMs: options.connectMs,
      isPooled: options.isPooled,
      onNotice: (payload) => this.#receive(payload),
      onConnected: () => this.#listener?.hear(null),
      onLost: (cause) => this.#setReached(false, cause),
    });
    this.hints = new HintSender({
      hubId: this.#hub.hubId,
      hasOthers: () => this.#others > 0,
      notify: (payloads) => this.#link.notify(payloads),
    });
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

  readonly isLead = (): boolean => performance.now() < this.#leadEndsAt;

  isListening(): boolean {
    return this.#link.isListening;
  }

  async start(listener: HubGroupListener): Promise<void> {
    await this.#link.start();
    this.#listener = listener;
    await this.#pulse();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#pulsing;
    this.#leadEndsAt = 0;
    // Without the database there is nobody to tell; its row is missed soon enough.
    await leaveHubs((text, values) => this.#link.query(text, values), this.hubId).catch(
      () => undefined,
    );
    await this.#link.stop();
  }

  /** Again and again, each a little after the one before has ended. */
  #pulse(): Promise<void> {
    this.#pulsing = this.#sendPulse().finally(() => {
      if (this.#isStopped) return;
      this.#timer = setTimeout(() => void this.#pulse(), PULSE_INTERVAL_MS);
    });
    return this.#pulsing;
  }

  async #sendPulse(): Promise<void> {
    try {
      const ask = <Row>(...statement: Parameters<HubLink['query']>) =>
        this.#link.query<Row>(...statement);
      this.#take(await sendPulse(ask, this.#hub));
      this.#setReached(true, null);
    } catch (error) {
      // Else the link knows best whether the database is away, or only a connection of it.
      if (!isDemoted(error)) return;
      // A primary that has become a standby: what the address leads to next may be the new one.
      this.#link.drop();
      this.#setReached(false, error);
    }
  }

  #take(answer: PulseAnswer): void {
    this.#options.clock?.correct(answer.nowMs, answer.beforeMs, answer.afterMs);
    this.#leadEndsAt = leadEndOf(answer);
    this.#others = answer.others;
  }

  #setReached(isReached: boolean, cause: unknown): void {
    if (this.#isReached === isReached || this.#isStopped) return;
    this.#isReached = isReached;
    this.#listener?.onReach(isReached, cause);
  }

  #receive(payload: string): void {
    const hints = unpackHints(payload);
    if (hints?.hubId !== this.hubId) this.#listener?.hear(hints);
  }
}

export function createHubGroup(options: HubGroupOptions): HubGroup {
  return new PostgresHubGroup(options);
}
