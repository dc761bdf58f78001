import type { Resolution, Uncertainty, UncertaintyOption } from '@signalbox/contract';
import { nullableTimestampOf, timestampOf } from '../clock.ts';
import type { UncertaintyRow } from './store.ts';
import type { ResolutionRow } from './store-resolutions.ts';

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
    runId: row.run_id,
    jobId: row.job_id,
    status: row.status,
    promoted: row.decision_request_id !== null,
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
    overdue: row.status === 'open' && row.deadline_at !== null && row.deadline_at <= nowMs,
    resolution: shown.at(-1) ?? null,
    resolutions: shown,
    createdAt: timestampOf(row.created_at),
    promotedAt: nullableTimestampOf(row.promoted_at),
    resolvedAt: nullableTimestampOf(row.resolved_at),
  };
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
    createdAt: timestampOf(row.created_at),
  };
}
