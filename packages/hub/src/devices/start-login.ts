import { hash, randomBytes, randomInt } from 'node:crypto';
import {
  DEVICE_POLL_INTERVAL_MS,
  DEVICE_SESSION_MS,
  type endpoints,
  type RequestInput,
  USER_CODE_ALPHABET,
  USER_CODE_CHARS,
} from '@signalbox/contract';
import { addressBlockOf } from '../base/address-block.ts';
import { HubError } from '../base/errors.ts';
import { NO_WORKSPACE } from '../db/engine.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { drawToken, hashToken } from '../tokens/store.ts';
import { DEVICE_KEPT_MS, OPEN_SESSIONS_MAX, OPEN_SESSIONS_OF_ADDRESS_MAX } from './policy.ts';
import { sealToken } from './sealed-token.ts';
import { countOpenDevices, type DeviceRow, deleteOldDevices, insertDevice } from './store.ts';

type StartInput = RequestInput<typeof endpoints.devices.start.request>;

const SECRET_BYTES = 32;
/** Old sessions that each start deletes: more than it adds, so that the table stays small. */
const DELETED_MAX = 10;

/**
 * Starts a device session. Does not look at the workspace, so that the answer cannot reveal whether
 * it exists.
 *
 * Generates the token already, because only now does the hub have the secret that the token is
 * sealed with. The token is not valid before the approval adds its hash to the tokens.
 *
 * @returns the row, and the device secret, which is shown once.
 * @throws HubError RATE_LIMITED when the address has too many open sessions for the workspace.
 */
export async function startDeviceLogin(
  { database, ids }: Pick<HubDeps, 'database' | 'ids'>,
  input: StartInput,
  address: string,
): Promise<{ device: DeviceRow; deviceSecret: string }> {
  const deviceId = ids('device');
  const deviceSecret = randomBytes(SECRET_BYTES).toString('base64url');
  const token = drawToken('device');
  const addressBlock = addressBlockOf(address);
  const device = await database.write(NO_WORKSPACE, async (tx) => {
    const open = await countOpenDevices(tx, addressBlock, input.workspaceSlug);
    const { count, ofWorkspace, firstExpiryMs } = open;
    if (ofWorkspace >= OPEN_SESSIONS_MAX || count >= OPEN_SESSIONS_OF_ADDRESS_MAX) {
      throw new HubError('RATE_LIMITED', 'Too many device logins from this address are open.', {
        retryAfterMs: firstExpiryMs - tx.nowMs,
      });
    }
    await deleteOldDevices(tx, tx.nowMs - DEVICE_KEPT_MS, DELETED_MAX);
    return insertDevice(tx, {
      device_id: deviceId,
      secret_hash: hash('sha256', deviceSecret),
      workspace_slug: input.workspaceSlug,
      machine_name: input.machineName ?? '',
      user_code: drawUserCode(),
      address,
      address_block: addressBlock,
      expires_at: tx.nowMs + DEVICE_SESSION_MS,
      interval_ms: DEVICE_POLL_INTERVAL_MS,
      token_hash: hashToken(token),
      sealed_token: sealToken(token, deviceId, deviceSecret),
    });
  });
  return { device, deviceSecret };
}

/** Draws a code for people to compare or to send, without its dash. */
export function drawUserCode(): string {
  const draw = () => USER_CODE_ALPHABET.charAt(randomInt(USER_CODE_ALPHABET.length));
  return Array.from({ length: USER_CODE_CHARS }, draw).join('');
}
