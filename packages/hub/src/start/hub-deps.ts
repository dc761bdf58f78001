import type { IdSource } from '@signalbox/contract';
import type { Clock } from '../base/clock.ts';
import type { SideThread } from '../base/side-thread.ts';
import type { Database } from '../db/engine.ts';
import type { ClaimWaiters } from '../queue/claim-waiters.ts';
import type { Queue } from '../queue/queue.ts';
import type { DecisionWaiters } from '../uncertainties/decision-waiters.ts';
import type { Hooks } from './hooks.ts';

/** The dependencies that operations of the hub share. Made once, in `app.ts`. */
export interface HubDeps {
  database: Database;
  clock: Clock;
  ids: IdSource;
  queue: Queue;
  waiters: ClaimWaiters;
  decisionWaiters: DecisionWaiters;
  /** The consequences in other modules of a change in one. */
  hooks: Hooks;
  /** Runs what would block the event loop, such as the redaction of long texts. */
  sideThread: SideThread;
  /** Derives the job tokens that claims return, so that a repeated claim returns the same token. */
  secretKey: Buffer;
}
