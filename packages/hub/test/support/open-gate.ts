import type { FastifyRequest } from 'fastify';
import type { Principal } from '../../src/base/principal.ts';
import type { Gatekeeper } from '../../src/http/gatekeeper.ts';

const anybody: Principal = {
  kind: 'service',
  principalId: 'svc_1',
  displayName: 'Ada',
  workspaceId: null,
  scopes: new Set(['read', 'agent']),
  tokenId: 'tok_1',
  personId: null,
  sessionId: null,
  job: null,
  expiresAtMs: null,
};

/** A program with a token. */
export function createPrincipal(fields: Partial<Principal> = {}): Principal {
  return { ...anybody, ...fields };
}

/** Admits every request. `x-caller` or `authorization` names its token and its workspace. */
export function createOpenGate(): Gatekeeper {
  const enter = async ({ headers }: Pick<FastifyRequest, 'headers'>): Promise<Principal> => {
    const name = headers['x-caller'] ?? headers.authorization;
    return createPrincipal(typeof name === 'string' ? { tokenId: name, workspaceId: name } : {});
  };
  return {
    authenticate: {
      none: enter,
      bearer: enter,
      session: enter,
      'integration-secret': enter,
      'chat-signature': enter,
      'signed-url': enter,
    },
    actAs: (_principal, _cost, run) => run(),
    accessVersion: () => 0,
    watchAccess: () => () => undefined,
    enterWorkspace: async (principal) => principal,
  };
}
