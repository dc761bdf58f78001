import { randomBytes } from 'node:crypto';
import type { Tx } from '../db/engine.ts';
import type { Hints } from './hint-payload.ts';
import type { HintSender } from './hint-sender.ts';

/** A hub as the others of its database know it. */
export interface HubRow {
  hubId: string;
  /** The name of its machine. */
  host: string;
  /** The URL at which people and agents reach it; empty until it listens. */
  address: string;
  version: string;
  /** Hubs with the same one store the bytes of uploads in the same place. */
  directoryId: string;
}

/** This hub as a member of the hubs that share its database. */
export interface HubGroup extends Readonly<Pick<HubRow, 'hubId' | 'directoryId'>> {
  /** Notifies the other hubs; null on SQLite, where there can be no others. */
  readonly hints: HintSender | null;
  /**
   * Whether this hub does the work that only one hub should do. At most one leads, except that a
   * hub that froze may finish a piece of work while its successor already leads.
   */
  readonly isLeader: () => boolean;
  /** How many other hubs are alive. */
  readonly others: number;
  /** How long ago the database answered a heartbeat; 0 on SQLite. */
  heartbeatAgeMs(): number;
  /** Whether hints of other hubs can reach this hub at the moment. */
  isListening(): boolean;
  /**
   * Registers this hub when it starts, in an action that excludes every other.
   * @returns the other hubs that are alive.
   */
  enter(tx: Tx): Promise<Pick<HubRow, 'hubId' | 'directoryId'>[]>;
  /** Resolves after the first heartbeat. */
  start(listener: HubGroupListener): Promise<void>;
  /** Tells the other hubs and operators where this hub listens. */
  announce(address: string): void;
  /** Gives up leadership and leaves the group. */
  stop(): Promise<void>;
}

export interface HubGroupListener {
  /** Called with the hints of another hub; null: hints may have been lost. */
  onHints(hints: Hints | null): void;
  /** Called when the database becomes unavailable, and when it can be written again. */
  onAvailability(isAvailable: boolean, cause: unknown): void;
  /** Called once, when the database was restored while this hub ran; it stays unavailable. */
  onRestored(): void;
  /** Called when this hub begins or ceases to lead. */
  onLeadership(isLeader: boolean): void;
  /** Called when a heartbeat fails after one that succeeded. */
  onHeartbeatFailure(error: unknown): void;
  /** Called when the state of the database cannot be kept in the data directory. */
  onStateFileFailure(error: unknown): void;
}

/** A hub on SQLite, which is always the only one. */
export function createSingleHub(directoryId: string): HubGroup {
  return {
    hubId: newHubId(),
    directoryId,
    hints: null,
    others: 0,
    isLeader: () => true,
    heartbeatAgeMs: () => 0,
    isListening: () => true,
    enter: async () => [],
    start: async () => {},
    announce: () => {},
    stop: async () => {},
  };
}

/** An id of this process, not of the installation: each start has a new one. */
export function newHubId(): string {
  return `hub_${randomBytes(12).toString('hex')}`;
}
