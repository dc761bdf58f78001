import { UNDO_MS_MAX, type Uncertainty } from '@signalbox/contract';
import { appendAudit } from '../audit/append.ts';
import { isRecent } from '../base/clock.ts';
import { HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Tx } from '../db/engine.ts';
import { deleteRows, updateRows } from '../db/row-write.ts';
import { findJob } from '../jobs/require-job.ts';
import { runHooks } from '../start/hooks.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { alreadyResolved } from './already-resolved.ts';
import { dismissOfEnded } from './dismiss-questions.ts';
import { recordWait } from './hand-over.ts';
import { stateAfter } from './policy.ts';
import { presentWhole, requireAnswerable } from './require-uncertainty.ts';
import type { UncertaintyRow } from './store.ts';
import { listResolutions, type ResolutionRow } from './store-resolutions.ts';

/**
 * Takes back an answer that was not handed over yet, for the one who gave it. Does nothing if it
 * was taken back before.
 *
 * @throws HubError UNCERTAINTY_NOT_FOUND, ALREADY_RESOLVED, NOT_ALLOWED
 */
export function withdrawResolution(
  deps: HubDeps,
  principal: Principal,
  input: { workspaceId: string; uncertaintyId: string; resolutionId: string },
): Promise<Uncertainty> {
  const { workspaceId, uncertaintyId, resolutionId } = input;
  return deps.database.write(workspaceId, async (tx) => {
    const row = await requireAnswerable(tx, principal, workspaceId, uncertaintyId);
    const all = await listResolutions(tx, workspaceId, [uncertaintyId]);
    if (all.some(({ resolution_id }) => resolution_id === resolutionId)) {
      requireWithdrawable(tx, principal, { row, all, resolutionId });
      await withdraw(deps, tx, row, all);
      await appendAudit(tx, {
        workspaceId,
        actor: principal.principalId,
        action: 'uncertainty.withdraw',
        subject: uncertaintyId,
        data: { resolutionId },
      });
    }
    return presentWhole(tx, workspaceId, uncertaintyId);
  });
}

function requireWithdrawable(
  tx: Tx,
  { principalId }: Principal,
  { row, all, resolutionId }: { row: UncertaintyRow; all: ResolutionRow[]; resolutionId: string },
): void {
  const resolution = all.find(({ resolution_id }) => resolution_id === resolutionId);
  if (resolution?.created_by_id !== principalId) {
    throw new HubError('NOT_ALLOWED', 'Only the one who gave an answer may withdraw it.');
  }
  const last = all.at(-1);
  const isHeld =
    row.hand_over_at !== null &&
    row.hand_over_at > tx.nowMs &&
    isRecent(resolution.created_at, tx.nowMs, UNDO_MS_MAX);
  if (last?.resolution_id === resolutionId && isHeld) return;
  throw alreadyResolved(
    last,
    'It was handed over: send a resolution with supersede to replace it.',
  );
}

/** Restores what was before the last resolution. */
async function withdraw(
  deps: HubDeps,
  tx: Tx,
  row: UncertaintyRow,
  all: ResolutionRow[],
): Promise<void> {
  const last = all.at(-1);
  const before = all.at(-2);
  if (last === undefined) return;
  const { workspace_id, uncertainty_id, seq } = last;
  // The audit log keeps what it was.
  await deleteRows(tx, 'resolutions', { workspace_id, uncertainty_id, seq });
  const state = {
    ...stateAfter(row, before),
    // The answer that it superseded may have been held as well, and is now due.
    hand_over_at: before?.is_held === 1 ? tx.nowMs : null,
  };
  await updateRows(tx, 'uncertainties', { workspace_id, uncertainty_id }, state);
  await runHooks(deps.hooks.onDecisionReopened, deps, tx, row);
  const { workspace_id: workspaceId, job_id: jobId } = row;
  const asker = jobId === null ? null : await findJob(tx, workspaceId, jobId);
  if (asker === null) return;
  await recordWait(tx, asker);
  // The end of the job has dismissed the other ones.
  const { status } = asker.entry;
  if (status === 'failed' || status === 'canceled') {
    await dismissOfEnded(deps, tx, { workspaceId, jobId: asker.row.job_id });
  }
}
