import type { FastifyRequest } from 'fastify';
import { assert, HubError } from './errors.ts';
import type { Gatekeeper } from './http/bind.ts';
import { cookiesOf } from './http/context.ts';
import { isLocalHost, requireSameOrigin } from './http/same-origin.ts';
import {
  checkChatSignature,
  checkChatTimestamp,
  checkIntegrationSecret,
} from './integrations/proofs.ts';
import { authenticateSession, findRole, type SessionDeps } from './people/sessions.ts';
import type { Principal } from './principal.ts';
import {
  authenticateBearer,
  type BearerDeps,
  developmentPrincipal,
} from './tokens/authenticate-bearer.ts';
import { scopesOfRole } from './tokens/policy.ts';
import { findWorkspace } from './workspaces/create.ts';

export interface GatekeeperDeps extends BearerDeps, SessionDeps {
  /** `SVC_DEV_ALLOW_UNAUTH`. */
  unauthenticatedAllowed: boolean;
  /** `SVC_INTEGRATION_EVENT_SECRET` and `SVC_CHAT_SIGNING_SECRET`; empty: nobody gets in. */
  integrationSecrets: readonly string[];
  chatSecrets: readonly string[];
}

/** Nobody: no scope, no workspace. */
const anonymous: Principal = {
  kind: 'anonymous',
  principalId: 'anonymous',
  displayName: 'Anonymous',
  workspaceId: null,
  scopes: new Set(),
  tokenId: 'anonymous',
  personId: null,
  sessionId: null,
  job: null,
  expiresAtMs: null,
};

/** Other systems: which workspace they mean, they say in the body. */
const integration: Principal = {
  ...anonymous,
  principalId: 'integration',
  displayName: 'Integration',
};

/** Says who makes a request, by the way of proof that its endpoint's row names. */
export function createGatekeeper(deps: GatekeeperDeps): Gatekeeper {
  return {
    authenticate: {
      async none(request) {
        // Signing in and out are acts too: another site must not make a browser do them.
        if (request.url.startsWith('/console-api/')) requireSameOrigin(request, deps.baseUrl);
        return anonymous;
      },
      bearer: (request) => authenticateByHeader(deps, request),
      session(request) {
        requireSameOrigin(request, deps.baseUrl);
        return authenticateSession(deps, cookiesOf(request));
      },
      async 'integration-secret'({ headers }) {
        checkIntegrationSecret(deps.integrationSecrets, headers);
        return integration;
      },
      async 'chat-signature'({ headers }) {
        checkChatTimestamp(deps.chatSecrets, headers, deps.clock.nowMs());
        return integration;
      },
      // Rows of raw bytes are proved by their URLs where they are bound: see http/bytes.
      'signed-url': refuseUnbuilt,
    },
    proveBody: {
      'chat-signature': ({ headers }, bytes) =>
        checkChatSignature(deps.chatSecrets, headers, bytes),
    },
    enterWorkspace: (principal, workspaceId) => enterWorkspace(deps, principal, workspaceId),
  };
}

async function authenticateByHeader(
  deps: GatekeeperDeps,
  request: FastifyRequest,
): Promise<Principal> {
  const header = request.headers.authorization;
  if (header !== undefined) return authenticateBearer(deps, header);
  if (!deps.unauthenticatedAllowed) {
    throw new HubError(
      'TOKEN_MISSING',
      'Send the header Authorization: Bearer <token>; `signalbox login` gets one.',
    );
  }
  if (!isLocalHost(request.headers, deps.baseUrl)) {
    throw new HubError('TOKEN_MISSING', 'Without a token, call this hub by a local name.');
  }
  return developmentPrincipal();
}

/** No row with this proof has a handler yet; binding one comes with its way of proof. */
async function refuseUnbuilt(request: FastifyRequest): Promise<never> {
  assert(false, `${request.url} has no way of proof`);
}

async function enterWorkspace(
  deps: GatekeeperDeps,
  principal: Principal,
  workspaceId: string,
): Promise<Principal | null> {
  if (principal.workspaceId !== null) {
    return principal.workspaceId === workspaceId ? principal : null;
  }
  if (
    principal.kind === 'global' ||
    principal.kind === 'development' ||
    principal === integration
  ) {
    const workspace = await findWorkspace(deps.database, workspaceId);
    return workspace === null ? null : { ...principal, workspaceId };
  }
  if (principal.personId === null) return null;
  const role = await findRole(deps.database, principal.personId, workspaceId);
  return role === null ? null : { ...principal, workspaceId, scopes: new Set(scopesOfRole(role)) };
}
