import type { Uncertainty } from '@signalbox/contract';
import { appendAudit } from '../audit/append.ts';
import type { Principal } from '../base/principal.ts';
import { findJob } from '../jobs/require-job.ts';
import { runHooks } from '../start/hooks.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { alreadyResolved } from './already-resolved.ts';
import { recordWait } from './hand-over.ts';
import { presentWhole, requireUncertainty } from './require-uncertainty.ts';
import { updatePromoted } from './store.ts';
import { readResolution } from './store-resolutions.ts';

/**
 * Makes an uncertainty with an assumed value a decision request in the inbox. Does nothing if it is
 * one already.
 *
 * @throws HubError UNCERTAINTY_NOT_FOUND, ALREADY_RESOLVED
 */
export function promoteUncertainty(
  deps: HubDeps,
  principal: Principal,
  { workspaceId, uncertaintyId }: { workspaceId: string; uncertaintyId: string },
): Promise<{ decisionRequestId: string; uncertainty: Uncertainty }> {
  return deps.database.write(workspaceId, async (tx) => {
    const row = await requireUncertainty(tx, principal, workspaceId, uncertaintyId);
    let decisionRequestId = row.decision_request_id;
    if (decisionRequestId === null) {
      if (row.status === 'resolved') {
        const last = await readResolution(tx, workspaceId, uncertaintyId);
        throw alreadyResolved(last, 'It cannot be promoted.');
      }
      decisionRequestId = deps.ids('decisionRequest');
      await updatePromoted(tx, row, decisionRequestId);
      await runHooks(deps.hooks.onDecisionRequested, deps, tx, row);
      const asker = row.job_id === null ? null : await findJob(tx, workspaceId, row.job_id);
      if (asker !== null) await recordWait(tx, asker);
      await appendAudit(tx, {
        workspaceId,
        actor: principal.principalId,
        action: 'uncertainty.promote',
        subject: uncertaintyId,
        data: {},
      });
    }
    const uncertainty = await presentWhole(tx, workspaceId, uncertaintyId);
    return { decisionRequestId, uncertainty };
  });
}
