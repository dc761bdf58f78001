import { hash, timingSafeEqual } from 'node:crypto';
import {
  type AnswerOf,
  DEVICE_POLL_INTERVAL_MS,
  type endpoints,
  type RequestInput,
} from '@signalbox/contract';
import { assert, HubError } from '../base/errors.ts';
import { type Database, NO_WORKSPACE } from '../db/engine.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { readWorkspace } from '../workspaces/store.ts';
import { nextInterval, statusForPoll } from './policy.ts';
import { openToken } from './sealed-token.ts';
import { type DeviceRow, readDevice, updateDevice } from './store.ts';

type PollInput = RequestInput<typeof endpoints.devices.poll.request>;
type PollAnswer = AnswerOf<typeof endpoints.devices.poll>;

/** The schema's limit for `intervalMs`. A session expires long before. */
const INTERVAL_MS_MAX = 3_600_000;

/**
 * Reports the status of a device session. Every poll of an approved session returns the token until
 * the session expires, because an answer may be lost.
 *
 * @throws HubError DEVICE_SESSION_NOT_FOUND, for an unknown id and for a wrong secret alike.
 */
export async function pollDeviceLogin(
  { database, clock }: Pick<HubDeps, 'database' | 'clock'>,
  input: PollInput,
): Promise<PollAnswer> {
  const device = await readDevice(database.reader, input.deviceId);
  const actual = hash('sha256', input.deviceSecret);
  const expected = device?.secret_hash ?? hash('sha256', '');
  const fits = timingSafeEqual(Buffer.from(actual), Buffer.from(expected));
  if (device === undefined || !fits) throw new HubError('DEVICE_SESSION_NOT_FOUND');
  const status = statusForPoll(device, clock.nowMs());
  if (status === 'approved') return presentToken(database, device, input.deviceSecret);
  return status === 'pending' ? recordPoll(database, device.device_id) : { status };
}

async function presentToken(
  database: Database,
  device: DeviceRow,
  deviceSecret: string,
): Promise<PollAnswer> {
  assert(device.workspace_id !== null, 'an approved device has a workspace');
  const workspace = await readWorkspace(database.reader, device.workspace_id);
  assert(workspace !== undefined, 'the workspace of a token exists');
  return {
    status: 'approved',
    token: openToken(device.sealed_token, device.device_id, deviceSecret),
    workspaceId: workspace.workspace_id,
    workspaceSlug: workspace.slug,
  };
}

function recordPoll(database: Database, deviceId: string): Promise<PollAnswer> {
  return database.write(NO_WORKSPACE, async (tx) => {
    const device = await readDevice(tx, deviceId);
    assert(device !== undefined, 'sessions are kept for a day');
    const intervalMs = Math.min(
      INTERVAL_MS_MAX,
      nextInterval(device, tx.nowMs, DEVICE_POLL_INTERVAL_MS),
    );
    await updateDevice(tx, deviceId, { polled_at: tx.nowMs, interval_ms: intervalMs });
    return { status: 'pending', intervalMs };
  });
}
