import type { SqlValue, Tx } from '../db/engine.ts';

/** Between two signs of life of a hub; also how soon another notices that the lead is free. */
export const PULSE_INTERVAL_MS = 500;
/**
 * How long a hub leads after its last pulse. An expired lease is to be taken back within 2 s, also
 * when the hub that would have done so died this very moment.
 */
const LEAD_MS = 1_500;
/** A hub not heard of for so long does not run. */
const ALIVE_MS = 5_000;
/** Rows of hubs that have died are of no use to anybody after this. */
const FORGOTTEN_AFTER_MS = 60_000;

/** The database's clock at the very moment, not at the start of the transaction; rounded down. */
const NOW_MS = 'floor(EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::bigint';

export interface PulseAnswer {
  nowMs: number;
  isLead: boolean;
  /** Other hubs that are alive. */
  others: number;
  /** `performance.now()` before and after. */
  beforeMs: number;
  afterMs: number;
}

/** One statement on a connection of its own, without a transaction around it. */
export type Ask = <Row>(text: string, values: readonly SqlValue[]) => Promise<Row[]>;

export interface HubRow {
  hubId: string;
  /** Hubs with the same one keep the bytes of uploads at the same place. */
  directoryId: string;
}

/**
 * Gives a sign of life; takes the lead when it is free and keeps it when this hub has it. One
 * statement, which the server ends whatever becomes of the hub.
 */
export async function sendPulse(ask: Ask, hub: HubRow): Promise<PulseAnswer> {
  const beforeMs = performance.now();
  const rows = await ask<{ now_ms: string; leads: string; others: string }>(
    // Nothing of this is worth waiting for the disk.
    `WITH clock AS MATERIALIZED (
       SELECT ${NOW_MS} AS now_ms, set_config('synchronous_commit', 'off', true) AS setting
     ),
     seen AS (
       INSERT INTO hubs (hub_id, directory_id, started_at, seen_at)
       SELECT $1, $2, now_ms, now_ms FROM clock
       ON CONFLICT (hub_id) DO UPDATE SET seen_at = excluded.seen_at
     ),
     led AS (
       UPDATE hub_leases SET hub_id = $1, expires_at = now_ms + ${LEAD_MS} FROM clock
       WHERE name = 'loops' AND (hub_id = $1 OR expires_at <= now_ms) RETURNING 1
     )
     SELECT now_ms, setting, (SELECT COUNT(*) FROM led) AS leads,
       (SELECT COUNT(*) FROM hubs, clock
        WHERE hub_id <> $1 AND seen_at > clock.now_ms - ${ALIVE_MS}) AS others
     FROM clock`,
    [hub.hubId, hub.directoryId],
  );
  const afterMs = performance.now();
  const [row] = rows;
  return {
    nowMs: Number(row?.now_ms),
    isLead: Number(row?.leads) === 1,
    others: Number(row?.others),
    beforeMs,
    afterMs,
  };
}

/** Until when the hub leads that got this answer, as `performance.now()` tells it. */
export function leadEndOf({ isLead, beforeMs }: PulseAnswer): number {
  return isLead ? beforeMs + LEAD_MS : 0;
}

/** Enters a hub that starts, in an action that excludes every other. */
export async function enterHub(
  tx: Tx,
  { hubId, directoryId }: Readonly<HubRow>,
): Promise<{ others: HubRow[] }> {
  const alive = await tx.allSql<{ hub_id: string; directory_id: string }>(
    `SELECT hub_id, directory_id FROM hubs WHERE seen_at > ${NOW_MS} - ${ALIVE_MS}`,
    [],
  );
  await tx.runSql(`DELETE FROM hubs WHERE seen_at < ${NOW_MS} - ${FORGOTTEN_AFTER_MS}`, []);
  await tx.runSql(
    `INSERT INTO hubs (hub_id, directory_id, started_at, seen_at)
     VALUES (?, ?, ${NOW_MS}, ${NOW_MS})
     ON CONFLICT (hub_id) DO UPDATE SET seen_at = excluded.seen_at`,
    [hubId, directoryId],
  );
  return { others: alive.map((row) => ({ hubId: row.hub_id, directoryId: row.directory_id })) };
}

/** A hub that stops: others need not wait for its signs of life to be missed. */
export async function leaveHubs(ask: Ask, hubId: string): Promise<void> {
  await ask('DELETE FROM hubs WHERE hub_id = $1', [hubId]);
  await ask("UPDATE hub_leases SET expires_at = 0 WHERE name = 'loops' AND hub_id = $1", [hubId]);
}
