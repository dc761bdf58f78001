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
  /** A secret: whoever has it collects the token. */
  deviceSecret: string;
  /** http or https; safe to hand to a browser. */
  approvalUrl: string;
  /** `XXXX-XXXX`; the person compares it with the one in the browser. */
  userCode: string;
  /** RFC 3339, by the hub's clock. */
  expiresAt: string;
  intervalMs: number;
}

export interface ApprovedLogin {
  token: string;
  workspaceId: string;
  workspaceSlug: string;
}

/** What polling remembers from one poll to the next. */
export interface PollState {
  /** The least time until the next poll. */
  intervalMs: number;
}

export type PollStep =
  | { kind: 'wait'; state: PollState }
  | { kind: 'approved'; login: ApprovedLogin }
  | { kind: 'denied' }
  | { kind: 'expired' };

/** The login has ended without a token. */
export class DeviceLoginError extends Error {
  override readonly name = 'DeviceLoginError';
  readonly reason: 'denied' | 'expired';

  constructor(reason: 'denied' | 'expired') {
    super(
      reason === 'denied'
        ? 'The login was denied in the browser. Start it again if that was a mistake.'
        : 'Nobody approved the login in time. Start it again and open the new address.',
    );
    this.reason = reason;
  }
}

export interface DeviceLoginOptions {
  client: DeviceClient;
  workspaceSlug: string;
  /** Shown to the person who approves. */
  machineName?: string | undefined;
  /** Shows code and address; polling begins when it returns. */
  onCode: (
    shown: Pick<DeviceLogin, 'userCode' | 'approvalUrl' | 'expiresAt'>,
  ) => void | Promise<void>;
  signal?: AbortSignal | undefined;
  /** For tests. */
  sleep?: Sleep | undefined;
  nowMs?: (() => number) | undefined;
}

/** Opens a device session. The hub does not tell whether the workspace exists. */
export async function startDeviceLogin(
  client: DeviceClient,
  request: { workspaceSlug: string; machineName?: string | undefined },
  options: { signal?: AbortSignal | undefined } = {},
): Promise<DeviceLogin> {
  const { workspaceSlug, machineName } = request;
  const body = { workspaceSlug, ...(machineName === undefined ? {} : { machineName }) };
  return readStart(await client.devices.start(body, options));
}

/** Asks once whether the person has answered; `nextPollStep` says what the answer means. */
export async function pollDeviceLogin(
  client: DeviceClient,
  login: Pick<DeviceLogin, 'deviceId' | 'deviceSecret'>,
  options: { signal?: AbortSignal | undefined } = {},
): Promise<PollResponse> {
  const { deviceId, deviceSecret } = login;
  return client.devices.poll({ deviceId, deviceSecret }, options);
}

/** What an answer to a poll means. Pure. */
export function nextPollStep(response: PollResponse, state: PollState): PollStep {
  const { status, token, workspaceId, workspaceSlug } = response;
  if (status === 'denied' || status === 'expired') return { kind: status };
  if (status !== 'approved') {
    // The hub raises the interval of a client that polls too early, and it alone lowers it.
    return { kind: 'wait', state: { intervalMs: response.intervalMs ?? state.intervalMs } };
  }
  if (!token || !workspaceId || !workspaceSlug) {
    throw invalidResponse('The hub approved the login without a token; its version may not fit.');
  }
  return { kind: 'approved', login: { token, workspaceId, workspaceSlug } };
}

/**
 * What a failed poll means: a lost answer is asked for again, because the hub gives the same token
 * until the session expires. Pure.
 * @throws the error itself, when waiting cannot mend it.
 */
export function nextPollStepAfterError(error: unknown, state: PollState): PollStep {
  if (error instanceof UnreachableError) return { kind: 'wait', state };
  if (!(error instanceof ApiError)) throw error;
  // The hub has swept the session away: id and secret are its own, so they cannot be wrong.
  if (error.code === 'DEVICE_SESSION_NOT_FOUND') return { kind: 'expired' };
  if (error.status < 500 && error.status !== 429) throw error;
  return {
    kind: 'wait',
    state: { intervalMs: Math.max(state.intervalMs, error.retryAfterMs ?? 0) },
  };
}

/**
 * Runs a device login to its end and returns the token.
 * @throws {DeviceLoginError} denied or expired. {ApiError}, {UnreachableError} the login cannot be
 * started, or the hub stays away for as long as a session lives. The signal's reason.
 */
export async function runDeviceLogin(options: DeviceLoginOptions): Promise<ApprovedLogin> {
  const { client, signal, sleep = sleepOnTimer, nowMs = Date.now } = options;
  const login = await startDeviceLogin(client, options, { signal });
  const { userCode, approvalUrl, expiresAt } = login;
  await options.onCode({ userCode, approvalUrl, expiresAt });
  // By this machine's clock, not `expiresAt`: the hub's may differ. It ends the session itself;
  // this is for a hub that has gone away.
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

/** Code and address go to a terminal and a browser, so they must be what they claim to be. */
function readStart(response: StartResponse): DeviceLogin {
  const { deviceId, deviceSecret, expiresAt, intervalMs } = response;
  const url = URL.canParse(response.approvalUrl) ? new URL(response.approvalUrl) : null;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw invalidResponse(
      'The hub gave no http(s) address for the approval; check its SVC_BASE_URL.',
    );
  }
  if (normalizeUserCode(response.userCode) === null) {
    throw invalidResponse('The hub gave no valid code to compare; its version may not fit.');
  }
  const userCode = formatUserCode(response.userCode);
  return { deviceId, deviceSecret, approvalUrl: url.href, userCode, expiresAt, intervalMs };
}

function invalidResponse(message: string): ApiError {
  return new ApiError({ code: 'INVALID_RESPONSE', status: 200, message });
}
