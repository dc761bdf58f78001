import { timingSafeEqual } from 'node:crypto';
import {
  type consoleEndpoints,
  DEVICE_CODE_ATTEMPTS_MAX,
  type DeviceApprovalStatus,
  normalizeUserCode,
  type RequestInput,
} from '@signalbox/contract';
import { allScopes } from '../access/policy.ts';
import { appendAudit } from '../audit/append.ts';
import { addressBlockOf } from '../base/address-block.ts';
import { assert, HubError } from '../base/errors.ts';
import { NO_WORKSPACE, type Reader, type Tx } from '../db/engine.ts';
import { deleteRows, insertRow, sql } from '../db/row-write.ts';
import type { Role } from '../db/schema/tables.ts';
import { writeFound } from '../db/write-found.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { DEVICE_TOKEN_MS } from '../tokens/policy.ts';
import { insertToken } from '../tokens/store.ts';
import { readWorkspaceBySlug, type WorkspaceRow } from '../workspaces/store.ts';
import { type Approver, findAccess, isConfirmed } from './approver.ts';
import { requireDevice } from './open-approval.ts';
import { isOpen, mayApprove, WRONG_CODES_MAX, WRONG_CODES_WINDOW_MS } from './policy.ts';
import { countCodeFailures, type DeviceRow, updateDevice } from './store.ts';

type AnswerInput = RequestInput<typeof consoleEndpoints.deviceApprovals.answer.request>;

type AnswerDeps = Pick<HubDeps, 'database' | 'ids'>;

/**
 * Approves or denies a device session in one transaction, so that concurrent answers cannot answer
 * it twice or mint two tokens.
 *
 * @throws HubError as listed in the endpoint's row.
 */
export async function answerDevice(
  deps: AnswerDeps,
  input: AnswerInput,
  approver: Approver,
): Promise<DeviceApprovalStatus> {
  // Writes the audit log of the workspace, and counts wrong codes, which belong to no workspace.
  const findScope = async (reader: Reader) => {
    const device = await requireDevice(reader, input.deviceId);
    const workspace = await readWorkspaceBySlug(reader, device.workspace_slug);
    return [NO_WORKSPACE, ...(workspace === undefined ? [] : [workspace.workspace_id])];
  };
  const ending = await writeFound(deps.database, findScope, async (tx) => {
    const device = await requireDevice(tx, input.deviceId);
    const access = await findAccess(tx, device, approver);
    const answering = { deps, tx, input, approver, device, ...access };
    for (const step of answerSteps) {
      const ended = await step(answering);
      if (ended !== undefined) return ended;
    }
    assert(false, 'the last step ends the answer');
  });
  if ('refusal' in ending) throw ending.refusal;
  return ending.status;
}

/** The state that the steps of an answer share. */
interface Answering {
  deps: AnswerDeps;
  tx: Tx;
  input: AnswerInput;
  approver: Approver;
  device: DeviceRow;
  workspace: WorkspaceRow | null;
  role: Role | null;
}

/**
 * The result of an answer. A returned refusal commits what was written, such as a counted wrong
 * code; a thrown one rolls it back.
 */
type Ending = { status: DeviceApprovalStatus } | { refusal: HubError };
type Step = (answering: Answering) => Promise<Ending | undefined>;

const NEEDS_ROLE = 'Only members, admins and owners of the workspace may approve device logins.';

/** Run in this order, until one returns an ending. */
const answerSteps: readonly Step[] = [
  requireOpener,
  repeatGivenAnswer,
  requireOpenSession,
  denyIfAsked,
  requireRole,
  requireConfirmation,
  requireFewFailures,
  compareCode,
  approve,
];

async function requireOpener({ device, approver, role }: Answering) {
  if (device.opened_by_session_id === approver.sessionId) return undefined;
  if (device.opened_by_session_id !== null) throw new HubError('DEVICE_OPENED_ELSEWHERE');
  throw new HubError(
    'NOT_ALLOWED',
    mayApprove(role) ? 'Open the device session before you answer it.' : NEEDS_ROLE,
  );
}

async function repeatGivenAnswer({ device, input }: Answering) {
  const given = input.decision === 'approve' ? 'approved' : 'denied';
  return device.status === given ? { status: device.status } : undefined;
}

async function requireOpenSession({ device, tx }: Answering) {
  if (!isOpen(device, tx.nowMs)) throw new HubError('DEVICE_SESSION_CLOSED');
  return undefined;
}

async function denyIfAsked(answering: Answering) {
  return answering.input.decision === 'deny' ? deny(answering, 'person') : undefined;
}

/** Checks the role again, because it may have changed since the session was opened. */
async function requireRole({ role }: Answering) {
  if (!mayApprove(role)) {
    throw new HubError('NOT_ALLOWED', NEEDS_ROLE);
  }
  return undefined;
}

async function requireConfirmation({ tx, approver }: Answering) {
  if (!(await isConfirmed(tx, approver))) throw new HubError('CONFIRMATION_REQUIRED');
  return undefined;
}

async function requireFewFailures({ tx, approver }: Answering) {
  const sinceMs = tx.nowMs - WRONG_CODES_WINDOW_MS;
  const { count, firstAtMs } = await countCodeFailures(
    tx,
    addressBlockOf(approver.address),
    sinceMs,
  );
  if (count >= WRONG_CODES_MAX) {
    throw new HubError('RATE_LIMITED', 'Too many wrong codes were sent from this address.', {
      retryAfterMs: firstAtMs + WRONG_CODES_WINDOW_MS - tx.nowMs,
    });
  }
  return undefined;
}

async function compareCode(answering: Answering): Promise<Ending | undefined> {
  const { tx, input, approver, device } = answering;
  // A missing code is not a guess, so it is not counted.
  if (input.userCode === undefined) throw new HubError('DEVICE_CODE_MISMATCH');
  const typed = normalizeUserCode(input.userCode);
  if (typed !== null && timingSafeEqual(Buffer.from(typed), Buffer.from(device.user_code))) {
    return undefined;
  }
  const addressBlock = addressBlockOf(approver.address);
  const isOld = sql('at <= ?', tx.nowMs - WRONG_CODES_WINDOW_MS);
  await deleteRows(tx, 'device_code_failures', { address: addressBlock, also: isOld });
  insertRow(tx, 'device_code_failures', { address: addressBlock, at: tx.nowMs });
  const wrongCodes = device.wrong_codes + 1;
  await updateDevice(tx, device.device_id, { wrong_codes: wrongCodes });
  if (wrongCodes < DEVICE_CODE_ATTEMPTS_MAX)
    return { refusal: new HubError('DEVICE_CODE_MISMATCH') };
  await deny(answering, 'wrong-codes');
  return {
    refusal: new HubError(
      'DEVICE_CODE_MISMATCH',
      'The code was wrong too often, so this login was denied: start it again in the terminal.',
    ),
  };
}

async function approve({ deps, tx, approver, device, workspace }: Answering): Promise<Ending> {
  assert(workspace !== null, 'a role implies a workspace');
  const { workspace_id: workspaceId } = workspace;
  const { personId } = approver;
  const tokenId = deps.ids('token');
  await insertToken(tx, {
    workspaceId,
    tokenId,
    tokenHash: device.token_hash,
    kind: 'device',
    principalId: personId,
    personId,
    name: device.machine_name,
    scopes: allScopes,
    expiresAtMs: tx.nowMs + DEVICE_TOKEN_MS,
    createdBy: personId,
  });
  await updateDevice(tx, device.device_id, {
    status: 'approved',
    answered_at: tx.nowMs,
    workspace_id: workspaceId,
    token_id: tokenId,
  });
  const place = { machineName: device.machine_name, requesterIp: device.address };
  const actor = personId;
  await appendAudit(tx, {
    workspaceId,
    actor,
    action: 'device.approve',
    subject: device.device_id,
    data: { ...place, address: approver.address },
  });
  await appendAudit(tx, {
    workspaceId,
    actor,
    action: 'token.mint',
    subject: tokenId,
    data: { kind: 'device', deviceId: device.device_id },
  });
  return { status: 'approved' };
}

async function deny(
  { tx, approver, device, workspace }: Answering,
  cause: 'person' | 'wrong-codes',
): Promise<Ending> {
  await updateDevice(tx, device.device_id, {
    status: 'denied',
    answered_at: tx.nowMs,
  });
  // If the person is not a member of the workspace, its log is not concerned.
  if (workspace !== null) {
    await appendAudit(tx, {
      workspaceId: workspace.workspace_id,
      actor: approver.personId,
      action: 'device.deny',
      subject: device.device_id,
      data: { cause, machineName: device.machine_name, requesterIp: device.address },
    });
  }
  return { status: 'denied' };
}
