import type { DeviceApprovalStatus } from '@signalbox/contract';
import { NO_WORKSPACE, type Reader } from '../db/engine.ts';
import { assert, HubError } from '../errors.ts';
import type { WorkspaceRow } from '../workspaces/store.ts';
import { type AnswerInput, answerSteps } from './answer-approval.ts';
import { type Approver, findAccess, isConfirmed } from './approver.ts';
import { isOpen, mayApprove, statusForConsole } from './policy.ts';
import type { DeviceDeps } from './start-login.ts';
import { type DeviceRow, readDevice, updateDevice } from './store.ts';

export interface OpenedDevice {
  device: DeviceRow;
  /** Null without such a workspace, or without access to it. */
  workspace: WorkspaceRow | null;
  status: DeviceApprovalStatus;
  needsPassword: boolean;
}

/**
 * Shows a device session to the person who is to answer it, and binds it to her console session if
 * she may approve it: from then on no other can. Somebody who may not approve it binds nothing,
 * so that a stranger with the link cannot block it.
 *
 * @throws HubError DEVICE_SESSION_NOT_FOUND, DEVICE_OPENED_ELSEWHERE
 */
export function openDevice(
  { database }: DeviceDeps,
  deviceId: string,
  approver: Approver,
): Promise<OpenedDevice> {
  return database.write(NO_WORKSPACE, async (tx) => {
    const device = await requireDevice(tx, deviceId);
    const opener = device.opened_by_session_id;
    if (opener !== null && opener !== approver.sessionId) {
      throw new HubError('DEVICE_OPENED_ELSEWHERE');
    }
    const { workspace, role } = await findAccess(tx, device, approver);
    if (opener === null && isOpen(device, tx.nowMs) && mayApprove(role)) {
      await updateDevice(database, tx, deviceId, { opened_by_session_id: approver.sessionId });
    }
    return {
      device,
      workspace,
      status: statusForConsole(device, tx.nowMs),
      needsPassword: !(await isConfirmed(tx, approver)),
    };
  });
}

/**
 * Approves or denies a device session, all in one action: whatever races, a session is answered
 * once and its token is minted once.
 *
 * @throws HubError as the endpoint's row says.
 */
export async function answerDevice(
  deps: DeviceDeps,
  input: AnswerInput,
  approver: Approver,
): Promise<DeviceApprovalStatus> {
  const ending = await deps.database.write(null, async (tx) => {
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

async function requireDevice(reader: Reader, deviceId: string): Promise<DeviceRow> {
  const device = await readDevice(reader, deviceId);
  if (device === undefined) throw new HubError('DEVICE_SESSION_NOT_FOUND');
  return device;
}
