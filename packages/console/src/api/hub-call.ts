import { endpointPaths } from 'virtual:contract-data';
import type {
  consoleEndpoints,
  mirroredEndpoints,
  RequestOf,
  ResponseOf,
} from '@signalbox/contract';
import { errorOfBody, HubError } from './hub-error.ts';

/** All endpoints that the console may call: its own, and those mirrored from the control plane. */
export type ConsoleRows = typeof consoleEndpoints & typeof mirroredEndpoints;

/** Longer than the hub's own request limit, so that the hub's answer arrives first. */
const CALL_TIMEOUT_MS = 35_000;
/** Below the 64 KB of all such requests of a page, in any script. */
const KEEPALIVE_CHARS_MAX = 10_000;

/**
 * Calls one endpoint with the session cookie; types come from its row. Throws HubError only: with
 * the hub's code, UNREACHABLE (network, timeout) or ANSWER_UNREADABLE (a proxy answered). An abort
 * by `signal` is rethrown unchanged.
 */
export async function callHub<
  Group extends keyof ConsoleRows,
  Action extends keyof ConsoleRows[Group],
>(
  group: Group,
  action: Action,
  request: RequestOf<ConsoleRows[Group][Action]>,
  signal?: AbortSignal,
): Promise<ResponseOf<ConsoleRows[Group][Action]>> {
  const timeout = AbortSignal.timeout(CALL_TIMEOUT_MS);
  const response = await send(endpointPaths[group][action], request, {
    caller: signal,
    any: signal ? AbortSignal.any([signal, timeout]) : timeout,
  });
  const body: unknown = await response.json().catch(() => undefined);
  const failure = errorOfBody(body);
  if (failure) throw failure;
  if (!response.ok || typeof body !== 'object' || body === null) {
    throw new HubError(
      'ANSWER_UNREADABLE',
      `Received status ${response.status} from a server that is not the hub. Check the proxy.`,
      { requestId: response.headers.get('x-request-id') },
    );
  }
  // The hub validates its answers against the row's schema in its tests.
  return body as ResponseOf<ConsoleRows[Group][Action]>;
}

interface Signals {
  caller: AbortSignal | undefined;
  any: AbortSignal;
}

async function send(path: string, request: unknown, signals: Signals): Promise<Response> {
  const body = JSON.stringify(request);
  try {
    return await fetch(path, {
      method: 'POST',
      // An action is not canceled when the page closes. Reads are: they bring a signal. Browsers
      // limit such bodies.
      keepalive: signals.caller === undefined && body.length <= KEEPALIVE_CHARS_MAX,
      credentials: 'same-origin',
      redirect: 'error',
      headers: { 'content-type': 'application/json' },
      body,
      signal: signals.any,
    });
  } catch (error) {
    if (signals.caller?.aborted) throw error;
    throw new HubError(
      'UNREACHABLE',
      'The hub does not respond. Check that it is running and reachable from this machine.',
      { cause: error },
    );
  }
}
