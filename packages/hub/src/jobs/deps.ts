import type { IdSource } from '@signalbox/contract';
import type { Clock } from '../clock.ts';
import type { Database } from '../db/engine.ts';
import type { ClaimWaiters } from '../queue/claim-waiters.ts';
import type { Queue } from '../queue/queue.ts';

export interface JobDeps {
  database: Database;
  clock: Clock;
  ids: IdSource;
  queue: Queue;
  waiters: ClaimWaiters;
  /** Derives the tokens that claims hand out, so that a repeated claim gets the same one. */
  secretKey: Buffer;
}
