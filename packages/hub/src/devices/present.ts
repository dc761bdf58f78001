import {
  type AnswerOf,
  type consoleEndpoints,
  type endpoints,
  formatUserCode,
} from '@signalbox/contract';
import { timestampOf } from '../base/clock.ts';
import type { OpenedDevice } from './open-approval.ts';
import type { DeviceRow } from './store.ts';

export function presentStart(
  device: DeviceRow,
  deviceSecret: string,
  baseUrl: string,
): AnswerOf<typeof endpoints.devices.start> {
  return {
    deviceId: device.device_id,
    deviceSecret,
    approvalUrl: new URL(`/device?id=${device.device_id}`, baseUrl).href,
    userCode: formatUserCode(device.user_code),
    expiresAt: timestampOf(device.expires_at),
    intervalMs: device.interval_ms,
  };
}

/** Omits the code: the person must type the one that their terminal shows. */
export function presentOpened({
  device,
  workspace,
  status,
  needsPassword,
}: OpenedDevice): AnswerOf<typeof consoleEndpoints.deviceApprovals.open> {
  return {
    deviceId: device.device_id,
    workspaceSlug: device.workspace_slug,
    workspaceName: workspace?.name ?? null,
    machineName: device.machine_name === '' ? null : device.machine_name,
    requesterIp: device.address,
    requestedAt: timestampOf(device.created_at),
    expiresAt: timestampOf(device.expires_at),
    status,
    needsPassword,
  };
}
