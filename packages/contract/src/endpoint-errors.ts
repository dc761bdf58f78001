import type { Endpoint, EndpointAuth } from './endpoint.ts';
import { type ErrorCode, errorCodes, statusOf } from './error-codes.ts';

const codesOfAuth: Record<EndpointAuth, readonly ErrorCode[]> = {
  none: [],
  bearer: ['TOKEN_MISSING', 'TOKEN_INVALID', 'TOKEN_EXPIRED', 'TOKEN_REVOKED'],
  'integration-secret': ['INTEGRATION_UNAUTHORIZED'],
  'chat-signature': ['INTEGRATION_UNAUTHORIZED'],
  'signed-url': ['SIGNED_URL_INVALID'],
  session: ['SESSION_REQUIRED', 'NOT_ALLOWED'],
};

/** Codes of plain HTTP and of failures of the hub, possible for every endpoint. */
const codesOfEveryEndpoint: readonly ErrorCode[] = [
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'RATE_LIMITED',
  'INTERNAL',
  'UNAVAILABLE',
];

const codesOfJsonBodies: readonly ErrorCode[] = [
  'INVALID_JSON',
  'INVALID_REQUEST',
  'BODY_TOO_LARGE',
];

/**
 * Lists every code that an endpoint may answer with, in the order of `errorCodes`: its own codes,
 * and those implied by its authentication, scopes, body and fields.
 */
export function listErrorCodes(endpoint: Endpoint): ErrorCode[] {
  const { auth, scopes, request } = endpoint;
  const has = (field: string) => field in request.properties;
  const when = (holds: boolean, code: ErrorCode) => (holds ? [code] : []);
  const codes = new Set<ErrorCode>([
    ...endpoint.errors,
    ...codesOfAuth[auth],
    ...when(scopes.length > 0, 'NOT_ALLOWED'),
    ...when(has('workspaceId') && auth !== 'signed-url', 'WORKSPACE_NOT_FOUND'),
    // An event that was ingested before is the same event with any body.
    ...when(has('idempotencyKey') && auth === 'bearer', 'IDEMPOTENCY_CONFLICT'),
    ...(endpoint.method === 'POST' ? codesOfJsonBodies : []),
    ...codesOfEveryEndpoint,
  ]);
  return (Object.keys(errorCodes) as ErrorCode[]).filter((code) => codes.has(code));
}

/** Groups the codes of an endpoint by HTTP status, in ascending order. */
export function groupErrorCodes(endpoint: Endpoint): Map<number, ErrorCode[]> {
  const groups = new Map<number, ErrorCode[]>();
  for (const code of listErrorCodes(endpoint)) {
    const group = groups.get(statusOf(code));
    if (group) group.push(code);
    else groups.set(statusOf(code), [code]);
  }
  return new Map([...groups].sort(([a], [b]) => a - b));
}
