import type { AnswerOf, endpoints, RequestInput } from '@signalbox/contract';
import { appendAudit } from '../audit/append.ts';
import { HubError, invalidField } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Tx } from '../db/engine.ts';
import { answerOnce } from '../idempotency/answer-once.ts';
import { requireJob } from '../jobs/require-job.ts';
import { runHooks } from '../start/hooks.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { alreadyResolved } from './already-resolved.ts';
import { applyResolution } from './apply-resolution.ts';
import { isByEndOfJob } from './policy.ts';
import { presentWhole, requireAnswerable } from './require-uncertainty.ts';
import { type UncertaintyRow, updateResolved } from './store.ts';
import {
  appendResolution,
  listResolutions,
  type ResolutionRow,
  readResolution,
} from './store-resolutions.ts';

type ResolveInput = RequestInput<typeof endpoints.uncertainties.addResolution.request>;
type Resolved = AnswerOf<typeof endpoints.uncertainties.addResolution>;

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
): Promise<Resolved> {
  return deps.database.write(input.workspaceId, (tx) => resolveAs(deps, tx, principal, input, {}));
}

/**
 * Does the same within a transaction.
 *
 * @param origin how the answer came, for the audit log.
 */
export function resolveAs(
  deps: HubDeps,
  tx: Tx,
  principal: Principal,
  input: ResolveInput,
  origin: { via?: string },
): Promise<Resolved> {
  const { workspaceId, uncertaintyId, supersede, createdByJobId } = input;
  const call = {
    operation: 'uncertaintiesAddResolution',
    principal,
    input,
    // It was withdrawn.
    isStale: async (_tx: Tx, { resolutionId }: { resolutionId: string }) =>
      (await listResolutions(tx, workspaceId, [uncertaintyId])).every(
        ({ resolution_id }) => resolution_id !== resolutionId,
      ),
  };
  return answerOnce(tx, call, async () => {
    const row = await requireAnswerable(tx, principal, workspaceId, uncertaintyId);
    if (createdByJobId !== undefined) await requireJob(tx, workspaceId, createdByJobId);
    const actor = principal.principalId;
    const resolution = await resolveUncertainty(deps, tx, row, {
      mode: input.mode,
      value: input.value,
      confidence: input.confidence,
      commit_sha: input.commitSha ?? null,
      created_by_job_id: createdByJobId ?? null,
      created_by: principal.displayName,
      created_by_id: actor,
      // The session has used its answer.
      supersede: supersede && row.session === null,
      undoMs: input.undoMs,
    });
    if (resolution === null) {
      throw refuseLate(row, await readResolution(tx, workspaceId, uncertaintyId));
    }
    const { resolution_id: resolutionId, mode } = resolution;
    await appendAudit(tx, {
      workspaceId,
      actor,
      action: 'uncertainty.resolve',
      subject: uncertaintyId,
      data: { resolutionId, mode, ...origin },
    });
    const uncertainty = await presentWhole(tx, workspaceId, uncertaintyId);
    return { resolutionId, uncertainty };
  });
}

function refuseLate({ session }: UncertaintyRow, last: ResolutionRow | undefined): HubError {
  if (session === null) return alreadyResolved(last, 'Send supersede to replace the answer.');
  if (isByEndOfJob(last)) {
    return new HubError('ALREADY_RESOLVED', 'The session does not wait for an answer any more.');
  }
  return alreadyResolved(last, 'The session has it: it cannot be replaced.');
}

export type ResolutionDraft = Pick<
  ResolutionRow,
  | 'mode'
  | 'value'
  | 'confidence'
  | 'commit_sha'
  | 'created_by_job_id'
  | 'created_by'
  | 'created_by_id'
> & {
  /** The rule that answers. Absent: a person, or the deadline. */
  rule_id?: string | null;
  supersede: boolean;
  /** How long it can be withdrawn; it is handed over afterwards. */
  undoMs: number;
};

/**
 * Resolves an uncertainty within a transaction, and hands the answer over, now or after `undoMs`.
 *
 * @returns the resolution, or null when there is one already and this one does not supersede it.
 */
export async function resolveUncertainty(
  deps: HubDeps,
  tx: Tx,
  row: UncertaintyRow,
  { supersede, undoMs, rule_id = null, ...draft }: ResolutionDraft,
): Promise<ResolutionRow | null> {
  const { workspace_id, uncertainty_id } = row;
  const handOverAtMs = undoMs === 0 ? null : tx.nowMs + undoMs;
  if (!(await updateResolved(tx, row, { supersede, handOverAtMs }))) return null;
  const resolution = await appendResolution(tx, {
    workspace_id,
    uncertainty_id,
    resolution_id: deps.ids('resolution'),
    created_at: tx.nowMs,
    is_held: handOverAtMs === null ? 0 : 1,
    rule_id,
    ...draft,
  });
  if (resolution.seq > RESOLUTIONS_MAX) {
    const limit = RESOLUTIONS_MAX.toLocaleString('en');
    throw invalidField('/supersede', `must be false after ${limit} resolutions`);
  }
  await runHooks(deps.hooks.onDecisionResolved, deps, tx, row);
  if (handOverAtMs === null) await applyResolution(deps, tx, row, resolution);
  return resolution;
}
