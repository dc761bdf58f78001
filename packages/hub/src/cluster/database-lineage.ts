import { readFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StartError } from '../db/data-directory.ts';
import type { Database, Reader, Tx } from '../db/engine.ts';
import { readEpoch } from '../db/epoch.ts';
import { MARK_SETTING, readHubSetting, writeHubSetting } from '../db/hub-settings.ts';

/*
 * Finds out whether a PostgreSQL is the one that the hubs have written, or was restored: from a
 * dump, which makes a new database; or to a point in time, which ends in an earlier state. An
 * operator then has to accept it, because what happened after the backup is unknown to it. A
 * standby that takes over with every acknowledged change is no restore.
 */

/** The name of the setting with the identity and the timeline of a database. */
const SETTING = 'lineage';
/** In the data directory: the latest state of the database that a hub of it has seen. */
const SEEN_FILE = 'database-seen.json';
const ACCEPT =
  'Stop all hubs and run `signalbox admin accept-restore`, which ends what was valid before the ' +
  'restore; docs/operate/backup.md explains it.';

interface Lineage {
  /** Of server, database and table: a dump that is restored makes at least a new table. */
  identity: string;
  /** A standby that takes over begins a new timeline, and so does a restore to a point in time. */
  timeline: string;
}

/** Numbers of a database that never fall, unless an earlier state is restored. */
export interface DatabaseState {
  epoch: number;
  /** Raised every two seconds by the leader, durably. */
  mark: number;
}

interface SeenState extends DatabaseState {
  identity: string;
}

/** Follows the state of the database while a hub runs. */
export interface LineageWatch {
  /**
   * Remembers the state that a heartbeat has read, also for the next start.
   * @param onError is called when it cannot be kept for the next start; once until it can.
   * @returns false if the database was restored since.
   */
  follow(state: DatabaseState, onError: (error: unknown) => void): boolean;
}

/**
 * Checks that the database was not restored since the hubs wrote it last, or that an operator has
 * accepted that.
 *
 * @throws StartError
 */
export async function openLineage(
  database: Database,
  directoryPath: string,
): Promise<LineageWatch> {
  const { reader } = database;
  const actual = await readActual(reader);
  const stored = await readStored(reader);
  if (stored !== null && stored.identity !== actual.identity) {
    throw new StartError(
      'The database was restored from a dump, or moved to another server or database, so the hub ' +
        `does not serve it. ${ACCEPT}`,
    );
  }
  if (stored !== null && stored.timeline !== actual.timeline && actual.hasRecoveryTarget) {
    throw new StartError(
      `The database was restored to a point in time, so the hub does not serve it. ${ACCEPT}`,
    );
  }
  const state = await readState(reader);
  const seen = readSeen(directoryPath);
  if (seen !== null && seen.identity === actual.identity && isBefore(state, seen)) {
    throw new StartError(
      'The database is in an earlier state than this hub has seen: it was restored to a point in ' +
        `time, or a standby without the latest changes took over. ${ACCEPT}`,
    );
  }
  if (stored?.timeline !== actual.timeline) await database.write(SETTING, adoptLineage);
  return watch(join(directoryPath, SEEN_FILE), { ...state, identity: actual.identity });
}

/** Makes this database the one that hubs serve. */
export async function adoptLineage(tx: Tx): Promise<void> {
  const { identity, timeline } = await readActual(tx);
  await writeHubSetting(tx, SETTING, JSON.stringify({ identity, timeline }));
}

async function readActual(reader: Reader): Promise<Lineage & { hasRecoveryTarget: boolean }> {
  // Some providers do not let users call it. A statement that names it would fail as a whole.
  const may = await reader.firstSql<{ may: number }>(
    `SELECT has_function_privilege('pg_control_system()', 'execute')::int AS may`,
    [],
  );
  const server =
    may?.may === 1
      ? await reader.firstSql<{ id: string }>(
          'SELECT system_identifier::text AS id FROM pg_control_system()',
          [],
        )
      : undefined;
  const row = await reader.firstSql<{ place: string; timeline: string; target: number }>(
    // Settings of a recovery stay after its end; a standby that follows a primary has none.
    `SELECT concat((SELECT oid FROM pg_database WHERE datname = current_database()), '/',
         'hub_settings'::regclass::oid) AS place,
       left(pg_walfile_name(pg_current_wal_lsn()), 8) AS timeline,
       (SELECT COUNT(*) FROM pg_settings WHERE setting <> '' AND name IN ('recovery_target',
         'recovery_target_lsn', 'recovery_target_name', 'recovery_target_time',
         'recovery_target_xid'))::int AS target`,
    [],
  );
  if (row === undefined) throw new Error('the server did not answer');
  return {
    identity: `${server?.id ?? ''}/${row.place}`,
    timeline: row.timeline,
    hasRecoveryTarget: row.target > 0,
  };
}

async function readStored(reader: Reader): Promise<Lineage | null> {
  const text = await readHubSetting(reader, SETTING);
  // Only `adoptLineage` writes it.
  return text === null ? null : (JSON.parse(text) as Lineage);
}

async function readState(reader: Reader): Promise<DatabaseState> {
  const mark = await readHubSetting(reader, MARK_SETTING);
  return { epoch: await readEpoch(reader), mark: Number(mark ?? 0) };
}

function isBefore(state: DatabaseState, seen: DatabaseState): boolean {
  // An accepted restore begins a later epoch; the mark continues from that of the backup.
  return state.epoch < seen.epoch || (state.epoch === seen.epoch && state.mark < seen.mark);
}

/** The state that a hub of this directory has seen; null without one, or after a power cut. */
function readSeen(directoryPath: string): SeenState | null {
  try {
    return JSON.parse(readFileSync(join(directoryPath, SEEN_FILE), 'utf8')) as SeenState;
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    if (isMissing || error instanceof SyntaxError) return null;
    throw error;
  }
}

function watch(path: string, first: SeenState): LineageWatch {
  const seen = { ...first };
  let isSaving = false;
  let hasFailed = false;
  /** Not synced: a file that is lost or old makes the check weaker, never wrong. */
  const save = async (onError: (error: unknown) => void) => {
    isSaving = true;
    const draft = `${path}.${process.pid}.new`;
    try {
      await writeFile(draft, JSON.stringify(seen), { mode: 0o600 });
      await rename(draft, path);
      hasFailed = false;
    } catch (error) {
      if (!hasFailed) onError(error);
      hasFailed = true;
    }
    isSaving = false;
  };
  return {
    follow(state, onError) {
      if (state.epoch !== seen.epoch || state.mark < seen.mark) return false;
      if (state.mark > seen.mark) {
        seen.mark = state.mark;
        if (!isSaving) void save(onError);
      }
      return true;
    },
  };
}
