import type { DeviceApprovalStatus } from '@signalbox/contract';
import { HubError } from '../base/errors.ts';
import { NO_WORKSPACE, type Reader } from '../db/engine.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import type { WorkspaceRow } from '../workspaces/store.ts';
import { type Approver, findAccess, isConfirmed } from './approver.ts';
import { isOpen, mayApprove, statusForConsole } from './policy.ts';
import { type DeviceRow, readDevice, updateDevice } from './store.ts';

export interface OpenedDevice {
  device: DeviceRow;
  /** Null if it does not exist or the person is not a member. */
  workspace: WorkspaceRow | null;
  status: DeviceApprovalStatus;
  needsPassword: boolean;
}

/**
 * Shows a device session to the person who is asked to approve it. If they may approve it, binds it
 * to their console session, so that no other person can answer it. Others do not bind it, so that a
 * stranger with the link cannot block the login.
 *
 * @throws HubError DEVICE_SESSION_NOT_FOUND, DEVICE_OPENED_ELSEWHERE
 */
export function openDevice(
  { database }: Pick<HubDeps, 'database'>,
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
      await updateDevice(tx, deviceId, { opened_by_session_id: approver.sessionId });
    }
    return {
      device,
      workspace,
      status: statusForConsole(device, tx.nowMs),
      needsPassword: !(await isConfirmed(tx, approver)),
    };
  });
}

/** @throws HubError DEVICE_SESSION_NOT_FOUND */
export async function requireDevice(reader: Reader, deviceId: string): Promise<DeviceRow> {
  const device = await readDevice(reader, deviceId);
  if (device === undefined) throw new HubError('DEVICE_SESSION_NOT_FOUND');
  return device;
}
