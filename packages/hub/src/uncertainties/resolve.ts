import type { endpoints, RequestInput, Uncertainty } from '@signalbox/contract';
import { appendAudit } from '../audit/append.ts';
import type { Tx } from '../db/engine.ts';
import { HubError, invalidField } from '../errors.ts';
import type { HubDeps } from '../hub-deps.ts';
import { answerOnce } from '../idempotency/answer-once.ts';
import { requireJob } from '../jobs/require-job.ts';
import type { Principal } from '../principal.ts';
import { unblockRun } from '../runs/store.ts';
import { handOverAnswer } from './hand-over.ts';
import { presentWhole, requireUncertainty } from './require-uncertainty.ts';
import { type UncertaintyRow, updateResolved } from './store.ts';
import { appendResolution, type ResolutionRow } from './store-resolutions.ts';

type ResolveInput = RequestInput<typeof endpoints.uncertainties.addResolution.request>;

/** The contract's limit of an uncertainty's `resolutions`. */
const RESOLUTIONS_MAX = 1_000;

/**
 * Resolves an uncertainty. The first resolution wins, unless a later one supersedes it.
 *
 * @throws HubError UNCERTAINTY_NOT_FOUND, JOB_NOT_FOUND, ALREADY_RESOLVED, IDEMPOTENCY_CONFLICT
 */
export function addResolution(
  deps: HubDeps,
  principal: Principal,
  input: ResolveInput,
): Promise<{ resolutionId: string; uncertainty: Uncertainty; idempotent?: boolean }> {
  const { idempotencyKey: key, ...body } = input;
  const { principalId } = principal;
  const { workspaceId, uncertaintyId, supersede, createdByJobId } = input;
  const operation = 'uncertaintiesAddResolution';
  return deps.database.write(workspaceId, (tx) =>
    answerOnce(tx, { workspaceId, principalId, operation, key, body }, async () => {
      const row = await requireUncertainty(tx, workspaceId, uncertaintyId);
      if (createdByJobId !== undefined) await requireJob(tx, workspaceId, createdByJobId);
      const actor = principal.principalId;
      const resolution = await resolveUncertainty(deps, tx, row, {
        mode: input.mode,
        value: input.value,
        confidence: input.confidence,
        commit_sha: input.commitSha ?? null,
        created_by_job_id: createdByJobId ?? null,
        created_by: principal.displayName,
        by: actor,
        supersede,
      });
      if (resolution === null) throw new HubError('ALREADY_RESOLVED');
      const { resolution_id: resolutionId, mode } = resolution;
      await appendAudit(tx, {
        ...{ workspaceId, actor, action: 'uncertainty.resolve', subject: uncertaintyId },
        data: { resolutionId, mode },
      });
      const uncertainty = await presentWhole(deps.database, tx, workspaceId, uncertaintyId);
      return { resolutionId, uncertainty };
    }),
  );
}

export type ResolutionDraft = Pick<
  ResolutionRow,
  'mode' | 'value' | 'confidence' | 'commit_sha' | 'created_by_job_id' | 'created_by'
> & {
  /** The actor that the events of the jobs name. */
  by: string;
  supersede: boolean;
};

/**
 * Resolves an uncertainty within a transaction: unblocks its run, hands the answer over to a job,
 * and wakes those who wait for it.
 *
 * @returns the resolution, or null when there is one already and this one does not supersede it.
 */
export async function resolveUncertainty(
  deps: HubDeps,
  tx: Tx,
  row: UncertaintyRow,
  { by, supersede, ...draft }: ResolutionDraft,
): Promise<ResolutionRow | null> {
  const { workspace_id, uncertainty_id } = row;
  if (!(await updateResolved(tx, row, { supersede }))) return null;
  const resolution = await appendResolution(deps.database, tx, {
    workspace_id,
    uncertainty_id,
    resolution_id: deps.ids('resolution'),
    created_at: tx.nowMs,
    ...draft,
  });
  if (resolution.seq > RESOLUTIONS_MAX) {
    const limit = RESOLUTIONS_MAX.toLocaleString('en');
    throw invalidField('/supersede', `must be false after ${limit} resolutions`);
  }
  if (row.decision_request_id !== null) await unblockRun(tx, row, row.decision_request_id);
  await handOverAnswer(deps, tx, { uncertainty: row, resolution, by });
  tx.afterCommit(() => deps.decisionWaiters.wake(workspace_id, uncertainty_id));
  return resolution;
}
