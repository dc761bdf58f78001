import {
  type endpoints,
  type RequestInput,
  SESSION_GONE_MS,
  SESSION_LEASE_MS,
  sessionAnswers,
  type Uncertainty,
} from '@signalbox/contract';
import { HubError, invalidField } from '../base/errors.ts';
import type { Principal, RequestContext } from '../base/principal.ts';
import type { Reader, Tx } from '../db/engine.ts';
import { insertRow } from '../db/row-write.ts';
import { readRepositoryByHash } from '../repositories/store.ts';
import { runHooks } from '../start/hooks.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { OPEN_QUESTIONS_MAX } from './policy.ts';
import { presentToAsker } from './present.ts';
import { readWhole, type UncertaintyRef } from './read.ts';
import { presentWhole, requireUncertainty } from './require-uncertainty.ts';
import { resolveUncertainty } from './resolve.ts';
import {
  countOfSessions,
  listAbandoned,
  readUncertainty,
  type UncertaintyKey,
  type UncertaintyRow,
  updateWaited,
} from './store.ts';

/*
 * Questions of sessions that people start on their own machines. The question is open as long as a
 * call waits for it: a tool or its machine may be killed, and Codex ends its hook by SIGKILL when
 * its person interrupts it, so that nothing there could take the question back.
 */

type AskInput = RequestInput<typeof endpoints.sessionQuestions.ask.request>;

/**
 * Asks the person of a machine whether their coding tool may act.
 *
 * @throws HubError NOT_ALLOWED without a person's machine; LIMIT_REACHED, INVALID_REQUEST
 */
export function askForSession(
  deps: HubDeps,
  principal: Principal,
  input: AskInput,
): Promise<{ uncertaintyId: string; decisionRequestId: string }> {
  const { workspaceId } = input;
  const personId = requirePerson(principal);
  return deps.database.write(workspaceId, async (tx) => {
    if (
      (await countOfSessions(tx, workspaceId, personId, OPEN_QUESTIONS_MAX)) >= OPEN_QUESTIONS_MAX
    )
      throw new HubError('LIMIT_REACHED', `You have ${OPEN_QUESTIONS_MAX} open questions here.`);
    const row = await makeRow(deps, tx, principal, input);
    insertRow(tx, 'uncertainties', row);
    await runHooks(deps.hooks.onDecisionRequested, deps, tx, row);
    const { uncertainty_id: uncertaintyId, decision_request_id: decisionRequestId } = row;
    return { uncertaintyId, decisionRequestId };
  });
}

function requirePerson({ kind, personId }: Principal): string {
  if (kind === 'device' && personId !== null) return personId;
  throw new HubError('NOT_ALLOWED', 'Only the machine of a person asks for a session.');
}

async function makeRow(
  { ids }: HubDeps,
  tx: Tx,
  { principalId, displayName, personId }: Principal,
  { workspaceId, session, remoteUrlHash, prompt, context, deadlineAt }: AskInput,
): Promise<UncertaintyRow & { decision_request_id: string }> {
  const deadlineMs = Date.parse(deadlineAt);
  if (Number.isNaN(deadlineMs)) throw invalidField('/deadlineAt', 'must be a valid timestamp');
  const repository =
    remoteUrlHash === undefined
      ? undefined
      : await readRepositoryByHash(tx, workspaceId, remoteUrlHash);
  const options = [
    { value: sessionAnswers.allow, label: 'Allow once' },
    { value: sessionAnswers.refuse, label: 'Refuse' },
  ];
  return {
    workspace_id: workspaceId,
    uncertainty_id: ids('uncertainty'),
    decision_request_id: ids('decisionRequest'),
    repo_id: repository?.repo_id ?? null,
    run_id: null,
    job_id: null,
    status: 'open',
    kind: 'approval',
    prompt,
    context,
    // Silence is never consent: no value is assumed.
    confidence: 0,
    auto_promote_threshold: 1,
    assumed_value: '',
    assumed_reasoning: '',
    impact: '',
    reversibility: '',
    options: JSON.stringify(options),
    recommended_value: null,
    deadline_at: deadlineMs,
    on_deadline: 'keep_waiting',
    created_by: principalId,
    created_by_name: displayName,
    requested_by: personId,
    created_at: tx.nowMs,
    promoted_at: tx.nowMs,
    resolved_at: null,
    answer_job_id: null,
    answer_seen_at: null,
    hand_over_at: null,
    action_key: null,
    taken_at: null,
    // No action that rules compare, and no question is like it.
    taken_by_agent_id: null,
    alike_key: null,
    action: null,
    session: JSON.stringify(session),
    waited_until: tx.nowMs + SESSION_GONE_MS,
  };
}

/**
 * Waits for the answer of a person, at most `waitMs`, and keeps the question open meanwhile. An
 * answer that can still be withdrawn does not count.
 *
 * @throws HubError UNCERTAINTY_NOT_FOUND, NOT_ALLOWED
 */
export async function waitForSession(
  deps: HubDeps,
  { principal, waitSignal: signal }: RequestContext,
  { waitMs, ...ref }: UncertaintyRef & { waitMs: number },
): Promise<Uncertainty> {
  const { workspaceId } = ref;
  const key = { workspace_id: workspaceId, uncertainty_id: ref.uncertaintyId };
  const { reader } = deps.database;
  const keep = (leaseMs: number) =>
    deps.database.write(workspaceId, (tx) => updateWaited(tx, key, tx.nowMs + leaseMs));
  const parked = deps.decisionWaiters.park(workspaceId, ref.uncertaintyId, waitMs, signal);
  try {
    const row = await requireOfSession(reader, principal, ref);
    if (row.status === 'open') await keep(SESSION_LEASE_MS);
    if (row.status === 'open' || row.hand_over_at !== null) await parked.ended;
  } finally {
    parked.cancel();
  }
  // The caller has left: it may come back, or its session has ended.
  if (signal.aborted) await keep(SESSION_GONE_MS);
  return readWhole(deps, await requireOfSession(reader, principal, ref), presentToAsker);
}

/**
 * Dismisses a question of a session that does not wait any more, unless it is answered.
 *
 * @throws HubError UNCERTAINTY_NOT_FOUND, NOT_ALLOWED
 */
export function withdrawOfSession(
  deps: HubDeps,
  principal: Principal,
  ref: UncertaintyRef,
): Promise<Uncertainty> {
  return deps.database.write(ref.workspaceId, async (tx) => {
    await dismiss(deps, tx, await requireOfSession(tx, principal, ref));
    return presentWhole(tx, ref.workspaceId, ref.uncertaintyId);
  });
}

/** Dismisses the questions whose session does not wait any more. @returns how many there were. */
export async function withdrawAbandoned(deps: HubDeps, limit: number): Promise<number> {
  const { database, clock } = deps;
  const keys = await listAbandoned(database.reader, clock.nowMs(), limit);
  await Promise.all(
    keys.map((key) => database.write(key.workspace_id, (tx) => withdrawNow(deps, tx, key))),
  );
  return keys.length;
}

async function withdrawNow(deps: HubDeps, tx: Tx, key: UncertaintyKey): Promise<void> {
  const row = await readUncertainty(tx, key.workspace_id, key.uncertainty_id);
  // Its session may have come back since it was listed.
  if (row?.waited_until == null || row.waited_until > tx.nowMs) return;
  await dismiss(deps, tx, row);
}

async function dismiss(deps: HubDeps, tx: Tx, row: UncertaintyRow): Promise<void> {
  if (row.status !== 'open') return;
  await resolveUncertainty(deps, tx, row, {
    mode: 'dismissed',
    value: '',
    confidence: 1,
    commit_sha: null,
    created_by_job_id: null,
    created_by: null,
    created_by_id: null,
    supersede: false,
    undoMs: 0,
  });
}

async function requireOfSession(
  reader: Reader,
  principal: Principal,
  { workspaceId, uncertaintyId }: UncertaintyRef,
): Promise<UncertaintyRow> {
  requirePerson(principal);
  const row = await requireUncertainty(reader, principal, workspaceId, uncertaintyId);
  if (row.session === null) throw new HubError('UNCERTAINTY_NOT_FOUND');
  return row;
}
