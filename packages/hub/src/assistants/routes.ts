import type { AssistantScope } from '@signalbox/contract';
import { scopesOfRole } from '../access/policy.ts';
import { readRole } from '../access/store.ts';
import { assert, HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Api } from '../http/bind.ts';
import type { ProtocolMessage } from '../http/handlers.ts';
import { refuseOtherSites } from '../http/same-origin.ts';
import { challengeOf } from '../oauth/metadata.ts';
import { assistantScopesOf } from '../oauth/policy.ts';
import type { AssistantDeps } from './call-tool.ts';
import { assistantTools } from './tool-table.ts';

/** Where people's assistants speak the Model Context Protocol with the hub. */
const PATH = '/mcp';

export function bindAssistantRoutes(api: Api, deps: AssistantDeps): void {
  api.bindProtocol(PATH, {
    challenge: (refusal) =>
      challengeOf(deps.baseUrl, refusal === 'TOKEN_MISSING' ? null : 'invalid_token'),
    accept: ({ headers }) => refuseOtherSites(headers, deps.baseUrl),
    async serve(message) {
      requireWorkspaceToken(message.principal);
      const missing = await findMissingScope(deps, message);
      if (missing !== null) return refuseScope(deps, message, missing);
      // At the first message: loading the protocol would slow the start of every hub.
      const { serveMessage } = await import('./serve.ts');
      return serveMessage(deps, message);
    },
  });
}

/** @throws HubError NOT_ALLOWED */
function requireWorkspaceToken({ kind, workspaceId }: Principal): void {
  if ((kind === 'device' || kind === 'assistant' || kind === 'service') && workspaceId !== null)
    return;
  throw new HubError(
    'NOT_ALLOWED',
    'Assistants log in by OAuth, or need the token of a machine (signalbox login) or a service.',
  );
}

/**
 * The scope that an assistant lacks for the tool that it calls, if its person may give it. Null:
 * none, and a person whose role lacks it gets the refusal of the row.
 */
async function findMissingScope(
  { database }: AssistantDeps,
  { principal, message }: ProtocolMessage,
): Promise<AssistantScope | null> {
  if (principal.kind !== 'assistant') return null;
  const { method, params } = (message ?? {}) as { method?: unknown; params?: { name?: unknown } };
  if (method !== 'tools/call') return null;
  const tool = assistantTools.find(({ name }) => name === params?.name);
  if (tool === undefined || tool.row.scopes.some((scope) => principal.scopes.has(scope))) {
    return null;
  }
  const { personId, workspaceId } = principal;
  assert(personId !== null && workspaceId !== null, 'an assistant has a person and a workspace');
  const role = await readRole(database.reader, personId, workspaceId);
  if (role === null) return null;
  const ofRole = new Set(scopesOfRole(role));
  return assistantScopesOf(tool.row.scopes.filter((scope) => ofRole.has(scope)))[0] ?? null;
}

/** Has a client ask its person for more (RFC 6750, section 3.1), with what it has already. */
function refuseScope(
  { baseUrl }: AssistantDeps,
  { principal, requestId }: ProtocolMessage,
  missing: AssistantScope,
): Response {
  const scopes = [...assistantScopesOf(principal.scopes), missing];
  const body = {
    ok: false,
    error: 'NOT_ALLOWED',
    requestId,
    message: `This tool needs the scope ${missing}: the person has to allow it.`,
  };
  const challenge = challengeOf(baseUrl, 'insufficient_scope', scopes);
  return Response.json(body, { status: 403, headers: { 'www-authenticate': challenge } });
}
