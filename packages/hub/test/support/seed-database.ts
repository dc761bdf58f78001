import { firstIdSince } from '@signalbox/contract';
import type { Database, Tx } from '../../src/db/engine.ts';
import { laneIdOf } from '../../src/queue/entry.ts';
import { needsOf } from '../../src/queue/matching.ts';

/*
 * Fills a database with as many jobs as an installation gathers in years, straight in SQL: through
 * the API a million jobs take minutes. What it writes is what the API would have left behind.
 */

/** Kinds that are read only, so that any agent suits. */
const kinds = ['pr_review', 'context_architect'] as const;
/** Rows of one statement: little enough that the log of an engine stays small. */
const PIECE_ROWS = 20_000;

export interface SeedOptions {
  workspaceId: string;
  repoIds: readonly string[];
  agentIds: readonly string[];
  /** Ready jobs; half of each kind, the same for every repository. */
  pending: number;
  /** Of a hundred 98 done, one failed and one canceled, older than all pending ones. */
  finished: number;
  /** Time of the first job; one follows each millisecond. */
  startMs: number;
  /** Events of a finished job; a pending one has its first alone. */
  eventsPerJob?: number;
  promptChars?: number;
  /** Builds the indexes after the rows: right for millions of rows in an empty database. */
  rebuildIndexes?: boolean;
  onProgress?: (line: string) => void;
}

/** The id of the seeded job with a number: finished ones first, then the pending ones. */
export function seededJobId(startMs: number, number: number): string {
  return `${firstIdSince('job', startMs + number)}${number.toString(32).padStart(11, '0')}`;
}

/** Seeds jobs with their queue entries, lanes and timelines into a workspace that is there. */
export async function seedJobs(database: Database, options: SeedOptions): Promise<void> {
  const lanes = await seedLanes(database, options);
  const restore = options.rebuildIndexes === true ? await dropIndexes(database) : null;
  const total = options.finished + options.pending;
  for (let from = 0; from < total; from += PIECE_ROWS) {
    const to = Math.min(from + PIECE_ROWS, total);
    await database.write(options.workspaceId, (tx) => seedPiece(tx, options, lanes, { from, to }));
    options.onProgress?.(`${to} of ${total} jobs`);
  }
  await restore?.((line) => options.onProgress?.(line));
}

/** Adds events to the timeline of one job, behind those that it has. */
export async function seedEvents(
  database: Database,
  place: { workspaceId: string; jobId: string; atMs: number },
  count: number,
): Promise<void> {
  for (let from = 0; from < count; from += PIECE_ROWS) {
    const to = Math.min(from + PIECE_ROWS, count);
    await database.write(place.workspaceId, (tx) =>
      tx.runSql(
        `WITH RECURSIVE n(i) AS (
             SELECT CAST(? AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < ?),
           last(seq) AS (
             SELECT COALESCE(MAX(e.seq), 0) FROM jobs AS j
             JOIN job_events AS e ON e.job_key = j.job_key
             WHERE j.workspace_id = ? AND j.job_id = ?)
         INSERT INTO job_events
           (job_key, seq, kind, at, attempt, message, data)
         SELECT (SELECT job_key FROM jobs WHERE workspace_id = ? AND job_id = ?),
           last.seq + n.i - CAST(? AS BIGINT), 'log',
           CAST(? AS BIGINT) + n.i, 1,
           'line ' || n.i || ' of what the tool wrote to its standard output', '{"logSeq":1}'
         FROM n, last`,
        [
          from + 1,
          to,
          place.workspaceId,
          place.jobId,
          place.workspaceId,
          place.jobId,
          from,
          place.atMs,
        ],
      ),
    );
  }
}

/** Adds agents that were heard of at a time and serve what their capabilities name. */
export async function seedAgents(
  database: Database,
  place: { workspaceId: string; atMs: number; capabilities: Record<string, unknown> },
  count: number,
): Promise<string[]> {
  const ids = Array.from({ length: count }, (_, n) => `agt_${n.toString(16).padStart(32, '0')}`);
  await database.write(place.workspaceId, async (tx) => {
    for (const id of ids) {
      await tx.runSql(
        `INSERT INTO agents (workspace_id, agent_id, principal_id, token_id, machine_fingerprint,
           display_name, status, capabilities, last_seen_at, created_at)
         VALUES (?, ?, ?, ?, ?, ?, 'online', ?, ?, ?)`,
        [
          place.workspaceId,
          id,
          'seed',
          'tok_seed',
          id,
          id,
          JSON.stringify(place.capabilities),
          place.atMs,
          place.atMs,
        ],
      );
    }
  });
  return ids;
}

interface SeededLane {
  laneId: string;
  repoId: string;
  kind: string;
}

async function seedLanes(database: Database, options: SeedOptions): Promise<SeededLane[]> {
  const lanes = options.repoIds.flatMap((repoId) =>
    kinds.map((kind) => ({
      repoId,
      kind,
      queue: 'jobs' as const,
      requirements: JSON.stringify(needsOf(kind, undefined)),
    })),
  );
  await database.write(options.workspaceId, async (tx) => {
    for (const lane of lanes) {
      await tx.runSql(
        `INSERT INTO queue_lanes (workspace_id, lane_id, queue, repo_id, kind, requirements)
         VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
        [
          options.workspaceId,
          laneIdOf(lane),
          lane.queue,
          lane.repoId,
          lane.kind,
          lane.requirements,
        ],
      );
    }
  });
  return lanes.map((lane) => ({ laneId: laneIdOf(lane), repoId: lane.repoId, kind: lane.kind }));
}

async function seedPiece(
  tx: Tx,
  options: SeedOptions,
  lanes: readonly SeededLane[],
  { from, to }: { from: number; to: number },
): Promise<void> {
  const { workspaceId, finished, startMs, agentIds, eventsPerJob = 3, promptChars = 400 } = options;
  const job = `'job_' || ${base32(`(n.i + ${startMs})`, 9)} || ${base32('n.i', 11)}`;
  const isEnded = `n.i < ${finished}`;
  const status = `CASE WHEN NOT ${isEnded} THEN 'pending' WHEN n.i % 100 = 7 THEN 'failed'
    WHEN n.i % 100 = 57 THEN 'canceled' ELSE 'done' END`;
  const agent = `CASE WHEN ${isEnded} THEN a.agent_id END`;
  const fromRows = `FROM n JOIN l ON l.n = n.i % ${lanes.length}
    LEFT JOIN a ON a.n = n.i % ${Math.max(1, agentIds.length)}`;
  const withRows = `WITH RECURSIVE n(i) AS (
      SELECT CAST(${from} AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < ${to - 1}),
    l(n, lane_id, repo_id, kind) AS (VALUES ${lanes
      .map((lane, n) => `(${n}, '${lane.laneId}', '${lane.repoId}', '${lane.kind}')`)
      .join(', ')}),
    a(n, agent_id) AS (VALUES ${(agentIds.length === 0 ? ['agt_none'] : agentIds)
      .map((id, n) => `(${n}, '${id}')`)
      .join(', ')})`;
  const at = `n.i + ${startMs}`;
  await tx.runSql(
    `${withRows} INSERT INTO queue_entries (workspace_id, entry_id, queue, lane_id, status, hold,
       priority, sort_key, enqueued_at, available_at, attempt, attempts_max, dependencies_unmet,
       agent_id, started_at, finished_at, heartbeat_count)
     SELECT '${workspaceId}', ${job}, 'jobs', l.lane_id, ${status},
       CASE WHEN NOT ${isEnded} THEN 'ready' END, 0, ${at}, ${at}, ${at},
       CASE WHEN ${isEnded} THEN 1 ELSE 0 END, 5, 0, ${agent},
       CASE WHEN ${isEnded} THEN ${at} + 10 END, CASE WHEN ${isEnded} THEN ${at} + 1000 END, 0
     ${fromRows}`,
    [],
  );
  await tx.runSql(
    `${withRows} INSERT INTO jobs (workspace_id, job_id, repo_id, kind, role, prompt, depends_on,
       created_by, outcome, decisions)
     SELECT '${workspaceId}', ${job}, l.repo_id, l.kind, 'implementer',
       '${'Do what is to be done. '.repeat(100).slice(0, promptChars)}', '[]', 'seed',
       CASE WHEN ${isEnded} AND n.i % 50 <> 7 THEN 'done' END, '[]'
     ${fromRows}`,
    [],
  );
  for (let seq = 1; seq <= eventsPerJob; seq++) {
    const later = seq === eventsPerJob ? 'completed' : 'claimed';
    const kind = seq === 1 ? 'enqueued' : later;
    await tx.runSql(
      `${withRows} INSERT INTO job_events
         (job_key, seq, kind, at, attempt, agent_id, data)
       SELECT (SELECT j.job_key FROM jobs AS j
         WHERE j.workspace_id = '${workspaceId}' AND j.job_id = ${job}),
         ${seq}, '${kind}', ${at}, ${Math.min(seq - 1, 1)},
         ${seq === 1 ? 'NULL' : agent}, '{"by":"seed"}'
       ${fromRows} ${seq === 1 ? '' : `WHERE ${isEnded}`}`,
      [],
    );
  }
}

/** A number as so many digits of base32hex, in SQL. */
function base32(number: string, digits: number): string {
  return Array.from({ length: digits }, (_, at) => {
    const digit = `((${number} >> ${5 * (digits - 1 - at)}) & 31)`;
    return `substr('0123456789abcdefghijklmnopqrstuv', 1 + CAST(${digit} AS INTEGER), 1)`;
  }).join(' || ');
}

/** @returns what puts them back. */
async function dropIndexes(
  database: Database,
): Promise<(say: (line: string) => void) => Promise<void>> {
  const tables = `'queue_entries', 'jobs', 'job_events'`;
  const indexes = await database.reader.allSql<{ name: string; sql: string }>(
    database.engine === 'sqlite'
      ? `SELECT name, sql FROM sqlite_schema
         WHERE type = 'index' AND sql IS NOT NULL AND tbl_name IN (${tables})`
      : `SELECT i.indexname AS name, i.indexdef AS sql FROM pg_indexes i
         WHERE i.schemaname = current_schema() AND i.tablename IN (${tables})
           AND i.indexname NOT IN (SELECT conname FROM pg_constraint)`,
    [],
  );
  const statistics =
    database.engine === 'sqlite'
      ? await database.reader.allSql<{ tbl: string; idx: string; stat: string }>(
          'SELECT * FROM sqlite_stat1',
          [],
        )
      : [];
  await database.write(null, async (tx) => {
    for (const { name } of indexes) await tx.runSql(`DROP INDEX ${name}`, []);
  });
  return async (say) => {
    for (const { name, sql } of indexes) {
      await database.write(null, async (tx) => void (await tx.runSql(sql, [])));
      say(`index ${name}`);
    }
    // SQLite forgets the statistics of an index with it.
    await database.write(null, async (tx) => {
      for (const { tbl, idx, stat } of statistics) {
        await tx.runSql('DELETE FROM sqlite_stat1 WHERE tbl = ? AND idx = ?', [tbl, idx]);
        await tx.runSql('INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (?, ?, ?)', [
          tbl,
          idx,
          stat,
        ]);
      }
      if (statistics.length > 0) await tx.runSql('ANALYZE sqlite_schema', []);
    });
  };
}
