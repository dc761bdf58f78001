import { createIdSource } from '@signalbox/contract';
import type { FastifyInstance } from 'fastify';
import { systemClock } from '../../src/clock.ts';
import { Limiter } from '../../src/http/limiter.ts';
import { createServer, type ServerOptions } from '../../src/http/server.ts';

/** The hub's HTTP server without a hub: no routes, no limits, no trusted proxies. */
export function createBareServer(logger: ServerOptions['logger'] = { level: 'silent' }): {
  server: FastifyInstance;
  limiter: Limiter;
} {
  const limits = { tokenRate: 0, workspaceRate: 0, addressRate: 0 };
  const limiter = new Limiter({ limits, clock: systemClock, hubs: () => 1 });
  const ids = createIdSource(Date.now);
  return {
    server: createServer({
      limiter,
      trustedProxies: [],
      draining: { isDraining: false },
      ids,
      secure: false,
      logger,
    }),
    limiter,
  };
}
