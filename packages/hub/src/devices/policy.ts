import type { Role } from '../db/schema/tables.ts';
import type { DeviceRow } from './store.ts';

/**
 * Open device sessions of one address for one workspace: enough for a fleet behind one gateway. A
 * flood for other workspaces does not block logins to this one.
 */
export const OPEN_SESSIONS_MAX = 100;
/** The same for all workspaces, so that the table stays small. */
export const OPEN_SESSIONS_OF_ADDRESS_MAX = 1_000;
/** Wrong codes that one address may send within the window. */
export const WRONG_CODES_MAX = 20;
export const WRONG_CODES_WINDOW_MS = 60 * 60 * 1_000;

/** How long an answered or expired session is kept, so that its page can still be opened. */
export const DEVICE_KEPT_MS = 24 * 60 * 60 * 1_000;

/** Whether a role may approve device logins. A viewer's machine could only read. */
export function mayApprove(role: Role | null): boolean {
  return role !== null && role !== 'viewer';
}

export function isOpen(device: Pick<DeviceRow, 'status' | 'expires_at'>, nowMs: number): boolean {
  return device.status === 'pending' && nowMs < device.expires_at;
}

/** The status for the console: an answered session stays answered after it expires. */
export function statusForConsole(
  device: DeviceRow,
  nowMs: number,
): DeviceRow['status'] | 'expired' {
  return device.status === 'pending' && !isOpen(device, nowMs) ? 'expired' : device.status;
}

/** The status for polls: an expired session hands out no token any more. */
export function statusForPoll(device: DeviceRow, nowMs: number): DeviceRow['status'] | 'expired' {
  return device.status !== 'denied' && nowMs >= device.expires_at ? 'expired' : device.status;
}

/** The next polling interval; early polls extend it (docs/reference/protocol.md, section 2.4). */
export function nextInterval(
  device: Pick<DeviceRow, 'polled_at' | 'interval_ms'>,
  nowMs: number,
  stepMs: number,
): number {
  const isEarly = device.polled_at !== null && nowMs - device.polled_at < device.interval_ms;
  return device.interval_ms + (isEarly ? stepMs : 0);
}
