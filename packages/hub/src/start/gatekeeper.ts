import type { FastifyRequest } from 'fastify';
import type { AccessWatch } from '../access/access-watch.ts';
import { scopesOfRole } from '../access/policy.ts';
import { readRole } from '../access/store.ts';
import { assert, HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import { RecentReads } from '../base/recent-reads.ts';
import { actFor } from '../db/acting-caller.ts';
import type { Tx } from '../db/engine.ts';
import type { Role } from '../db/schema/tables.ts';
import type { Gatekeeper } from '../http/gatekeeper.ts';
import { cookiesOf } from '../http/request-context.ts';
import { isLocalHost, requireSameOrigin } from '../http/same-origin.ts';
import { authenticateSecret } from '../integrations/authenticate-secret.ts';
import { checkChatSignature, checkChatTimestamp } from '../integrations/proofs.ts';
import type { SessionDeps } from '../people/deps.ts';
import { isSessionLive } from '../people/policy.ts';
import { authenticateSession, type RecentSessions } from '../people/sessions.ts';
import { readSession } from '../people/store.ts';
import {
  authenticateBearer,
  type BearerDeps,
  developmentPrincipal,
} from '../tokens/authenticate-bearer.ts';
import { ACCESS_AGE_MAX_MS } from '../tokens/cache.ts';
import { readBearerAccess } from '../tokens/read-access.ts';
import { readWorkspace } from '../workspaces/store.ts';

/** Sessions and roles that are kept; beyond that the oldest are dropped. */
const PEOPLE_MAX = 2_000;

interface GatekeeperDeps extends BearerDeps, SessionDeps {
  accessWatch: AccessWatch;
  /** `SVC_DEV_ALLOW_UNAUTH`. */
  unauthenticatedAllowed: boolean;
  /** `SVC_INTEGRATION_EVENT_SECRET` and `SVC_CHAT_SIGNING_SECRET`; if empty, events are refused. */
  integrationSecrets: readonly string[];
  chatSecrets: readonly string[];
}

/** The caller of an endpoint that requires no authentication. */
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

/** A system that sends events. The body names the workspace. */
const integration: Principal = {
  ...anonymous,
  principalId: 'integration',
  displayName: 'Integration',
};

/** Authenticates requests by the method that the endpoint's row names. */
export function createGatekeeper(deps: GatekeeperDeps): Gatekeeper {
  const recent = createRecentAccess(deps);
  return {
    authenticate: {
      async none(request) {
        // Another site must not make a browser sign in or out either.
        if (request.url.startsWith('/console-api/')) requireSameOrigin(request, deps.baseUrl);
        return anonymous;
      },
      bearer: (request) => authenticateByHeader(deps, request),
      session(request) {
        requireSameOrigin(request, deps.baseUrl);
        return authenticateSession(deps, cookiesOf(request), recent.sessions);
      },
      async 'integration-secret'({ headers }) {
        const { workspaceId } = await authenticateSecret(deps, headers);
        return workspaceId === null ? integration : { ...integration, workspaceId };
      },
      async 'chat-signature'({ headers }) {
        checkChatTimestamp(deps.chatSecrets, headers, deps.clock.nowMs());
        return integration;
      },
      'signed-url': refuseSignedUrl,
    },
    proveBody: {
      'chat-signature': ({ headers }, bytes) =>
        checkChatSignature(deps.chatSecrets, headers, bytes),
    },
    enterWorkspace: (principal, workspaceId) =>
      enterWorkspace(deps, recent, principal, workspaceId),
    actAs: actAsPrincipal,
    accessVersion: () => deps.accessWatch.version,
    watchAccess: (caller, since) => deps.accessWatch.watch(caller, since),
  };
}

/** Sessions and roles of people that were read within the last second. */
interface RecentAccess {
  sessions: RecentSessions;
  /** By person and workspace. */
  roles: RecentReads<Role>;
}

/** A page of the console makes several requests at once, and again at each change. */
function createRecentAccess({ clock, tokenCache }: GatekeeperDeps): RecentAccess {
  const limits = { ageMaxMs: ACCESS_AGE_MAX_MS, countMax: PEOPLE_MAX };
  const recent: RecentAccess = {
    sessions: new RecentReads(clock, limits),
    roles: new RecentReads(clock, limits),
  };
  tokenCache.onClear(() => {
    recent.sessions.clear();
    recent.roles.clear();
  });
  return recent;
}

/**
 * A request of the console may be authenticated just before its session ends, for example by a
 * password reset, and write after it. So each of its actions checks the session again. Bearers have
 * no such check: a call with a token that ends meanwhile counts as made before.
 */
function actAsPrincipal<T>(
  { kind, principalId, sessionId, tokenId, workspaceId }: Principal,
  { isLongRead }: { isLongRead: boolean },
  run: () => T,
): T {
  // As the limiter tells callers apart: a job's tool and a person by themselves, others by token.
  const key = kind === 'job' || kind === 'person' ? principalId : tokenId;
  if (sessionId === null) return actFor({ key, workspaceId, guard: null, isLongRead }, run);
  const guard = async (tx: Tx) => {
    const session = await readSession(tx, sessionId);
    if (session === undefined || !isSessionLive(session, tx.nowMs)) throw sessionEnded();
  };
  return actFor({ key, workspaceId, guard, isLongRead }, run);
}

function sessionEnded(): HubError {
  return new HubError('SESSION_REQUIRED', 'Sign in at the console.');
}

/**
 * Reads what the callers of waiting requests may do now.
 * @returns for each, in order, the principal as it is now or why it is refused.
 */
export async function readAccess(
  deps: Pick<GatekeeperDeps, 'database' | 'clock'>,
  principals: readonly Principal[],
): Promise<(Principal | HubError)[]> {
  const bearers = await readBearerAccess(deps, principals);
  return Promise.all(
    bearers.map(async (access) =>
      access instanceof HubError || access.sessionId === null
        ? access
        : readPersonAccess(deps, access),
    ),
  );
}

/** A person's session must be live, and they must still be a member of the workspace entered. */
async function readPersonAccess(
  { database: { reader }, clock }: Pick<GatekeeperDeps, 'database' | 'clock'>,
  principal: Principal,
): Promise<Principal | HubError> {
  const { sessionId, personId, workspaceId } = principal;
  assert(sessionId !== null && personId !== null, 'a console session has a person');
  const session = await readSession(reader, sessionId);
  if (session === undefined || !isSessionLive(session, clock.nowMs())) {
    return sessionEnded();
  }
  if (workspaceId === null) return principal;
  const role = await readRole(reader, personId, workspaceId);
  if (role === null) return new HubError('WORKSPACE_NOT_FOUND');
  return { ...principal, scopes: new Set(scopesOfRole(role)) };
}

async function authenticateByHeader(
  deps: GatekeeperDeps,
  { headers, routeOptions }: Pick<FastifyRequest, 'headers' | 'routeOptions'>,
): Promise<Principal> {
  const header = headers.authorization;
  if (header !== undefined) {
    const principal = await authenticateBearer(deps, header);
    if (principal.kind === 'assistant' && routeOptions.config.admitsAssistants !== true) {
      throw new HubError('TOKEN_INVALID', 'The token of an assistant is for /mcp only.');
    }
    return principal;
  }
  if (!deps.unauthenticatedAllowed) {
    throw new HubError(
      'TOKEN_MISSING',
      'Send the header Authorization: Bearer <token>; `signalbox login` gets one.',
    );
  }
  if (!isLocalHost(headers, deps.baseUrl)) {
    throw new HubError(
      'TOKEN_MISSING',
      'Requests without a token must use a local host name, such as localhost.',
    );
  }
  return developmentPrincipal();
}

/** Rows with raw bytes verify their signed URLs where they are bound (`http/byte-routes.ts`). */
async function refuseSignedUrl(request: FastifyRequest): Promise<never> {
  assert(false, `${request.url} must be bound by http/byte-routes.ts`);
}

async function enterWorkspace(
  deps: GatekeeperDeps,
  recent: RecentAccess,
  principal: Principal,
  workspaceId: string,
): Promise<Principal | null> {
  if (principal.workspaceId !== null) {
    return principal.workspaceId === workspaceId ? principal : null;
  }
  // The operation finds the workspace, which a CloudEvent or a slug may name as well.
  if (principal === integration) return principal;
  if (principal.kind === 'global' || principal.kind === 'development') {
    const workspace = await readWorkspace(deps.database.reader, workspaceId);
    return workspace === undefined ? null : { ...principal, workspaceId };
  }
  if (principal.personId === null) return null;
  const { personId } = principal;
  const role = await recent.roles.find(
    `${personId} ${workspaceId}`,
    async () => (await readRole(deps.database.reader, personId, workspaceId)) ?? undefined,
  );
  if (role === undefined) return null;
  return { ...principal, workspaceId, scopes: new Set(scopesOfRole(role)) };
}
