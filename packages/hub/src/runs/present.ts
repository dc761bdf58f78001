import type { Run } from '@signalbox/contract';
import { timestampOf } from '../base/clock.ts';
import { askOrderOf } from '../repositories/ask-order.ts';
import type { RunRow } from './store.ts';

/** A run as it is on the wire. */
export function presentRun(row: RunRow): Run {
  return {
    runId: row.run_id,
    workspaceId: row.workspace_id,
    repoId: row.repo_id,
    runRef: row.run_ref,
    title: row.title,
    goal: row.goal,
    status: row.status,
    currentMilestone: row.current_milestone,
    runStatePath: row.run_state_path,
    blockedByDecisionRequestId: row.blocked_by_decision_request_id,
    askOrder: askOrderOf(row),
    createdAt: timestampOf(row.created_at),
    updatedAt: timestampOf(row.updated_at),
  };
}
