import { NO_WORKSPACE } from '../db/engine.ts';
import { raiseMark } from '../db/hub-settings.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { createLoop, type Loop } from './loop.ts';

/** A restore that takes back less than this may go unnoticed. */
const MARK_INTERVAL_MS = 2_000;

/**
 * Raises the mark of a database that hubs share, by which they notice that it was restored to an
 * earlier state. A database file is restored by a command that begins a new epoch.
 */
export function createDatabaseMark(
  { database, clock }: Pick<HubDeps, 'database' | 'clock'>,
  onError: (error: unknown) => void,
): Loop<void> {
  return createLoop({
    name: 'database-mark',
    intervalMs: MARK_INTERVAL_MS,
    clock,
    async work() {
      if (database.engine === 'sqlite') return;
      await database.writeConcurrent({ workspaceId: NO_WORKSPACE, keys: ['mark'] }, raiseMark);
    },
    hasMore: () => false,
    onError,
  });
}
