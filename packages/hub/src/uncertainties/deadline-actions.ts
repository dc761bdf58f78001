import type { Tx } from '../db/engine.ts';
import type { UncertaintyDeps } from './actions.ts';
import { resolveUncertainty } from './actions.ts';
import { listDueDecisions, readUncertainty, type UncertaintyRow } from './store.ts';

/** Who resolves at a deadline, in the audit of what follows from it. */
const DEADLINE_ACTOR = 'deadline';

/**
 * Lets the assumed value stand of every open decision request that is due and says so. Those that
 * keep waiting stay open; they show as overdue.
 *
 * @returns how many were due.
 */
export async function resolveDueDecisions(deps: UncertaintyDeps, limit: number): Promise<number> {
  const { database, clock } = deps;
  const due = await listDueDecisions(database.reader, clock.nowMs(), limit);
  // Each in an action of its own: one that fails must not hold up the others.
  const settled = await Promise.allSettled(
    due.map((ref) => database.write(ref.workspace_id, (tx) => resolveAtDeadline(deps, tx, ref))),
  );
  const failed = settled.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return due.length;
}

async function resolveAtDeadline(
  deps: UncertaintyDeps,
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
    by: DEADLINE_ACTOR,
    supersede: false,
  });
}
