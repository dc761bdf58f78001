/**
 * The device login (docs/reference/protocol.md, section 2.4). A function that sends a request and
 * a pure function that judges its answer form a pair; `runDeviceLogin` combines the pairs.
 */
import {
  DEVICE_SESSION_MS,
  type endpoints,
  formatUserCode,
  normalizeUserCode,
  type ResponseOf,
} from '@signalbox/contract';
import type { Client } from './client.ts';
import { ApiError, UnreachableError } from './errors.ts';
import { type Sleep, sleepOnTimer } from './sleep.ts';

type StartResponse = ResponseOf<typeof endpoints.devices.start>;
type PollResponse = ResponseOf<typeof endpoints.devices.poll>;
type DeviceClient = Pick<Client, 'devices'>;

/** An open device session. */
export interface DeviceLogin {
  deviceId: string;
  /** Secret, because it gives access to the token. */
  deviceSecret: string;
  /** http or https, so that it is safe to open in a browser. */
  approvalUrl: string;
  /** `XXXX-XXXX`. The person types it in the browser. */
  userCode: string;
  /** RFC 3339, by the clock of the hub. */
  expiresAt: string;
  intervalMs: number;
}

export interface ApprovedLogin {
  token: string;
  workspaceId: string;
  workspaceSlug: string;
}

/** The state between two polls. */
export interface PollState {
  /** The minimum time until the next poll. */
  intervalMs: number;
}

export type PollStep =
  | { kind: 'wait'; state: PollState }
  | { kind: 'approved'; login: ApprovedLogin }
  | { kind: 'denied' }
  | { kind: 'expired' };

/** The login ended without a token. */
export class DeviceLoginError extends Error {
  override readonly name = 'DeviceLoginError';
  readonly reason: 'denied' | 'expired';

  constructor(reason: 'denied' | 'expired') {
    super(
      reason === 'denied'
        ? 'The login was denied in the browser. If that was a mistake, start it again.'
        : 'The login was not approved in time. Start it again and open the new address.',
    );
    this.reason = reason;
  }
}

export interface DeviceLoginOptions {
  client: DeviceClient;
  workspaceSlug: string;
  /** Shown to the person who approves. */
  machineName?: string | undefined;
  /** Shows code and address. Polling begins when it returns. */
  onCode: (
    shown: Pick<DeviceLogin, 'userCode' | 'approvalUrl' | 'expiresAt'>,
  ) => void | Promise<void>;
  signal?: AbortSignal | undefined;
  /** For tests. */
  sleep?: Sleep | undefined;
  nowMs?: (() => number) | undefined;
}

/** Opens a device session. The answer does not reveal whether the workspace exists. */
export async function startDeviceLogin(
  client: DeviceClient,
  request: { workspaceSlug: string; machineName?: string | undefined },
  options: { signal?: AbortSignal | undefined } = {},
): Promise<DeviceLogin> {
  const { workspaceSlug, machineName } = request;
  const body = { workspaceSlug, ...(machineName === undefined ? {} : { machineName }) };
  return readStart(await client.devices.start(body, options));
}

/** Polls once. `nextPollStep` judges the answer. */
export async function pollDeviceLogin(
  client: DeviceClient,
  login: Pick<DeviceLogin, 'deviceId' | 'deviceSecret'>,
  options: { signal?: AbortSignal | undefined } = {},
): Promise<PollResponse> {
  const { deviceId, deviceSecret } = login;
  return client.devices.poll({ deviceId, deviceSecret }, options);
}

/** Decides the next step from an answer to a poll. Pure. */
export function nextPollStep(response: PollResponse, state: PollState): PollStep {
  const { status, token, workspaceId, workspaceSlug } = response;
  if (status === 'denied' || status === 'expired') return { kind: status };
  if (status !== 'approved') {
    // The hub raises the interval if a client polls too early. Only the hub lowers it.
    return { kind: 'wait', state: { intervalMs: response.intervalMs ?? state.intervalMs } };
  }
  if (!token || !workspaceId || !workspaceSlug) {
    throw invalidResponse(
      'The hub approved the login but sent no token; check that its version is compatible.',
    );
  }
  return { kind: 'approved', login: { token, workspaceId, workspaceSlug } };
}

/**
 * Decides the next step after a failed poll. A poll whose answer was lost is repeated, because the
 * hub returns the same token until the session expires. Pure.
 * @throws the error itself, if waiting cannot help.
 */
export function nextPollStepAfterError(error: unknown, state: PollState): PollStep {
  if (error instanceof UnreachableError) return { kind: 'wait', state };
  if (!(error instanceof ApiError)) throw error;
  // The hub has deleted the session. Id and secret came from the hub, so they are not wrong.
  if (error.code === 'DEVICE_SESSION_NOT_FOUND') return { kind: 'expired' };
  if (error.status < 500 && error.status !== 429) throw error;
  return {
    kind: 'wait',
    state: { intervalMs: Math.max(state.intervalMs, error.retryAfterMs ?? 0) },
  };
}

/**
 * Runs a device login to its end and returns the token.
 * @throws {DeviceLoginError} if it is denied or expires. {ApiError}, {UnreachableError} if it
 * cannot be started, or the hub stays unavailable for the lifetime of a session. The signal's
 * reason.
 */
export async function runDeviceLogin(options: DeviceLoginOptions): Promise<ApprovedLogin> {
  const { client, signal, sleep = sleepOnTimer, nowMs = Date.now } = options;
  const login = await startDeviceLogin(client, options, { signal });
  const { userCode, approvalUrl, expiresAt } = login;
  await options.onCode({ userCode, approvalUrl, expiresAt });
  // By this machine's clock instead of `expiresAt`, because the hub's clock may differ. The hub
  // ends the session itself; this limit is for a hub that stays unavailable.
  const giveUpAtMs = nowMs() + DEVICE_SESSION_MS;
  let state: PollState = { intervalMs: login.intervalMs };
  for (;;) {
    await sleep(state.intervalMs, signal);
    let step: PollStep;
    try {
      step = nextPollStep(await pollDeviceLogin(client, login, { signal }), state);
    } catch (error) {
      signal?.throwIfAborted();
      if (nowMs() >= giveUpAtMs) throw error;
      step = nextPollStepAfterError(error, state);
    }
    if (step.kind === 'approved') return step.login;
    if (step.kind !== 'wait') throw new DeviceLoginError(step.kind);
    state = step.state;
  }
}

/** Validates the answer, because code and address go to a terminal and a browser. */
function readStart(response: StartResponse): DeviceLogin {
  const { deviceId, deviceSecret, expiresAt, intervalMs } = response;
  const url = URL.canParse(response.approvalUrl) ? new URL(response.approvalUrl) : null;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw invalidResponse(
      'The hub sent no http(s) address for the approval; check its SVC_BASE_URL.',
    );
  }
  if (normalizeUserCode(response.userCode) === null) {
    throw invalidResponse('The hub sent no valid user code; check that its version is compatible.');
  }
  const userCode = formatUserCode(response.userCode);
  return { deviceId, deviceSecret, approvalUrl: url.href, userCode, expiresAt, intervalMs };
}

function invalidResponse(message: string): ApiError {
  return new ApiError({ code: 'INVALID_RESPONSE', status: 200, message });
}
