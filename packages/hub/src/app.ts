import { hostname } from 'node:os';
import { setTimeout as setTimeoutPromise } from 'node:timers/promises';
import { createIdSource, type Endpoint, VERSION } from '@signalbox/contract';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { AccessWatch } from './access/access-watch.ts';
import { bindAgentRoutes } from './agents/routes.ts';
import { createChangedAgentHandler } from './agents/wake-changed-agents.ts';
import { bindAuditRoutes } from './audit/routes.ts';
import { ChangeFeed } from './changes/change-feed.ts';
import { bindChangeRoutes } from './changes/routes.ts';
import { shareAnswers } from './changes/share-answers.ts';
import { watchWrites } from './changes/watch-writes.ts';
import { type Clock, systemClock } from './clock.ts';
import { offerDecisionDraft, offerSummary } from './cloud-ai-jobs/offer.ts';
import { recordLostCloudAiLease } from './cloud-ai-jobs/recover.ts';
import { bindCloudAiJobRoutes } from './cloud-ai-jobs/routes.ts';
import { correctClock, createDatabaseClock, type DatabaseClock } from './cluster/database-clock.ts';
import { createHintReceiver } from './cluster/hint-receiver.ts';
import { removeHubAddress, writeHubAddress } from './cluster/hub-address.ts';
import { createSingleHub, type HubGroup } from './cluster/hub-group.ts';
import { Readiness } from './cluster/readiness.ts';
import type { Config } from './config.ts';
import { createMailDeps } from './context/deps.ts';
import { listPacksOfRun } from './context/list-packs.ts';
import { bindMailAccountRoutes } from './context/mail/routes.ts';
import { bindContextRoutes } from './context/routes.ts';
import { lockDataDirectory, prepareDataDirectory } from './db/data-directory.ts';
import type { Database } from './db/engine.ts';
import { guardWrites } from './db/guard-writes.ts';
import { migrateDatabase, openDatabase } from './db/open-database.ts';
import { openSecretKey } from './db/secret-key.ts';
import { bindDeviceRoutes } from './devices/routes.ts';
import { DiskSpace, type ReadFree } from './disk-space.ts';
import { createGatekeeper, readAccess } from './gatekeeper.ts';
import type { Hooks } from './hooks.ts';
import { Api } from './http/bind.ts';
import { createFrontThreads, type FrontThreads } from './http/front/front-threads.ts';
import { bindHealthRoutes } from './http/health-routes.ts';
import { Limiter } from './http/limiter.ts';
import { listen } from './http/listen.ts';
import { createServer } from './http/server.ts';
import { serveConsole } from './http/static-console.ts';
import type { HubDeps } from './hub-deps.ts';
import { enterHubs } from './hub-start.ts';
import { bindIntegrationRoutes } from './integrations/routes.ts';
import { recordLostLease } from './jobs/recover.ts';
import { bindJobRoutes } from './jobs/routes.ts';
import { countJobsOfRun, listJobsOfRun, sumUsageOfRun } from './jobs/run-jobs.ts';
import { readJobTitles } from './jobs/store-whole.ts';
import { createFailedSignIns } from './loops/failed-sign-ins.ts';
import { createLoops, type HubLoops } from './loops/hub-loops.ts';
import { createMissedHints } from './loops/missed-hints.ts';
import { revokeInvitationsOfPerson } from './members/revoke-invitation.ts';
import { bindMemberRoutes } from './members/routes.ts';
import { firstOwnerUrl, issueFirstOwnerLink } from './people/create-first-owner.ts';
import { FailedSignIns } from './people/failed-sign-ins.ts';
import { FailureDelay } from './people/failure-delay.ts';
import { createPasswordHasher, type PasswordHasher } from './people/passwords.ts';
import { bindPeopleRoutes } from './people/routes.ts';
import { readPersonNames } from './people/store.ts';
import { createClaimHintHandler, hintOfWake } from './queue/claim-hints.ts';
import { ClaimWaiters } from './queue/claim-waiters.ts';
import { Queue } from './queue/queue.ts';
import { bindRepositoryRoutes } from './repositories/routes.ts';
import { bindRunRoutes } from './runs/routes.ts';
import { SideThread } from './side-thread.ts';
import { TokenCache } from './tokens/cache.ts';
import { revokeDeviceTokensOfPerson, revokeTokensOfPerson } from './tokens/revoke.ts';
import { bindTokenRoutes } from './tokens/routes.ts';
import { createTokenHintHandler, tokensChanged } from './tokens/token-hints.ts';
import { bindTriggerRoutes } from './triggers/routes.ts';
import { createDecisionHintHandler, hintOfResolution } from './uncertainties/decision-hints.ts';
import { DecisionWaiters } from './uncertainties/decision-waiters.ts';
import { dismissOfCompleted, dismissOfEnded } from './uncertainties/dismiss-questions.ts';
import { handOverUnseen, recordAnswersSeen } from './uncertainties/hand-over.ts';
import { bindUncertaintyRoutes } from './uncertainties/routes.ts';
import { hasDecisionRequest } from './uncertainties/store.ts';
import { checkBytesPlace, nameOfBytesPlace, placeOfBytes } from './uploads/bytes-place.ts';
import { createArchiveStore, createUploadDeps, type UploadDeps } from './uploads/deps.ts';
import { bindUploadRoutes } from './uploads/routes.ts';
import { ensureDevelopmentWorkspace } from './workspaces/create.ts';
import { bindWorkspaceRoutes } from './workspaces/routes.ts';

/** Longer than a load balancer takes to notice: two checks, a second apart. */
const DRAIN_MS = 3_000;

/** PostgreSQL may start together with the hub, or on a machine that is busy. */
const DATABASE_WAIT_MS = 30_000;

const NO_COMMON_ADDRESS =
  'Other hubs run on this database, and SVC_BASE_URL is not set: links lead to the hub that made ' +
  'them. Set it to the address of the load balancer on all hubs.';

/** The consequences of changes in other modules, in the order in which they run. */
export const hooks: Hooks = {
  onItemAdded: [offerSummary],
  onPasswordReset: [revokeTokensOfPerson, revokeInvitationsOfPerson],
  logOutMachines: revokeDeviceTokensOfPerson,
  onLeaseLost: { jobs: recordLostLease, 'cloud-ai-jobs': recordLostCloudAiLease },
  onDecisionsDelivered: [recordAnswersSeen],
  onJobCompleted: [handOverUnseen, dismissOfCompleted],
  onJobEnded: [dismissOfEnded],
  onDecisionRequested: [offerDecisionDraft],
};

export interface HubOptions {
  config: Config;
  /** The built console; absent: a page that says how to build it. */
  consoleDir?: string;
  clock?: Clock;
  /** Hashes people's passwords; absent: by argon2. Tests that hash many take a cheap one. */
  passwords?: PasswordHasher;
  /** Reads the free space of the data directory; absent: from the file system. */
  readFreeSpace?: ReadFree;
  /** Holds every answer against its schema; for tests. */
  checkAnswer?: (endpoint: Endpoint, answer: unknown) => void;
  /** Called with a sentence when the start waits for PostgreSQL. */
  onDatabaseWait?: (text: string) => void;
  /**
   * Called when SQLite's disk has failed to keep what was written: the hub refuses everything, and
   * the caller must end this process without `stop` (docs/decisions/0015).
   */
  onDiskFailure?: (error: Error) => void;
  /**
   * Called when a front thread has failed; the caller must stop the hub and end this process.
   * Absent: throws the error, which ends the process at once.
   */
  onFrontFailure?: (error: Error) => void;
  /** Tests lower it to copy SQLite's log often. */
  checkpointPages?: number;
}

export interface Hub {
  server: FastifyInstance;
  database: Database;
  deps: HubDeps;
  /** This hub among those that share its database. */
  group: HubGroup;
  /** The streams of changes. */
  feed: ChangeFeed;
  /** The background loops, in the order in which they start. */
  loops: HubLoops;
  /** Where people and agents reach it; known once it listens. */
  readonly baseUrl: string;
  /**
   * Starts to accept requests and to run the loops.
   * @returns the address on this machine, and the one-time link that creates the first owner; null
   *   if accounts exist.
   */
  listen(): Promise<{ address: string; firstOwnerUrl: string | null }>;
  /**
   * Lets load balancers send new requests to the other hubs: for a while, this one serves requests
   * and ends each connection after its answer. Does nothing without other hubs.
   */
  drain(ms?: number): Promise<void>;
  /**
   * Stops: answers waiting claims, serves requests in progress, closes the database.
   */
  stop(): Promise<void>;
}

/**
 * Composes a hub in order: the data directory, the database, the modules and their routes, the
 * loops.
 *
 * @throws StartError, NewerDatabaseError: one sentence that says what to do.
 */
export async function createHub(options: HubOptions): Promise<Hub> {
  const { config, clock = systemClock } = options;
  const directory = prepareDataDirectory(config.dataDir, {
    holdsDatabase: config.databaseUrl === null,
  });
  // Hubs that share a PostgreSQL may share a machine and its data directory too.
  const unlock = config.databaseUrl === null ? lockDataDirectory(directory.path) : () => undefined;
  // A hub that was killed leaves its address behind.
  if (config.databaseUrl === null) removeHubAddress(directory.path);
  let database: Database | null = null;
  try {
    const { onDiskFailure, checkpointPages } = options;
    const feed = new ChangeFeed();
    const opened = await openDatabase(config, directory.databasePath, clock, {
      sqlite: {
        // The lock says that this is the only hub on the file.
        emptiesLog: true,
        ...(onDiskFailure === undefined ? {} : { onDiskFailure }),
        ...(checkpointPages === undefined ? {} : { checkpointPages }),
      },
      wait: { waitMs: DATABASE_WAIT_MS, onWait: options.onDatabaseWait ?? (() => undefined) },
    });
    database = watchWrites(guardWrites(opened), (changes) => feed.announce(changes));
    // Hubs that share a database use its clock, not those of their machines.
    const isShared = database.engine === 'postgres' && clock === systemClock;
    const databaseClock = isShared ? createDatabaseClock() : null;
    if (databaseClock !== null) await correctClock(databaseClock, database.reader);
    await migrateDatabase(config, database);
    const secretKey = await openSecretKey(database, directory.path, config.secretKey);
    const parts = createParts({
      database,
      clock: databaseClock ?? clock,
      secretKey,
      directoryPath: directory.path,
      feed,
      group: await openGroup(config, placeOfBytes(config, directory.directoryId), databaseClock),
    });
    if (config.devAllowUnauth) await ensureDevelopmentWorkspace(parts.deps);
    return assembleHub(options, parts, unlock);
  } catch (error) {
    await database?.close();
    unlock();
    throw error;
  }
}

/** The parts that the modules of a hub share. */
interface HubParts {
  deps: HubDeps;
  tokenCache: TokenCache;
  group: HubGroup;
  /** The streams of changes. */
  feed: ChangeFeed;
  /** Absolute path of the data directory. */
  directoryPath: string;
}

function createParts({
  database,
  clock,
  secretKey,
  ...rest
}: Pick<HubDeps, 'database' | 'clock' | 'secretKey'> &
  Pick<HubParts, 'group' | 'feed' | 'directoryPath'>): HubParts {
  const { hints } = rest.group;
  rest.feed.connect({ hints, hasOthers: () => rest.group.others > 0 });
  const waiters = new ClaimWaiters(clock, (workspaceId, wake) =>
    hints?.notify(workspaceId, hintOfWake(wake)),
  );
  const decisionWaiters = new DecisionWaiters(clock, (workspaceId, uncertaintyId) =>
    hints?.notify(workspaceId, hintOfResolution(uncertaintyId)),
  );
  const queue = new Queue((entry, agentId) => waiters.wakeFor(entry, agentId));
  const tokenCache = new TokenCache({ database, clock }, () => hints?.notify(null, tokensChanged));
  const ids = createIdSource(clock.nowMs);
  const sideThread = new SideThread();
  const shared = { database, clock, ids, queue, waiters, hooks, secretKey };
  const deps = { ...shared, sideThread, decisionWaiters };
  return { deps, tokenCache, ...rest };
}

/** Loads PostgreSQL's driver only if it is used. */
async function openGroup(
  { databaseUrl, databasePooled }: Config,
  directoryId: string,
  clock: DatabaseClock | null,
): Promise<HubGroup> {
  if (databaseUrl === null) return createSingleHub(directoryId);
  const { createHubGroup } = await import('./cluster/postgres-hub-group.ts');
  const connection = { url: databaseUrl, isPooled: databasePooled, connectMs: 3_000 };
  return createHubGroup({ ...connection, directoryId, version: VERSION, clock });
}

function assembleHub(options: HubOptions, parts: HubParts, unlock: () => void): Hub {
  const { config } = options;
  const { deps, group, directoryPath } = parts;
  const address = { baseUrl: config.baseUrl ?? '' };
  const draining = { isDraining: false };
  const { server, limiter } = createLimitedServer(config, parts, draining);
  const disk = new DiskSpace(directoryPath, config.diskReserveBytes, options.readFreeSpace);
  const uploads = createUploadDeps(deps, config, address, disk);
  const archive = createArchiveStore(config);
  const readiness = new Readiness({ database: deps.database, group, disk, draining });
  const accessWatch = createAccessWatch(parts, server.log);
  const failedSignIns = new FailedSignIns(deps.clock);
  const watches = { accessWatch, limiter, failedSignIns, readiness };
  const api = bindRoutes(server, options, { ...parts, ...watches, uploads, address });
  const fronts = createFrontThreads(server, api, options, () => group.others + 1);
  server.addHook('preClose', async () => endWaits(parts));
  const onLoopError = (error: unknown) =>
    server.log.error({ err: error }, 'A background loop failed.');
  const handlers = createHintHandlers(parts, accessWatch);
  const receiver = createHintReceiver(handlers, () => group.isListening(), onLoopError);
  const missedHints = createMissedHints({ clock: deps.clock, receiver }, onLoopError);
  const signInLoop = createFailedSignIns({ ...deps, failedSignIns }, onLoopError);
  const loops = createLoops({ deps, uploads, archive }, onLoopError);

  let stopped: Promise<void> | null = null;
  async function stopOnce(): Promise<void> {
    // The server serves front threads until they have closed.
    endWaits(parts);
    await fronts?.close();
    await server.close();
    for (const loop of [...Object.values(loops), missedHints, signInLoop]) await loop.stop();
    await group.stop();
    removeHubAddress(directoryPath, group.hubId);
    await deps.sideThread.close();
    await deps.database.close();
    unlock();
  }

  return {
    server,
    database: deps.database,
    deps,
    group,
    feed: parts.feed,
    loops,
    get baseUrl() {
      return address.baseUrl;
    },
    async listen() {
      for (const warning of deps.database.warnings) server.log.warn(warning);
      const others = await enterHubs(deps, group);
      await checkBytesPlace(uploads, { id: group.directoryId, name: nameOfBytesPlace(config) });
      await group.start({ onHints: receiver.receive, ...createGroupLog(server.log, deps) });
      // With another hub on this directory, its incoming files look like those of a dead hub.
      if (others === 0) {
        await uploads.byteStore.sweep();
        await archive?.sweep();
      }
      const listening = await (fronts?.listen(config) ?? listen(server, config));
      address.baseUrl ||= listening;
      group.announce(address.baseUrl);
      logStart(server.log, group.hubId, address.baseUrl, others > 0 && config.baseUrl === null);
      writeHubAddress(directoryPath, { hubId: group.hubId, baseUrl: address.baseUrl });
      for (const loop of Object.values(loops)) loop.start(group.isLeader);
      if (group.hints !== null) missedHints.start();
      parts.feed.joined();
      signInLoop.start();
      const linkToken = await issueFirstOwnerLink(deps.database, true);
      const link = linkToken && firstOwnerUrl(address.baseUrl, linkToken);
      return { address: listening, firstOwnerUrl: link };
    },
    drain: (ms = DRAIN_MS) => drain(group, draining, fronts, ms),
    stop() {
      stopped ??= stopOnce();
      return stopped;
    },
  };
}

/** Answers the requests that wait. */
function endWaits({ deps, feed }: HubParts): void {
  for (const waiting of [deps.waiters, deps.decisionWaiters, feed]) waiting.close();
}

/** The reactions of the modules to changes on other hubs. */
function createHintHandlers({ deps, tokenCache, feed }: HubParts, accessWatch: AccessWatch) {
  return [
    createTokenHintHandler(tokenCache, accessWatch),
    createDecisionHintHandler(deps),
    createClaimHintHandler(deps),
    createChangedAgentHandler(deps),
    feed.hintHandler,
  ];
}

async function drain(
  group: Pick<HubGroup, 'others'>,
  draining: { isDraining: boolean },
  fronts: FrontThreads | null,
  ms: number,
): Promise<void> {
  if (group.others === 0) return;
  draining.isDraining = true;
  fronts?.drain();
  await setTimeoutPromise(ms);
}

/** Watches the access of requests that wait; it is read again when tokens have changed. */
function createAccessWatch({ deps, tokenCache }: HubParts, log: FastifyInstance['log']) {
  const accessWatch = new AccessWatch(
    deps.clock,
    (callers) => readAccess(deps, callers),
    (error) => log.error({ err: error }, 'The access of waiting requests was not checked.'),
  );
  tokenCache.onClear(() => accessWatch.changed());
  return accessWatch;
}

function createLimitedServer(
  config: Config,
  { deps, group }: HubParts,
  draining: { isDraining: boolean },
) {
  const hubs = () => group.others + 1;
  const limiter = new Limiter({ limits: config, clock: deps.clock, hubs });
  const server = createServer({
    limiter,
    // Front threads alone reach this server, and name the addresses of clients.
    trustedProxies: config.frontThreads > 0 || config.trustedProxies,
    draining,
    ids: deps.ids,
    secure: config.baseUrl?.startsWith('https:') ?? false,
    logger: { level: config.logLevel, stream: process.stderr },
  });
  return { server, limiter };
}

/** Says who this hub is; others of the database are in the table `hubs`. */
function logStart(
  log: FastifyBaseLogger,
  hubId: string,
  address: string,
  lacksCommonAddress: boolean,
): void {
  log.info({ hubId, host: hostname(), address, version: VERSION }, 'The hub listens.');
  if (lacksCommonAddress) log.warn(NO_COMMON_ADDRESS);
}

function createGroupLog(log: FastifyBaseLogger, { database }: Pick<HubDeps, 'database'>) {
  return {
    onAvailability(isAvailable: boolean, cause: unknown) {
      database.setAvailable(isAvailable);
      if (isAvailable) log.warn('The database is available again.');
      else log.error({ err: cause }, 'The database cannot be reached or cannot be written.');
    },
    onLeadership: (isLeader: boolean) =>
      log.info(isLeader ? 'This hub leads now.' : 'This hub no longer leads.'),
    onHeartbeatFailure: (error: unknown) =>
      log.warn({ reason: String(error) }, 'A heartbeat to the database failed.'),
  };
}

interface RouteParts extends HubParts {
  accessWatch: AccessWatch;
  limiter: Limiter;
  failedSignIns: FailedSignIns;
  uploads: UploadDeps;
  readiness: Readiness;
  /** Known once the hub listens, if no setting names it. */
  address: { readonly baseUrl: string };
}

/** Binds the routes of every module. The console is last, because it serves all other paths. */
function bindRoutes(
  server: FastifyInstance,
  { config, consoleDir, passwords, checkAnswer }: HubOptions,
  parts: RouteParts,
): Api {
  const { deps, tokenCache, accessWatch, limiter, failedSignIns } = parts;
  const { uploads, readiness, address } = parts;
  const identity = {
    ...deps,
    tokenCache,
    accessWatch,
    passwords: passwords ?? createPasswordHasher(deps.sideThread),
    failureDelay: new FailureDelay(deps.clock),
    failedSignIns,
    log: server.log,
    globalToken: config.globalToken,
    globalTokenAllowed: config.allowGlobalToken,
    unauthenticatedAllowed: config.devAllowUnauth,
    integrationSecrets: config.integrationSecrets,
    chatSecrets: config.chatSecrets,
    workspaceCreation: config.workspaceCreation,
    get baseUrl() {
      return address.baseUrl;
    },
  };
  const gatekeeper = createGatekeeper(identity);
  const sharedAnswers = shareAnswers(parts.feed, () => parts.group.hints === null);
  const api = new Api(server, { gatekeeper, limiter, sharedAnswers }, checkAnswer);
  bindHealthRoutes(api, { readiness, baseUrl: () => address.baseUrl });
  bindWorkspaceRoutes(api, { ...identity, gatekeeper });
  bindTokenRoutes(api, identity);
  bindPeopleRoutes(api, identity);
  bindMemberRoutes(api, identity);
  bindDeviceRoutes(api, identity);
  bindAuditRoutes(api, { ...deps, readPersonNames });
  bindAgentRoutes(api, { ...deps, readJobTitles });
  bindRepositoryRoutes(api, deps);
  bindJobRoutes(api, deps);
  const runReads = { countJobsOfRun, sumUsageOfRun, listJobsOfRun, listPacksOfRun };
  bindRunRoutes(api, { ...deps, hasDecisionRequest, ...runReads });
  bindUncertaintyRoutes(api, deps);
  bindCloudAiJobRoutes(api, deps);
  bindUploadRoutes(api, uploads, server.log);
  bindContextRoutes(api, { ...deps, mail: createMailDeps(config.allowPrivateHosts) });
  bindMailAccountRoutes(api, deps);
  bindTriggerRoutes(api, deps);
  bindChangeRoutes(api, { ...deps, feed: parts.feed });
  bindIntegrationRoutes(api, { ...deps, integrationWorkspaces: config.integrationWorkspaces });
  api.finish();
  serveConsole(server, consoleDir ?? '');
  return api;
}
