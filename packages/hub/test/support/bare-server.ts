import { createIdSource } from '@signalbox/contract';
import type { FastifyInstance } from 'fastify';
import { systemClock } from '../../src/base/clock.ts';
import { StartStatus } from '../../src/base/start-status.ts';
import { HubPort } from '../../src/http/hub-port.ts';
import { Limiter } from '../../src/http/limiter.ts';
import { createServer, type ServerOptions } from '../../src/http/server.ts';

const ids = createIdSource(Date.now);

/** Opens a port on this machine, for `createBareServer`; 0: any free one. */
export function openBarePort(port = 0): Promise<HubPort> {
  return HubPort.open({ host: '127.0.0.1', port }, new StartStatus(), ids);
}

/** The hub's HTTP server without a hub: no routes, no limits, no trusted proxies. */
export function createBareServer(
  logger: ServerOptions['logger'] = { level: 'silent' },
  port: HubPort | null = null,
): {
  server: FastifyInstance;
  limiter: Limiter;
} {
  const limits = { tokenRate: 0, workspaceRate: 0, addressRate: 0 };
  const limiter = new Limiter({ limits, clock: systemClock, hubs: () => 1 });
  return {
    server: createServer({
      limiter,
      trustedProxies: [],
      draining: { isDraining: false },
      ids,
      secure: false,
      logger,
      port,
    }),
    limiter,
  };
}
