import type { endpoints, RequestInput, ResponseOf, Uncertainty } from '@signalbox/contract';
import { appendAudit } from '../audit/append.ts';
import { offerDecisionDraft } from '../cloud-ai-jobs/offer-actions.ts';
import type { Reader, Tx } from '../db/engine.ts';
import { HubError, invalidField } from '../errors.ts';
import type { HubDeps } from '../hub-deps.ts';
import { answerOnce } from '../idempotency/answer-once.ts';
import { findJob, requireJob } from '../jobs/actions.ts';
import type { Principal } from '../principal.ts';
import { requireRun } from '../runs/actions.ts';
import { unblockRun } from '../runs/store.ts';
import type { DecisionWaiters } from './decision-waiters.ts';
import { handOverAnswer, noteWait } from './handover-actions.ts';
import { isPromoted } from './policy.ts';
import { presentUncertainty } from './present.ts';
import {
  insertUncertainty,
  readUncertainty,
  type UncertaintyRow,
  updatePromoted,
  updateResolved,
} from './store.ts';
import { appendResolution, listResolutions, type ResolutionRow } from './store-resolutions.ts';

type CreateRow = typeof endpoints.uncertainties.createWithAutoPromotion;
type CreateInput = RequestInput<CreateRow['request']>;
type CreateAnswer = Omit<ResponseOf<CreateRow>, 'ok'>;
type ResolveInput = RequestInput<typeof endpoints.uncertainties.addResolution.request>;

export interface UncertaintyDeps extends HubDeps {
  decisionWaiters: DecisionWaiters;
}

/** The schema's bound of an uncertainty's `resolutions`. */
const RESOLUTIONS_MAX = 1_000;

/** Records a question; below the threshold it is a decision request at once. */
export function createUncertainty(
  deps: UncertaintyDeps,
  principal: Principal,
  input: CreateInput,
): Promise<CreateAnswer> {
  const { idempotencyKey: key, ...body } = input;
  const operation = 'uncertaintiesCreateWithAutoPromotion';
  return deps.database.write(input.workspaceId, (tx) =>
    answerOnce(tx, { workspaceId: input.workspaceId, operation, key, body }, async () => {
      const row = makeRow(deps, tx, principal, input);
      await requireRun(tx, row.workspace_id, row.run_id);
      const record =
        row.job_id === null ? null : await requireJob(tx, row.workspace_id, row.job_id);
      const jobRunId = record?.row.run_id ?? null;
      if (jobRunId !== null && jobRunId !== row.run_id) {
        throw invalidField('/jobId', 'names a job of another run');
      }
      await insertUncertainty(deps.database, tx, row);
      if (record !== null) await noteWait(tx, record);
      if (row.decision_request_id !== null) await offerDecisionDraft(deps, tx, row);
      return {
        uncertaintyId: row.uncertainty_id,
        decisionRequestId: row.decision_request_id,
        promoted: row.decision_request_id !== null,
      };
    }),
  );
}

function makeRow(
  { ids }: UncertaintyDeps,
  tx: Tx,
  principal: Principal,
  input: CreateInput,
): UncertaintyRow {
  const promoted = isPromoted(input);
  const deadlineMs = input.deadlineAt === undefined ? null : Date.parse(input.deadlineAt);
  if (Number.isNaN(deadlineMs)) throw invalidField('/deadlineAt', 'is not a time that there is');
  return {
    workspace_id: input.workspaceId,
    uncertainty_id: ids('uncertainty'),
    decision_request_id: promoted ? ids('decisionRequest') : null,
    run_id: input.runId,
    job_id: input.jobId ?? null,
    status: promoted ? 'open' : 'assumed',
    prompt: input.prompt,
    kind: input.kind,
    context: input.context,
    confidence: input.confidence,
    impact: input.impact,
    reversibility: input.reversibility,
    assumed_value: input.assumedValue,
    assumed_reasoning: input.assumedReasoning,
    auto_promote_threshold: input.autoPromoteThreshold,
    options: JSON.stringify(input.options),
    recommended_value: input.recommendedValue ?? null,
    deadline_at: deadlineMs,
    on_deadline: input.onDeadline,
    created_by: principal.principalId,
    created_at: tx.nowMs,
    promoted_at: promoted ? tx.nowMs : null,
    resolved_at: null,
    answer_job_id: null,
    answer_seen_at: null,
  };
}

/** Puts an uncertainty into the inbox whose assumed value stands so far. */
export function promoteUncertainty(
  deps: UncertaintyDeps,
  principal: Principal,
  { workspaceId, uncertaintyId }: { workspaceId: string; uncertaintyId: string },
): Promise<{ decisionRequestId: string; uncertainty: Uncertainty }> {
  return deps.database.write(workspaceId, async (tx) => {
    const row = await requireUncertainty(tx, workspaceId, uncertaintyId);
    let decisionRequestId = row.decision_request_id;
    if (decisionRequestId === null) {
      if (row.status === 'resolved') {
        throw new HubError('ALREADY_RESOLVED', 'It has a resolution: nobody need be asked.');
      }
      decisionRequestId = deps.ids('decisionRequest');
      await updatePromoted(tx, row, decisionRequestId);
      await offerDecisionDraft(deps, tx, row);
      const asker = row.job_id === null ? null : await findJob(tx, workspaceId, row.job_id);
      if (asker !== null) await noteWait(tx, asker);
      await auditUncertainty(tx, principal, 'uncertainty.promote', row, {});
    }
    return { decisionRequestId, uncertainty: await readWhole(deps, tx, row) };
  });
}

/** Answers an uncertainty: the first resolution wins, unless a later one is to supersede it. */
export function addResolution(
  deps: UncertaintyDeps,
  principal: Principal,
  input: ResolveInput,
): Promise<{ resolutionId: string; uncertainty: Uncertainty; idempotent?: boolean }> {
  const { idempotencyKey: key, ...body } = input;
  const { workspaceId, uncertaintyId, supersede, createdByJobId } = input;
  const operation = 'uncertaintiesAddResolution';
  return deps.database.write(workspaceId, (tx) =>
    answerOnce(tx, { workspaceId, operation, key, body }, async () => {
      const row = await requireUncertainty(tx, workspaceId, uncertaintyId);
      if (createdByJobId !== undefined) await requireJob(tx, workspaceId, createdByJobId);
      const resolution = await resolveUncertainty(deps, tx, row, {
        mode: input.mode,
        value: input.value,
        confidence: input.confidence,
        commit_sha: input.commitSha ?? null,
        created_by_job_id: createdByJobId ?? null,
        created_by: principal.displayName,
        by: principal.principalId,
        supersede,
      });
      if (resolution === null) throw new HubError('ALREADY_RESOLVED');
      const { resolution_id: resolutionId, mode } = resolution;
      await auditUncertainty(tx, principal, 'uncertainty.resolve', row, { resolutionId, mode });
      return { resolutionId, uncertainty: await readWhole(deps, tx, row) };
    }),
  );
}

export type ResolutionDraft = Pick<
  ResolutionRow,
  'mode' | 'value' | 'confidence' | 'commit_sha' | 'created_by_job_id' | 'created_by'
> & {
  /** Whose doing it is; kept with what the answer sets going. */
  by: string;
  supersede: boolean;
};

/**
 * Resolves an uncertainty with all that follows from it, within an action.
 *
 * @returns the resolution, or null when there was one and this is not to supersede it.
 */
export async function resolveUncertainty(
  deps: UncertaintyDeps,
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
    throw invalidField('/supersede', `was used ${RESOLUTIONS_MAX} times: that is enough`);
  }
  if (row.decision_request_id !== null) await unblockRun(tx, row, row.decision_request_id);
  await handOverAnswer(deps, tx, { uncertainty: row, resolution, by });
  tx.afterCommit(() => deps.decisionWaiters.wake(workspace_id, uncertainty_id));
  return resolution;
}

/** @throws HubError UNCERTAINTY_NOT_FOUND, the same for unknown and foreign ids. */
export async function requireUncertainty(
  reader: Reader,
  workspaceId: string,
  uncertaintyId: string,
): Promise<UncertaintyRow> {
  const row = await readUncertainty(reader, workspaceId, uncertaintyId);
  if (row === undefined) throw new HubError('UNCERTAINTY_NOT_FOUND');
  return row;
}

/** As it is after what this action wrote. */
async function readWhole(
  { database }: UncertaintyDeps,
  tx: Tx,
  { workspace_id, uncertainty_id }: UncertaintyRow,
): Promise<Uncertainty> {
  const row = await requireUncertainty(tx, workspace_id, uncertainty_id);
  const resolutions = await listResolutions(database, tx, workspace_id, [uncertainty_id]);
  return presentUncertainty(row, resolutions, tx.nowMs);
}

async function auditUncertainty(
  tx: Tx,
  principal: Principal,
  action: string,
  row: UncertaintyRow,
  data: Record<string, unknown>,
): Promise<void> {
  await appendAudit(tx, {
    workspaceId: row.workspace_id,
    actor: principal.principalId,
    action,
    subject: row.uncertainty_id,
    data,
  });
}
