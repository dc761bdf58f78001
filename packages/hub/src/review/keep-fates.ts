import type { CommentFate } from '@signalbox/contract';
import type { Tx } from '../db/engine.ts';
import type { JobRecord } from '../jobs/require-job.ts';
import { asObject } from '../queue/matching.ts';
import { listComments, updateComment } from './store.ts';

/**
 * Keeps where the lines of the threads of a work are after its round. Those that were resolved
 * meanwhile stay as they are. The `keepFates` hook.
 */
export async function keepFates(
  tx: Tx,
  { row: job }: JobRecord,
  fates: readonly CommentFate[],
): Promise<void> {
  if (fates.length === 0) return;
  const { workspace_id: workspaceId, job_id: jobId, work_job_id: workJobId, evidence } = job;
  const { commitSha } = asObject(JSON.parse(evidence ?? 'null')) ?? {};
  const isSha = typeof commitSha === 'string' && /^[0-9a-f]{1,64}$/.test(commitSha);
  const byNumber = new Map(fates.map(({ number, ...fate }) => [number, fate]));
  for (const row of await listComments(tx, workspaceId, workJobId ?? jobId)) {
    const fate = row.number === null ? undefined : byNumber.get(row.number);
    if (fate === undefined || row.replies_to !== null || row.resolved_at !== null) continue;
    const { state, path, startLine, endLine } = fate;
    const kept = { state, path, startLine, endLine, jobId, commitSha: isSha ? commitSha : null };
    await updateComment(tx, row, { fate: JSON.stringify(kept) });
  }
}
