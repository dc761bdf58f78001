import { randomBytes } from 'node:crypto';
import type { AnswerOf, consoleEndpoints, RequestInput } from '@signalbox/contract';
import { scopesOfRole } from '../access/policy.ts';
import { listMembershipsOfPerson, readRole } from '../access/store.ts';
import { HubError, invalidField } from '../base/errors.ts';
import { type Database, NO_WORKSPACE } from '../db/engine.ts';
import type { Role } from '../db/schema/tables.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { listWorkspaces } from '../workspaces/store.ts';
import { type AuthorizationRequest, checkAuthorizationRequest } from './authorization-request.ts';
import type { ClientDeps } from './clients.ts';
import { issuerOf } from './metadata.ts';
import { OauthError } from './oauth-error.ts';
import {
  assistantScopesOf,
  CLIENT_USED_MS,
  CODE_MS,
  hubScopesOf,
  isLoopbackUri,
} from './policy.ts';
import { hashSecret, insertSecret, keepClient } from './store.ts';

type AnswerInput = RequestInput<typeof consoleEndpoints.assistantConsents.answer.request>;
type Opened = AnswerOf<typeof consoleEndpoints.assistantConsents.open>;

export interface ConsentDeps extends ClientDeps, Pick<HubDeps, 'ids'> {
  baseUrl: string;
}

const CODE_BYTES = 32;

/**
 * Shows a person what an assistant asks for.
 * @throws HubError INVALID_REQUEST
 */
export async function openConsent(
  deps: ConsentDeps,
  query: string,
  personId: string,
): Promise<Opened> {
  const request = await checkForPerson(deps, query);
  const { client, scopes } = request;
  const redirect = new URL(request.redirectUri);
  return {
    clientHost: client.host,
    clientName: client.name,
    redirectHost: redirect.host,
    isLoopback: isLoopbackUri(redirect),
    scopes,
    workspaces: await listWorkspacesFor(deps.database, personId, request),
  };
}

async function listWorkspacesFor(
  { reader }: Database,
  personId: string,
  request: AuthorizationRequest,
): Promise<Opened['workspaces']> {
  const memberships = await listMembershipsOfPerson(reader, personId);
  const roles = new Map(memberships.map(({ workspace_id, role }) => [workspace_id, role]));
  const workspaces = await listWorkspaces(reader, [...roles.keys()]);
  return workspaces.map(({ workspace_id: workspaceId, name }) => {
    const role = roles.get(workspaceId);
    return { workspaceId, name, scopes: role === undefined ? [] : offered(request, role) };
  });
}

/** The scopes that were asked for and that the role of the person has. */
function offered({ scopes }: AuthorizationRequest, role: Role) {
  const held = assistantScopesOf(scopesOfRole(role));
  return scopes.filter((scope) => held.includes(scope));
}

/**
 * Answers an assistant for a person.
 *
 * @returns where to send the browser: the address of the client with the answer.
 * @throws HubError INVALID_REQUEST, WORKSPACE_NOT_FOUND, NOT_ALLOWED
 */
export async function answerConsent(
  deps: ConsentDeps,
  input: AnswerInput,
  personId: string,
): Promise<string> {
  const request = await checkForPerson(deps, input.query);
  if (input.decision === 'refuse') return answerOf(deps, request, { error: 'access_denied' });
  return answerOf(deps, request, { code: await allow(deps, request, input, personId) });
}

/** Issues a code, from which the client gets its tokens (RFC 6749, section 4.1.2). */
async function allow(
  { database, ids }: ConsentDeps,
  request: AuthorizationRequest,
  { workspaceId, scopes }: AnswerInput,
  personId: string,
): Promise<string> {
  if (workspaceId === undefined) throw invalidField('/workspaceId', 'is required to allow');
  if (scopes === undefined || scopes.length === 0) {
    throw invalidField('/scopes', 'must name what is allowed');
  }
  const { client } = request;
  const code = randomBytes(CODE_BYTES).toString('base64url');
  const tokenId = ids('token');
  await database.write([workspaceId, NO_WORKSPACE], async (tx) => {
    const role = await readRole(tx, personId, workspaceId);
    if (role === null) throw new HubError('WORKSPACE_NOT_FOUND');
    const allowed = offered(request, role);
    if (!scopes.every((scope) => allowed.includes(scope))) {
      throw new HubError('NOT_ALLOWED', 'Your role or the request does not have these scopes.');
    }
    insertSecret(tx, {
      secret_hash: hashSecret(code),
      kind: 'code',
      workspace_id: workspaceId,
      token_id: tokenId,
      person_id: personId,
      client_id: client.clientId,
      client_name: client.host ?? client.name ?? new URL(request.redirectUri).host,
      scopes: JSON.stringify(hubScopesOf(scopes)),
      redirect_uri: request.redirectUri,
      code_challenge: request.codeChallenge,
      expires_at: tx.nowMs + CODE_MS,
      sealed_tokens: null,
    });
    if (client.host === null) await keepClient(tx, client.clientId, tx.nowMs + CLIENT_USED_MS);
  });
  return code;
}

/** The address of the client with an answer, the state, and who answers (RFC 9207). */
function answerOf(
  { baseUrl }: ConsentDeps,
  { redirectUri, state }: AuthorizationRequest,
  answer: { code: string } | { error: 'access_denied' },
): string {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries(answer)) url.searchParams.set(name, value);
  if (state !== null) url.searchParams.set('state', state);
  url.searchParams.set('iss', issuerOf(baseUrl));
  return url.href;
}

/** The person reads why: a request that is not valid goes back to no address. */
async function checkForPerson(deps: ConsentDeps, query: string): Promise<AuthorizationRequest> {
  try {
    return await checkAuthorizationRequest(deps, query);
  } catch (error) {
    if (error instanceof OauthError) throw new HubError('INVALID_REQUEST', error.message);
    throw error;
  }
}
