import { FRESH_TOTAL_MS, type IdSource } from '@signalbox/contract';
import type { Clock } from '../clock.ts';
import type { Database } from '../db/engine.ts';
import type { PrivateHosts } from '../outbound-hosts.ts';
import type { Queue } from '../queue/queue.ts';
import { ConnectionSlots } from './mail/connection-slots.ts';

export interface ContextDeps {
  database: Database;
  clock: Clock;
  ids: IdSource;
  /** For the summaries that long items may get. */
  queue: Queue;
  /** Seals mail secrets, and marks the fences of untrusted text. */
  secretKey: Buffer;
  mail: MailDeps;
}

/** How the hub reads mail for live threads. */
export interface MailDeps {
  /** Where mail servers may be beside the public internet. */
  allowPrivateHosts: PrivateHosts;
  /** All live fetching of one resolve together, in ms. */
  totalMs: number;
  /** Shared by all resolves of the hub. */
  connections: ConnectionSlots;
}

/** Of the whole hub: enough for several resolves at a time, few enough for any mail server. */
const CONNECTIONS_MAX = 8;

export function createMailDeps(allowPrivateHosts: PrivateHosts): MailDeps {
  return {
    allowPrivateHosts,
    totalMs: FRESH_TOTAL_MS,
    connections: new ConnectionSlots(CONNECTIONS_MAX),
  };
}
