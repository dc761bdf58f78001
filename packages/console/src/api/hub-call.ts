import { endpointPaths } from 'virtual:contract-data';
import type {
  consoleEndpoints,
  mirroredEndpoints,
  RequestOf,
  ResponseOf,
} from '@signalbox/contract';
import { errorOfBody, HubError } from './hub-error.ts';

/** Every row that the console may call: its own, and those mirrored from the control plane. */
export type ConsoleRows = typeof consoleEndpoints & typeof mirroredEndpoints;

/** Longer than the hub's own limit for a request, so that its answer comes first. */
const CALL_TIMEOUT_MS = 35_000;

/**
 * Calls one endpoint with the session cookie, types taken from its row. Fails with HubError only:
 * the hub's code, UNREACHABLE (network, timeout) or ANSWER_UNREADABLE (something between answered).
 * An abort by `signal` is passed on as it is.
 */
export async function callHub<
  Noun extends keyof ConsoleRows,
  Action extends keyof ConsoleRows[Noun],
>(
  noun: Noun,
  action: Action,
  request: RequestOf<ConsoleRows[Noun][Action]>,
  signal?: AbortSignal,
): Promise<ResponseOf<ConsoleRows[Noun][Action]>> {
  const timeout = AbortSignal.timeout(CALL_TIMEOUT_MS);
  const response = await send(endpointPaths[noun][action], request, {
    caller: signal,
    any: signal ? AbortSignal.any([signal, timeout]) : timeout,
  });
  const body: unknown = await response.json().catch(() => undefined);
  const failure = errorOfBody(body);
  if (failure) throw failure;
  if (!response.ok || typeof body !== 'object' || body === null) {
    throw new HubError(
      'ANSWER_UNREADABLE',
      `Something answered ${response.status} in place of the hub. Check the proxy in front of it.`,
      { requestId: response.headers.get('x-request-id') },
    );
  }
  // The hub answers by the schema of the row; its tests hold it to that.
  return body as ResponseOf<ConsoleRows[Noun][Action]>;
}

interface Signals {
  caller: AbortSignal | undefined;
  any: AbortSignal;
}

async function send(path: string, request: unknown, signals: Signals): Promise<Response> {
  try {
    return await fetch(path, {
      method: 'POST',
      credentials: 'same-origin',
      redirect: 'error',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(request),
      signal: signals.any,
    });
  } catch (error) {
    if (signals.caller?.aborted) throw error;
    throw new HubError(
      'UNREACHABLE',
      'The hub does not answer. Check that it is running and that this machine reaches it.',
      { cause: error },
    );
  }
}
