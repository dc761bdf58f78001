import { NO_WORKSPACE } from '../db/engine.ts';
import {
  deleteHiddenPages,
  deleteOldNotifications,
  deleteOldSlackCodes,
} from '../notifications/store.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { createLoop, type Loop } from './loop.ts';

const INTERVAL_MS = 60_000;
const BATCH_MAX = 500;
/** As long as people ask why they did not hear of something. */
const KEPT_MS = 30 * 24 * 60 * 60_000;

/** Deletes notifications of long ago, pages that were closed without a report, and old codes. */
export function createNotificationRetention(
  { database, clock }: Pick<HubDeps, 'database' | 'clock'>,
  onError: (error: unknown) => void,
): Loop<number> {
  return createLoop({
    name: 'notification-retention',
    intervalMs: INTERVAL_MS,
    clock,
    work: () =>
      database.write(NO_WORKSPACE, async (tx) => {
        await deleteHiddenPages(tx);
        await deleteOldSlackCodes(tx);
        return await deleteOldNotifications(tx, tx.nowMs - KEPT_MS, BATCH_MAX);
      }),
    hasMore: (deleted) => deleted === BATCH_MAX,
    onError,
  });
}
