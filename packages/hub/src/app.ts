import { createIdSource, type Endpoint } from '@signalbox/contract';
import type { FastifyInstance } from 'fastify';
import { bindAgentRoutes } from './agents/routes.ts';
import { type Clock, systemClock } from './clock.ts';
import type { Config } from './config.ts';
import { lockDataDirectory, prepareDataDirectory } from './db/data-directory.ts';
import type { Database } from './db/engine.ts';
import { migrate } from './db/migrate.ts';
import { openSqlite } from './db/sqlite.ts';
import { Api } from './http/bind.ts';
import { bindDescription } from './http/description.ts';
import { createServer } from './http/server.ts';
import type { JobDeps } from './jobs/deps.ts';
import { bindJobRoutes } from './jobs/routes.ts';
import type { Loop } from './loops/loop.ts';
import { createKeyRetention, createSweeper, graceExpiredLeases } from './loops/sweeper.ts';
import { ClaimWaiters } from './queue/claim-waiters.ts';
import { Queue } from './queue/queue.ts';
import { bindRepositoryRoutes } from './repositories/routes.ts';
import { TokenCache } from './tokens/cache.ts';
import { createGatekeeper } from './tokens/gatekeeper.ts';
import { bindTokenRoutes } from './tokens/routes.ts';
import { ensureDevelopmentWorkspace } from './workspaces/actions.ts';
import { bindWorkspaceRoutes } from './workspaces/routes.ts';

export const HUB_VERSION = '0.1.0';

export interface HubOptions {
  config: Config;
  /** The built console; absent: a page that says how to build it. */
  consoleDir?: string;
  clock?: Clock;
  /** Holds every answer against its schema; for tests. */
  checkAnswer?: (endpoint: Endpoint, answer: unknown) => void;
}

export interface Hub {
  server: FastifyInstance;
  database: Database;
  deps: JobDeps;
  loops: readonly Loop<unknown>[];
  /** Where people and agents reach it; known once it listens. */
  readonly baseUrl: string;
  /** Starts to answer and to sweep. */
  listen(): Promise<void>;
  /**
   * Ends: claims that wait are answered, requests under way are served, the database is closed.
   */
  stop(): Promise<void>;
}

/**
 * Composes a hub, visibly and in order: the data directory, the database, the queue, the rooms and
 * their routes, the loops.
 *
 * @throws StartError, NewerDatabaseError: one sentence that says what to do.
 */
export async function createHub(options: HubOptions): Promise<Hub> {
  const { config, clock = systemClock } = options;
  const directory = prepareDataDirectory(config.dataDir);
  const unlock = lockDataDirectory(directory.path);
  const database = openSqlite(directory.databasePath, clock);
  await migrate(database);

  const ids = createIdSource(clock.nowMs);
  const waiters = new ClaimWaiters(clock);
  const queue = new Queue((entry) => waiters.wakeNext(entry.workspace_id, entry.lane_id));
  const { secretKey } = directory;
  const deps: JobDeps = { database, clock, ids, queue, waiters, secretKey };

  let baseUrl = config.baseUrl ?? '';
  const secure = baseUrl.startsWith('https:');
  const server = createServer({ ids, secure, logger: { level: config.logLevel } });
  const { log } = server;
  const tokenCache = new TokenCache({ database, clock });
  const identity = {
    ...deps,
    tokenCache,
    log,
    secure,
    globalToken: config.globalToken,
    globalTokenAllowed: config.allowGlobalToken,
    unauthenticatedAllowed: config.devAllowUnauth,
    get baseUrl() {
      return baseUrl;
    },
  };
  const gatekeeper = createGatekeeper(identity);
  if (config.devAllowUnauth) await ensureDevelopmentWorkspace(deps);

  const api = new Api(server, gatekeeper, options.checkAnswer);
  bindDescription(api, { version: HUB_VERSION, baseUrl: () => baseUrl });
  bindWorkspaceRoutes(api, { database, gatekeeper });
  bindTokenRoutes(api, identity);
  bindAgentRoutes(api, deps);
  bindRepositoryRoutes(api, deps);
  bindJobRoutes(api, deps);
  api.finish();
  server.addHook('preClose', async () => waiters.close());

  const onLoopError = (error: unknown) => log.error({ err: error }, 'A background loop failed.');
  const loops = [createSweeper(deps, onLoopError), createKeyRetention(deps, onLoopError)];

  let stopped: Promise<void> | null = null;
  async function stopOnce(): Promise<void> {
    await server.close();
    for (const loop of loops) await loop.stop();
    await database.close();
    unlock();
  }

  return {
    server,
    database,
    deps,
    loops,
    get baseUrl() {
      return baseUrl;
    },
    async listen() {
      await graceExpiredLeases(deps);
      const address = await server.listen({ host: config.host, port: config.port });
      if (config.baseUrl === null) baseUrl = address;
      for (const loop of loops) loop.start();
    },
    stop() {
      stopped ??= stopOnce();
      return stopped;
    },
  };
}
