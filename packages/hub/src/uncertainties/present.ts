import type {
  AskedAction,
  ListedUncertainty,
  OwnSession,
  Resolution,
  Uncertainty,
  UncertaintyOption,
} from '@signalbox/contract';
import { nullableTimestampOf, timestampOf } from '../base/clock.ts';
import { titleOf } from '../jobs/title.ts';
import { stateAfter } from './policy.ts';
import type { UncertaintyRow } from './store.ts';
import type { UncertaintySummaryRow } from './store-list.ts';
import type { ResolutionRow, ResolutionSummaryRow } from './store-resolutions.ts';

/**
 * An uncertainty as the job that asked may know it: without an answer that can still be withdrawn.
 */
export function presentToAsker(
  row: UncertaintyRow,
  resolutions: readonly ResolutionRow[],
  nowMs: number,
): Uncertainty {
  if (row.hand_over_at === null) return presentUncertainty(row, resolutions, nowMs);
  const handedOver = resolutions.filter(({ is_held }) => is_held === 0);
  const before = { ...row, ...stateAfter(row, handedOver.at(-1)), hand_over_at: null };
  return presentUncertainty(before, handedOver, nowMs);
}

/**
 * An uncertainty as it is on the wire.
 *
 * @param resolutions its own, oldest first. They are read after the row, so an answer may have come
 *   in between; an uncertainty whose row is not resolved is shown without it.
 * @param nowMs decides whether it is overdue.
 */
export function presentUncertainty(
  row: UncertaintyRow,
  resolutions: readonly ResolutionRow[],
  nowMs: number,
): Uncertainty {
  const shown = row.status === 'resolved' ? resolutions.map(presentResolution) : [];
  return {
    uncertaintyId: row.uncertainty_id,
    decisionRequestId: row.decision_request_id,
    workspaceId: row.workspace_id,
    repoId: row.repo_id,
    runId: row.run_id,
    jobId: row.job_id,
    status: row.status,
    promoted: row.decision_request_id !== null,
    title: titleOf(row.prompt),
    prompt: row.prompt,
    kind: row.kind,
    confidence: row.confidence,
    context: row.context,
    impact: row.impact,
    reversibility: row.reversibility,
    assumedValue: row.assumed_value,
    assumedReasoning: row.assumed_reasoning,
    autoPromoteThreshold: row.auto_promote_threshold,
    // The value passed the contract's schema when it was written.
    options: JSON.parse(row.options) as UncertaintyOption[],
    recommendedValue: row.recommended_value,
    deadlineAt: nullableTimestampOf(row.deadline_at),
    onDeadline: row.on_deadline,
    overdue: isOverdue(row, nowMs),
    resolution: shown.at(-1) ?? null,
    resolutions: shown,
    handOverAt: nullableTimestampOf(row.hand_over_at),
    createdAt: timestampOf(row.created_at),
    promotedAt: nullableTimestampOf(row.promoted_at),
    resolvedAt: nullableTimestampOf(row.resolved_at),
    actionKey: row.action_key,
    takenAt: nullableTimestampOf(row.taken_at),
    ...(row.action !== null && { action: JSON.parse(row.action) as AskedAction }),
    ...(row.session !== null && { session: JSON.parse(row.session) as OwnSession }),
  };
}

/** An uncertainty as a row of a list. What does not apply to it is absent. */
export function presentSummary(
  row: UncertaintySummaryRow,
  last: ResolutionSummaryRow | undefined,
  nowMs: number,
): ListedUncertainty {
  const summary: ListedUncertainty = {
    uncertaintyId: row.uncertainty_id,
    repoId: row.repo_id,
    runId: row.run_id,
    status: row.status,
    title: titleOf(row.beginning),
    kind: row.kind,
    confidence: row.confidence,
    createdAt: timestampOf(row.created_at),
  };
  if (row.job_id !== null) summary.jobId = row.job_id;
  if (row.deadline_at !== null) summary.deadlineAt = timestampOf(row.deadline_at);
  if (isOverdue(row, nowMs)) summary.overdue = true;
  if (row.hand_over_at !== null) summary.handOverAt = timestampOf(row.hand_over_at);
  if (row.session !== null) summary.session = JSON.parse(row.session) as OwnSession;
  // An answer may have come after the row was read.
  if (row.status === 'resolved' && row.resolved_at !== null && last !== undefined) {
    const { mode, created_by: by } = last;
    summary.resolvedAt = timestampOf(row.resolved_at);
    summary.answer = { mode, by, title: titleOf(last.beginning) };
  }
  return summary;
}

function isOverdue(
  { status, deadline_at }: Pick<UncertaintyRow, 'status' | 'deadline_at'>,
  nowMs: number,
): boolean {
  return status === 'open' && deadline_at !== null && deadline_at <= nowMs;
}

function presentResolution(row: ResolutionRow): Resolution {
  return {
    resolutionId: row.resolution_id,
    mode: row.mode,
    value: row.value,
    confidence: row.confidence,
    commitSha: row.commit_sha,
    createdByJobId: row.created_by_job_id,
    createdBy: row.created_by,
    createdById: row.created_by_id,
    createdAt: timestampOf(row.created_at),
    ...(row.rule_id !== null && { ruleId: row.rule_id }),
  };
}
