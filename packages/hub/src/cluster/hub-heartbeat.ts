import type { Reader, SqlValue, Tx } from '../db/engine.ts';
import { EPOCH_SETTING } from '../db/epoch.ts';
import { MARK_SETTING } from '../db/hub-settings.ts';
import type { DatabaseState } from './database-lineage.ts';
import type { HubRow } from './hub-group.ts';
import type { SchemaWatch } from './schema-watch.ts';

/** Pause between two heartbeats of a hub; also how soon another hub notices a lost leader. */
export const HEARTBEAT_INTERVAL_MS = 500;
/**
 * How long a hub leads after its last heartbeat. An expired lease must be recovered within 2 s,
 * also when the hub that would have done so died at that very moment.
 */
const LEADERSHIP_MS = 1_500;
/** A hub without a heartbeat for this long counts as stopped. */
const ALIVE_MS = 5_000;
/** Rows of stopped hubs are deleted after this time. */
const STOPPED_HUB_KEPT_MS = 60_000;

/** The database's clock at this moment, not at the start of the transaction; rounded down. */
const NOW_MS = 'floor(EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::bigint';

export interface HeartbeatAnswer {
  nowMs: number;
  isLeader: boolean;
  /** Other hubs that are alive. */
  others: number;
  /** See `SchemaWatch`. */
  newerSchema: number | null;
  /** By which a hub finds out that the database was restored. */
  state: DatabaseState;
  /** `performance.now()` before and after. */
  beforeMs: number;
  afterMs: number;
}

/** Runs one statement on a connection of its own, without a transaction around it. */
export type Ask = <Row>(text: string, values: readonly SqlValue[]) => Promise<Row[]>;

/**
 * Records that the hub is alive; takes the leadership when it is free and keeps it when this hub
 * has it, but not in a schema that it does not know. It is one statement, so the server completes
 * or undoes it, even if the hub dies.
 */
export async function sendHeartbeat(
  ask: Ask,
  hub: HubRow,
  { newerVersion }: Pick<SchemaWatch, 'newerVersion'>,
): Promise<HeartbeatAnswer> {
  const beforeMs = performance.now();
  const rows = await ask<{
    now_ms: string;
    leads: string;
    others: string;
    newer_schema: number | null;
    epoch: string | null;
    mark: string | null;
  }>(
    // A heartbeat that is lost in a crash does no harm, so it does not wait for the disk.
    `WITH clock AS MATERIALIZED (
       SELECT ${NOW_MS} AS now_ms, set_config('synchronous_commit', 'off', true) AS setting
     ),
     seen AS (
       INSERT INTO hubs (hub_id, directory_id, host, address, version, started_at, seen_at)
       SELECT $1, $2, $3, $4, $5, now_ms, now_ms FROM clock
       ON CONFLICT (hub_id) DO UPDATE SET seen_at = excluded.seen_at, address = excluded.address
     ),
     led AS (
       UPDATE hub_leases SET hub_id = $1, expires_at = now_ms + ${LEADERSHIP_MS} FROM clock
       WHERE name = 'loops' AND (hub_id = $1 OR expires_at <= now_ms)
         AND ${newerVersion} IS NULL RETURNING 1
     )
     SELECT now_ms, setting, ${newerVersion} AS newer_schema, (SELECT COUNT(*) FROM led) AS leads,
       (SELECT COUNT(*) FROM hubs, clock
        WHERE hub_id <> $1 AND seen_at > clock.now_ms - ${ALIVE_MS}) AS others,
       (SELECT value FROM hub_settings WHERE name = '${EPOCH_SETTING}') AS epoch,
       (SELECT value FROM hub_settings WHERE name = '${MARK_SETTING}') AS mark
     FROM clock`,
    [hub.hubId, hub.directoryId, hub.host, hub.address, hub.version],
  );
  const afterMs = performance.now();
  const [row] = rows;
  return {
    nowMs: Number(row?.now_ms),
    isLeader: Number(row?.leads) === 1,
    others: Number(row?.others),
    newerSchema: row?.newer_schema ?? null,
    state: { epoch: Number(row?.epoch ?? 0), mark: Number(row?.mark ?? 0) },
    beforeMs,
    afterMs,
  };
}

/** When the leadership of the hub that got this answer ends, by `performance.now()`. */
export function leadershipEndOf({ isLeader, beforeMs }: HeartbeatAnswer): number {
  // Counted from before the statement, so this hub stops earlier than another can start.
  return isLeader ? beforeMs + LEADERSHIP_MS : 0;
}

/** Lists the hubs of the database that are alive: each has sent a heartbeat lately. */
export async function listLiveHubs(
  reader: Reader,
): Promise<Pick<HubRow, 'hubId' | 'directoryId'>[]> {
  const rows = await reader.allSql<{ hub_id: string; directory_id: string }>(
    `SELECT hub_id, directory_id FROM hubs WHERE seen_at > ${NOW_MS} - ${ALIVE_MS}`,
    [],
  );
  return rows.map((row) => ({ hubId: row.hub_id, directoryId: row.directory_id }));
}

/**
 * Registers a hub that starts, in an action that excludes every other.
 * @returns the other hubs that are alive.
 */
export async function enterHub(
  tx: Tx,
  { hubId, directoryId, host, address, version }: HubRow,
): Promise<Pick<HubRow, 'hubId' | 'directoryId'>[]> {
  const others = await listLiveHubs(tx);
  await tx.runSql(`DELETE FROM hubs WHERE seen_at < ${NOW_MS} - ${STOPPED_HUB_KEPT_MS}`, [], {
    verb: 'delete',
    table: 'hubs',
  });
  await tx.runSql(
    `INSERT INTO hubs (hub_id, directory_id, host, address, version, started_at, seen_at)
     VALUES (?, ?, ?, ?, ?, ${NOW_MS}, ${NOW_MS})
     ON CONFLICT (hub_id) DO UPDATE SET seen_at = excluded.seen_at`,
    [hubId, directoryId, host, address, version],
    { verb: 'insert', table: 'hubs' },
  );
  return others;
}

/** Deletes the row of a hub that stops, so that others need not wait for it to expire. */
export async function leaveHubs(ask: Ask, hubId: string): Promise<void> {
  await ask('DELETE FROM hubs WHERE hub_id = $1', [hubId]);
  await ask("UPDATE hub_leases SET expires_at = 0 WHERE name = 'loops' AND hub_id = $1", [hubId]);
}
