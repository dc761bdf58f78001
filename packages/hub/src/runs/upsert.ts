import type { AnswerOf, endpoints, IdSource, RequestInput } from '@signalbox/contract';
import { appendAudit } from '../audit/append.ts';
import { HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Database, Reader, Tx } from '../db/engine.ts';
import { updateRows } from '../db/row-write.ts';
import { answerOnce } from '../idempotency/answer-once.ts';
import { askOrderOf, checkAskOrder } from '../repositories/ask-order.ts';
import { requireRepository } from '../repositories/read.ts';
import { recordMilestone } from './milestones.ts';
import { mayChangeRun, mayWriteRun } from './policy.ts';
import { presentRun } from './present.ts';
import { insertRun, type RunChanges, type RunRow, readRun, readRunByRef } from './store.ts';

type UpsertByRefInput = RequestInput<typeof endpoints.runs.upsertV1.request>;
type UpdateInput = RequestInput<typeof endpoints.runs.upsertV2.request>;

export interface RunDeps {
  database: Database;
  ids: IdSource;
  /** Looks a decision request up. Given in `app.ts`, since uncertainties import runs. */
  hasDecisionRequest(
    reader: Reader,
    workspaceId: string,
    decisionRequestId: string,
  ): Promise<boolean>;
}

/** Version 1: creates or updates the run of a repository that has this reference. */
export function upsertRunByRef(
  deps: RunDeps,
  principal: Principal,
  input: UpsertByRefInput,
): Promise<AnswerOf<typeof endpoints.runs.upsertV1>> {
  return deps.database.write(input.workspaceId, (tx) =>
    answerOnce(tx, { operation: 'runsUpsertV1', principal, input }, async () => {
      const { row, created } = await saveRun(deps, tx, principal, input);
      return { runId: row.run_id, run: presentRun(row), created };
    }),
  );
}

/**
 * Creates or updates a run by its reference within a transaction.
 *
 * @throws HubError REPO_NOT_FOUND, UNCERTAINTY_NOT_FOUND; NOT_ALLOWED for the token of a job of
 *   another run, and for what a job token may not change; as `checkAskOrder` throws.
 */
async function saveRun(
  deps: RunDeps,
  tx: Tx,
  principal: Principal,
  input: UpsertByRefInput,
): Promise<{ row: RunRow; created: boolean }> {
  const { workspaceId, repoId, runRef } = input;
  await requireRepository(tx, workspaceId, repoId);
  const known = await readRunByRef(tx, workspaceId, repoId, runRef);
  if (!mayWriteRun(principal, known)) {
    throw new HubError('NOT_ALLOWED', 'A job token may only write the run of its own job.');
  }
  const changes = await makeChanges(deps, tx, principal, input);
  const row: RunRow = {
    workspace_id: workspaceId,
    run_id: deps.ids('run'),
    repo_id: repoId,
    run_ref: runRef,
    status: input.status,
    current_milestone: null,
    run_state_path: null,
    title: null,
    goal: null,
    blocked_by_decision_request_id: null,
    ask_order: null,
    created_at: tx.nowMs,
    updated_at: tx.nowMs,
    ...changes,
  };
  // If two requests create the run at once, one inserts it and the other one updates it.
  if (known === undefined && (await insertRun(tx, row)).added) {
    await recordMilestone(tx, row);
    await auditOrder(tx, principal, null, row);
    return { row, created: true };
  }
  const existing = known ?? (await readRunByRef(tx, workspaceId, repoId, runRef));
  if (existing === undefined) throw new Error('a run disappeared within the transaction');
  const updated = await changeRun(tx, principal, existing, changes);
  return { row: updated, created: false };
}

/**
 * Version 2: updates the run with this id; never creates one.
 *
 * @throws HubError RUN_NOT_FOUND, UNCERTAINTY_NOT_FOUND; NOT_ALLOWED for what a job token may not
 *   change.
 */
export function updateRunById(
  deps: RunDeps,
  principal: Principal,
  input: UpdateInput,
): Promise<RunRow> {
  const { workspaceId, runId } = input;
  return deps.database.write(workspaceId, async (tx) => {
    const row = await requireRun(tx, workspaceId, runId);
    return changeRun(tx, principal, row, await makeChanges(deps, tx, principal, input));
  });
}

async function changeRun(
  tx: Tx,
  principal: Principal,
  row: RunRow,
  changes: RunChanges,
): Promise<RunRow> {
  if (!mayChangeRun(principal, row, changes)) {
    throw new HubError(
      'NOT_ALLOWED',
      'A job token changes only currentMilestone and runStatePath: send the status that the run has.',
    );
  }
  const { workspace_id, run_id } = row;
  const set = { ...changes, updated_at: tx.nowMs };
  await updateRows(tx, 'runs', { workspace_id, run_id }, set);
  const changed = { ...row, ...set };
  await recordMilestone(tx, changed);
  await auditOrder(tx, principal, row.ask_order, changed);
  return changed;
}

/** Records a changed order of those who are told of questions. */
async function auditOrder(
  tx: Tx,
  principal: Principal,
  before: RunRow['ask_order'],
  row: RunRow,
): Promise<void> {
  if (row.ask_order === before) return;
  const { workspace_id: workspaceId, run_id: subject } = row;
  const { principalId: actor } = principal;
  const data = { askOrder: askOrderOf(row) };
  await appendAudit(tx, { workspaceId, actor, action: 'run.set-ask-order', subject, data });
}

/** @throws HubError RUN_NOT_FOUND, the same for unknown and foreign ids. */
export async function requireRun(
  reader: Reader,
  workspaceId: string,
  runId: string,
): Promise<RunRow> {
  const row = await readRun(reader, workspaceId, runId);
  if (row === undefined) throw new HubError('RUN_NOT_FOUND');
  return row;
}

/** The columns that a request changes; fields that it omits stay as they are. */
async function makeChanges(
  { hasDecisionRequest }: RunDeps,
  tx: Tx,
  principal: Principal,
  input: UpdateInput | UpsertByRefInput,
): Promise<RunChanges> {
  const { blockedByDecisionRequestId: decisionRequestId } = input;
  if (
    typeof decisionRequestId === 'string' &&
    !(await hasDecisionRequest(tx, input.workspaceId, decisionRequestId))
  ) {
    throw new HubError('UNCERTAINTY_NOT_FOUND', 'No such decision request in this workspace.');
  }
  return {
    status: input.status,
    ...(input.currentMilestone !== undefined && { current_milestone: input.currentMilestone }),
    ...(input.runStatePath !== undefined && { run_state_path: input.runStatePath }),
    ...(input.title !== undefined && { title: input.title }),
    ...(input.goal !== undefined && { goal: input.goal }),
    ...(decisionRequestId !== undefined && { blocked_by_decision_request_id: decisionRequestId }),
    ...(input.askOrder !== undefined && {
      ask_order: await checkAskOrder(tx, principal, input.workspaceId, input.askOrder),
    }),
  };
}
