import type { Tx } from '../db/engine.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { resolveUncertainty } from './resolve.ts';
import { listDueDecisions, readUncertainty, type UncertaintyRow } from './store.ts';

/**
 * Resolves overdue decision requests with their assumed value, if they opted in. Requests that keep
 * waiting stay open and are shown as overdue.
 *
 * @returns how many were due.
 */
export async function resolveDueDecisions(deps: HubDeps, limit: number): Promise<number> {
  const { database, clock } = deps;
  const due = await listDueDecisions(database.reader, clock.nowMs(), limit);
  // Each in its own transaction, so that a failure does not stop the others.
  const settled = await Promise.allSettled(
    due.map((ref) => database.write(ref.workspace_id, (tx) => resolveAtDeadline(deps, tx, ref))),
  );
  const failed = settled.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return due.length;
}

async function resolveAtDeadline(
  deps: HubDeps,
  tx: Tx,
  ref: Pick<UncertaintyRow, 'workspace_id' | 'uncertainty_id'>,
): Promise<void> {
  const row = await readUncertainty(tx, ref.workspace_id, ref.uncertainty_id);
  // A person may have answered since it was listed.
  if (row?.status !== 'open') return;
  await resolveUncertainty(deps, tx, row, {
    mode: 'assumed',
    value: row.assumed_value,
    confidence: row.confidence,
    commit_sha: null,
    created_by_job_id: null,
    created_by: null,
    created_by_id: null,
    supersede: false,
    undoMs: 0,
  });
}
