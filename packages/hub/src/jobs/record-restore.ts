import type { Tx } from '../db/engine.ts';

/**
 * Appends an event to the timeline of every job that waits in the queue or for a person. Running
 * jobs get one with the end of their attempt.
 */
export async function recordRestore(tx: Tx, message: string): Promise<void> {
  await tx.runSql(
    `INSERT INTO job_events (job_key, seq, kind, at, attempt, agent_id, message, data)
     SELECT j.job_key,
       (SELECT COALESCE(MAX(e.seq), 0) + 1 FROM job_events AS e WHERE e.job_key = j.job_key),
       'log', ?, q.attempt, NULL, ?, NULL
     FROM queue_entries AS q
     JOIN jobs AS j ON j.workspace_id = q.workspace_id AND j.job_id = q.entry_id
     WHERE q.status IN ('pending', 'blocked')`,
    [tx.nowMs, message],
    { verb: 'insert', table: 'job_events' },
  );
}
