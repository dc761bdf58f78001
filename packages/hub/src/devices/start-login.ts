import { hash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import {
  DEVICE_POLL_INTERVAL_MS,
  DEVICE_SESSION_MS,
  type endpoints,
  type IdSource,
  type RequestInput,
  type ResponseOf,
  USER_CODE_ALPHABET,
  USER_CODE_CHARS,
} from '@signalbox/contract';
import type { Clock } from '../clock.ts';
import { type Database, NO_WORKSPACE } from '../db/engine.ts';
import { assert, HubError } from '../errors.ts';
import { drawToken, hashToken } from '../tokens/store.ts';
import { readWorkspace } from '../workspaces/store.ts';
import { nextInterval, OPEN_SESSIONS_MAX, statusForPoll } from './policy.ts';
import { openToken, sealToken } from './sealed-token.ts';
import {
  countOpenDevices,
  type DeviceRow,
  deleteOldDevices,
  insertDevice,
  readDevice,
  updateDevice,
} from './store.ts';

export interface DeviceDeps {
  database: Database;
  clock: Clock;
  ids: IdSource;
}

type StartInput = RequestInput<typeof endpoints.devices.start.request>;
type PollInput = RequestInput<typeof endpoints.devices.poll.request>;
type PollAnswer = Omit<ResponseOf<typeof endpoints.devices.poll>, 'ok'>;

const SECRET_BYTES = 32;
/** The schema's bound of `intervalMs`; the session is over long before. */
const INTERVAL_MS_MAX = 3_600_000;
/** How long the page of an answered session can still be looked at. */
export const DEVICE_KEPT_MS = 24 * 60 * 60 * 1_000;
/** More than one start adds, so that sweeping keeps up. */
const SWEPT_MAX = 10;

/**
 * Opens a device session. It looks at no workspace, so that it cannot tell whether one exists.
 *
 * The token is drawn here already, because only now does the hub hold the secret under which it
 * is sealed; it opens nothing before the approval adds its hash to the tokens.
 *
 * @returns the row, and the device secret, which is shown once.
 * @throws HubError RATE_LIMITED when the address has too many open sessions.
 */
export async function startDeviceLogin(
  { database, ids }: DeviceDeps,
  input: StartInput,
  address: string,
): Promise<{ device: DeviceRow; deviceSecret: string }> {
  const deviceId = ids('device');
  const deviceSecret = randomBytes(SECRET_BYTES).toString('base64url');
  const token = drawToken('device');
  const device = await database.write(NO_WORKSPACE, async (tx) => {
    const { count, firstExpiryMs } = await countOpenDevices(tx, address);
    if (count >= OPEN_SESSIONS_MAX) {
      throw new HubError('RATE_LIMITED', 'Too many device logins wait at this address.', {
        retryAfterMs: firstExpiryMs - tx.nowMs,
      });
    }
    await deleteOldDevices(tx, tx.nowMs - DEVICE_KEPT_MS, SWEPT_MAX);
    return insertDevice(database, tx, {
      device_id: deviceId,
      secret_hash: hash('sha256', deviceSecret),
      workspace_slug: input.workspaceSlug,
      machine_name: input.machineName ?? '',
      user_code: drawUserCode(),
      address,
      expires_at: tx.nowMs + DEVICE_SESSION_MS,
      interval_ms: DEVICE_POLL_INTERVAL_MS,
      token_hash: hashToken(token),
      sealed_token: sealToken(token, deviceId, deviceSecret),
    });
  });
  return { device, deviceSecret };
}

/**
 * Says how a device login stands. An approved one yields its token as often as it is asked for
 * until the session expires: an answer may be lost on the way.
 *
 * @throws HubError DEVICE_SESSION_NOT_FOUND, the same for a wrong id and a wrong secret.
 */
export async function pollDeviceLogin(
  { database, clock }: DeviceDeps,
  input: PollInput,
): Promise<PollAnswer> {
  const device = await readDevice(database.reader, input.deviceId);
  const actual = hash('sha256', input.deviceSecret);
  const expected = device?.secret_hash ?? hash('sha256', '');
  const fits = timingSafeEqual(Buffer.from(actual), Buffer.from(expected));
  if (device === undefined || !fits) throw new HubError('DEVICE_SESSION_NOT_FOUND');
  const status = statusForPoll(device, clock.nowMs());
  if (status === 'approved') return handOver(database, device, input.deviceSecret);
  return status === 'pending' ? notePoll(database, device.device_id) : { status };
}

async function handOver(
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

function notePoll(database: Database, deviceId: string): Promise<PollAnswer> {
  return database.write(NO_WORKSPACE, async (tx) => {
    const device = await readDevice(tx, deviceId);
    assert(device !== undefined, 'a session is kept for a day');
    const intervalMs = Math.min(
      INTERVAL_MS_MAX,
      nextInterval(device, tx.nowMs, DEVICE_POLL_INTERVAL_MS),
    );
    await updateDevice(database, tx, deviceId, { polled_at: tx.nowMs, interval_ms: intervalMs });
    return { status: 'pending', intervalMs };
  });
}

function drawUserCode(): string {
  const draw = () => USER_CODE_ALPHABET.charAt(randomInt(USER_CODE_ALPHABET.length));
  return Array.from({ length: USER_CODE_CHARS }, draw).join('');
}
