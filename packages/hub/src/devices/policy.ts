import type { Role } from '../db/schema/tables.ts';
import type { DeviceRow } from './store.ts';

/** Open device sessions of one address: a fleet behind one gateway fits, a flood does not. */
export const OPEN_SESSIONS_MAX = 100;
/** Wrong codes of one address within the window. */
export const WRONG_CODES_MAX = 20;
export const WRONG_CODES_WINDOW_MS = 60 * 60 * 1_000;

/** A viewer reads; a machine of hers could not do more, so there is nothing to log in. */
export function mayApprove(role: Role | null): boolean {
  return role !== null && role !== 'viewer';
}

export function isOpen(device: Pick<DeviceRow, 'status' | 'expires_at'>, nowMs: number): boolean {
  return device.status === 'pending' && nowMs < device.expires_at;
}

/** What the console shows: an answer stays an answer after the session's time. */
export function statusForConsole(
  device: DeviceRow,
  nowMs: number,
): DeviceRow['status'] | 'expired' {
  return device.status === 'pending' && !isOpen(device, nowMs) ? 'expired' : device.status;
}

/** What a poll learns: after the session's time no token is handed out any more. */
export function statusForPoll(device: DeviceRow, nowMs: number): DeviceRow['status'] | 'expired' {
  return device.status !== 'denied' && nowMs >= device.expires_at ? 'expired' : device.status;
}

/** The interval to wait from now on; polling early makes it longer (contract, section 2). */
export function nextInterval(
  device: Pick<DeviceRow, 'polled_at' | 'interval_ms'>,
  nowMs: number,
  stepMs: number,
): number {
  const isEarly = device.polled_at !== null && nowMs - device.polled_at < device.interval_ms;
  return device.interval_ms + (isEarly ? stepMs : 0);
}
