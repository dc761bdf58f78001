import { hostname } from 'node:os';
import { setTimeout as setTimeoutPromise } from 'node:timers/promises';
import { VERSION } from '@signalbox/contract';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { AccessWatch } from '../access/access-watch.ts';
import { bindAgentRoutes } from '../agents/routes.ts';
import { createChangedAgentHandler } from '../agents/wake-changed-agents.ts';
import { bindAssistantRoutes } from '../assistants/routes.ts';
import { bindAuditRoutes } from '../audit/routes.ts';
import { DiskSpace } from '../base/disk-space.ts';
import { SideThread } from '../base/side-thread.ts';
import type { ChangeFeed } from '../changes/change-feed.ts';
import { bindChangeRoutes } from '../changes/routes.ts';
import { shareAnswers } from '../changes/share-answers.ts';
import { offerDecisionDraft, offerSummary } from '../cloud-ai-jobs/offer.ts';
import { recordLostCloudAiLease } from '../cloud-ai-jobs/recover.ts';
import { bindCloudAiJobRoutes } from '../cloud-ai-jobs/routes.ts';
import { createHintReceiver } from '../cluster/hint-receiver.ts';
import { removeHubAddress, writeHubAddress } from '../cluster/hub-address.ts';
import type { HubGroup, HubGroupListener } from '../cluster/hub-group.ts';
import { Readiness } from '../cluster/readiness.ts';
import { createMailDeps } from '../context/deps.ts';
import { listPacksOfRun } from '../context/list-packs.ts';
import { bindMailAccountRoutes } from '../context/mail/routes.ts';
import { bindContextRoutes } from '../context/routes.ts';
import type { Database } from '../db/engine.ts';
import { bindDeviceRoutes } from '../devices/routes.ts';
import { Api } from '../http/bind.ts';
import { bindHealthRoutes } from '../http/health-routes.ts';
import type { HubPort } from '../http/hub-port.ts';
import { Limiter } from '../http/limiter.ts';
import { createServer } from '../http/server.ts';
import { serveConsole } from '../http/static-console.ts';
import { bindIntegrationRoutes } from '../integrations/routes.ts';
import { bindJobTemplateRoutes } from '../job-templates/routes.ts';
import { recordLostLease } from '../jobs/recover.ts';
import { bindJobRoutes } from '../jobs/routes.ts';
import { countJobsOfRun, listJobsOfRun, sumJobsOfRuns, sumUsageOfRun } from '../jobs/run-jobs.ts';
import { readJobTitles } from '../jobs/store-whole.ts';
import { createLoops, createLoopsOfEachHub, type HubLoops } from '../loops/hub-loops.ts';
import { revokeInvitationsOfPerson } from '../members/revoke-invitation.ts';
import { bindMemberRoutes } from '../members/routes.ts';
import {
  editReopened,
  notifyOfCompletion,
  notifyOfDecision,
  passOnOfMember,
  planToTellOfWait,
  settleDecision,
} from '../notifications/raise.ts';
import { bindNotificationRoutes } from '../notifications/routes.ts';
import type { NotificationSender } from '../notifications/sender.ts';
import { bindOauthRoutes } from '../oauth/routes.ts';
import { firstOwnerUrl, issueFirstOwnerLink } from '../people/create-first-owner.ts';
import { FailedSignIns } from '../people/failed-sign-ins.ts';
import { FailureDelay } from '../people/failure-delay.ts';
import { createPasswordHasher } from '../people/passwords.ts';
import { bindPeopleRoutes } from '../people/routes.ts';
import { readPersonNames } from '../people/store.ts';
import { createClaimHintHandler, hintOfWake } from '../queue/claim-hints.ts';
import { ClaimWaiters } from '../queue/claim-waiters.ts';
import { Queue } from '../queue/queue.ts';
import { bindRepositoryRoutes } from '../repositories/routes.ts';
import { keepFates } from '../review/keep-fates.ts';
import { bindReviewRoutes } from '../review/routes.ts';
import { sendComments } from '../review/send.ts';
import { countOpenThreads } from '../review/store.ts';
import { bindRunRoutes } from '../runs/routes.ts';
import type { SlackDeps } from '../slack/deps.ts';
import { bindSlackRoutes } from '../slack/routes.ts';
import { TokenCache } from '../tokens/cache.ts';
import { revokeDeviceTokensOfPerson, revokeTokensOfPerson } from '../tokens/revoke.ts';
import { bindTokenRoutes } from '../tokens/routes.ts';
import { createTokenHintHandler, tokensChanged } from '../tokens/token-hints.ts';
import { bindTriggerRoutes } from '../triggers/routes.ts';
import { createDecisionHintHandler, hintOfResolution } from '../uncertainties/decision-hints.ts';
import { DecisionWaiters } from '../uncertainties/decision-waiters.ts';
import { dismissOfCompleted, dismissOfEnded } from '../uncertainties/dismiss-questions.ts';
import { handOverUnseen, recordAnswersSeen } from '../uncertainties/hand-over.ts';
import { bindUncertaintyRoutes } from '../uncertainties/routes.ts';
import { hasDecisionRequest } from '../uncertainties/store.ts';
import { attachUploads } from '../uploads/attach.ts';
import { originOfStore } from '../uploads/bytes/s3-store.ts';
import { checkBytesPlace, nameOfBytesPlace } from '../uploads/bytes-place.ts';
import { createArchiveStore, createUploadDeps, type UploadDeps } from '../uploads/deps.ts';
import { bindUploadRoutes } from '../uploads/routes.ts';
import { ensureDevelopmentWorkspace } from '../workspaces/create.ts';
import { bindWorkspaceRoutes } from '../workspaces/routes.ts';
import type { Config } from './config.ts';
import { createGatekeeper, readAccess } from './gatekeeper.ts';
import type { Hooks } from './hooks.ts';
import type { HubDeps } from './hub-deps.ts';
import { type HubOptions, type OpenedHub, openHub } from './hub-opening.ts';
import { enterHubs } from './hub-start.ts';
import { createMessages } from './messages.ts';

/** Longer than a load balancer takes to notice: two checks, a second apart. */
const DRAIN_MS = 3_000;

const NO_COMMON_ADDRESS =
  'Other hubs run on this database, and SVC_BASE_URL is not set: links lead to the hub that made ' +
  'them. Set it to the address of the load balancer on all hubs.';

/** The consequences of changes in other modules, in the order in which they run. */
export const hooks: Hooks = {
  attachUploads,
  sendComments,
  countOpenThreads,
  keepFates,
  onItemAdded: [offerSummary],
  onPasswordReset: [revokeTokensOfPerson, revokeInvitationsOfPerson],
  logOutMachines: revokeDeviceTokensOfPerson,
  onLeaseLost: { jobs: recordLostLease, 'cloud-ai-jobs': recordLostCloudAiLease },
  onDecisionsDelivered: [recordAnswersSeen],
  onJobEnqueued: [planToTellOfWait],
  onJobCompleted: [handOverUnseen, dismissOfCompleted, notifyOfCompletion],
  onJobEnded: [dismissOfEnded],
  onMemberLeft: [passOnOfMember],
  onDecisionRequested: [offerDecisionDraft, notifyOfDecision],
  onDecisionResolved: [settleDecision],
  onDecisionReopened: [editReopened],
};

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
 * Composes a hub in order: the data directory, the port, the database, the modules and their
 * routes, the loops.
 *
 * @throws StartError, SchemaVersionError: one sentence that says what to do; an error of listening
 */
export async function createHub(options: HubOptions): Promise<Hub> {
  const opened = await openHub(options);
  try {
    const parts = createParts(opened);
    if (options.config.devAllowUnauth) await ensureDevelopmentWorkspace(parts.deps);
    return assembleHub(options, parts);
  } catch (error) {
    await opened.abandon();
    throw error;
  }
}

/** The parts that the modules of a hub share. */
interface HubParts extends OpenedHub {
  deps: HubDeps;
  tokenCache: TokenCache;
}

function createParts(opened: OpenedHub): HubParts {
  const { database, clock, secretKey, feed, group } = opened;
  const { hints } = group;
  feed.connect({ hints, hasOthers: () => group.others > 0 });
  const waiters = new ClaimWaiters(clock, (workspaceId, wake) =>
    hints?.notify(workspaceId, hintOfWake(wake)),
  );
  const decisionWaiters = new DecisionWaiters(clock, (workspaceId, uncertaintyId) =>
    hints?.notify(workspaceId, hintOfResolution(uncertaintyId)),
  );
  const queue = new Queue((entry, agentId) => waiters.wakeFor(entry, agentId));
  const tokenCache = new TokenCache({ database, clock }, () => hints?.notify(null, tokensChanged));
  const sideThread = new SideThread();
  const shared = { database, clock, ids: opened.ids, queue, waiters, hooks, secretKey };
  const deps = { ...shared, sideThread, decisionWaiters };
  return { ...opened, deps, tokenCache };
}

function assembleHub(options: HubOptions, parts: HubParts): Hub {
  const { config } = options;
  const { deps, group, directoryPath, port, schema } = parts;
  const address = { baseUrl: config.baseUrl ?? '' };
  const draining = { isDraining: false };
  const { server, limiter } = createLimitedServer(config, parts, draining);
  const disk = new DiskSpace(directoryPath, config.diskReserveBytes, options.readFreeSpace);
  const uploads = createUploadDeps(deps, config, address, disk);
  const archive = createArchiveStore(config);
  const readiness = new Readiness({ database: deps.database, group, schema, disk, draining });
  const accessWatch = createAccessWatch(parts, server.log);
  const failedSignIns = new FailedSignIns(deps.clock);
  const watches = { accessWatch, limiter, failedSignIns, readiness };
  const messages = createMessages(deps, config, address, server.log);
  bindRoutes(server, options, { ...parts, ...watches, ...messages, uploads, address });
  server.addHook('preClose', async () => endWaits(parts));
  const endUse = () => {
    draining.isDraining = true;
  };
  schema.onNewer((sentence) => retire(parts, endUse, server.log, sentence));
  const onLoopError = (error: unknown) =>
    server.log.error({ err: error }, 'A background loop failed.');
  const handlers = createHintHandlers(parts, accessWatch);
  const receiver = createHintReceiver(handlers, () => group.isListening(), onLoopError);
  const own = createLoopsOfEachHub(deps, { receiver, failedSignIns }, onLoopError);
  const loops = createLoops({ deps, uploads, archive, ...messages }, onLoopError);
  let stopped: Promise<void> | null = null;
  async function stopOnce(): Promise<void> {
    endWaits(parts);
    await messages.socket?.stop();
    await server.close();
    await port.close();
    for (const loop of Object.values({ ...loops, ...own })) await loop.stop();
    await group.stop();
    removeHubAddress(directoryPath, group.hubId);
    await deps.sideThread.close();
    await deps.database.close();
    parts.unlock();
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
      await group.start(createGroupListener(server.log, deps, options, receiver.receive));
      // With another hub on this directory, its incoming files look like those of a dead hub.
      if (others === 0) for (const store of [uploads.byteStore, archive]) await store?.sweep();
      const place = await serve(server, port);
      address.baseUrl ||= place.address;
      group.announce(address.baseUrl);
      logStart(server.log, group.hubId, address.baseUrl, others > 0 && config.baseUrl === null);
      writeHubAddress(directoryPath, { hubId: group.hubId, baseUrl: address.baseUrl });
      for (const loop of Object.values(loops)) loop.start(group.isLeader);
      if (group.hints !== null) own.missedHints.start();
      parts.feed.joined();
      own.failedSignIns.start();
      messages.socket?.start();
      const linkToken = await issueFirstOwnerLink(deps.database, true);
      const link = linkToken && firstOwnerUrl(address.baseUrl, linkToken);
      return { address: place.address, firstOwnerUrl: link };
    },
    drain: (ms = DRAIN_MS) => drain(group, endUse, ms),
    stop() {
      stopped ??= stopOnce();
      return stopped;
    },
  };
}

/** Answers requests on the port, which has only said until now that the hub starts. */
async function serve(server: FastifyInstance, port: HubPort): Promise<{ address: string }> {
  await server.ready();
  port.serve();
  return port.place();
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

/** Has load balancers use another hub, because this one is older than its database. */
function retire(
  parts: HubParts,
  endUse: () => void,
  log: FastifyBaseLogger,
  sentence: string,
): void {
  log.error(sentence);
  endUse();
  endWaits(parts);
}

/** @param endUse ends each connection after its answer. */
async function drain(
  group: Pick<HubGroup, 'others'>,
  endUse: () => void,
  ms: number,
): Promise<void> {
  if (group.others === 0) return;
  endUse();
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
  { deps, group, port }: HubParts,
  draining: { isDraining: boolean },
) {
  const hubs = () => group.others + 1;
  const limiter = new Limiter({ limits: config, clock: deps.clock, hubs });
  const server = createServer({
    limiter,
    trustedProxies: config.trustedProxies,
    draining,
    port,
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

function createGroupListener(
  log: FastifyBaseLogger,
  { database }: Pick<HubDeps, 'database'>,
  { onDatabaseRestored }: Pick<HubOptions, 'onDatabaseRestored'>,
  onHints: HubGroupListener['onHints'],
): HubGroupListener {
  return {
    onHints,
    onRestored() {
      log.fatal('The database was restored while this hub ran.');
      onDatabaseRestored?.();
    },
    onAvailability(isAvailable: boolean, cause: unknown) {
      database.setAvailable(isAvailable);
      if (isAvailable) log.warn('The database is available again.');
      else log.error({ err: cause }, 'The database cannot be reached or cannot be written.');
    },
    onLeadership: (isLeader: boolean) =>
      log.info(isLeader ? 'This hub leads now.' : 'This hub no longer leads.'),
    onHeartbeatFailure: (error: unknown) =>
      log.warn({ reason: String(error) }, 'A heartbeat to the database failed.'),
    onStateFileFailure: (error: unknown) =>
      log.warn({ reason: String(error) }, 'The data directory cannot be written.'),
  };
}

interface RouteParts extends HubParts {
  accessWatch: AccessWatch;
  limiter: Limiter;
  failedSignIns: FailedSignIns;
  uploads: UploadDeps;
  notifications: NotificationSender;
  slack: SlackDeps | null;
  readiness: Readiness;
  /** Known once the hub listens, if no setting names it. */
  address: { readonly baseUrl: string };
}

/** Binds the routes of every module. The console is last, because it serves all other paths. */
function bindRoutes(
  server: FastifyInstance,
  { config, consoleDir, passwords, checkAnswer }: HubOptions,
  parts: RouteParts,
): void {
  const { deps, tokenCache, accessWatch, limiter, failedSignIns } = parts;
  const { uploads, notifications, readiness, address } = parts;
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
    allowed: config.allowPrivateHosts,
    changePosition: (workspaceId: string) => parts.feed.position(workspaceId),
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
  bindJobTemplateRoutes(api, deps);
  const runReads = { countJobsOfRun, sumUsageOfRun, sumJobsOfRuns, listJobsOfRun, listPacksOfRun };
  bindRunRoutes(api, { ...deps, hasDecisionRequest, ...runReads });
  bindUncertaintyRoutes(api, deps);
  bindCloudAiJobRoutes(api, deps);
  bindUploadRoutes(api, uploads, server.log);
  bindReviewRoutes(api, uploads);
  bindContextRoutes(api, { ...deps, mail: createMailDeps(config.allowPrivateHosts) });
  bindMailAccountRoutes(api, deps);
  const { smtp, slack: slackApp } = config;
  bindNotificationRoutes(api, { ...deps, notifications, smtp, slack: slackApp });
  bindSlackRoutes(api, deps, parts.slack);
  bindTriggerRoutes(api, deps);
  bindChangeRoutes(api, { ...deps, feed: parts.feed });
  bindIntegrationRoutes(api, { ...deps, integrationWorkspaces: config.integrationWorkspaces });
  bindAssistantRoutes(api, identity);
  bindOauthRoutes(api, identity);
  api.finish();
  serveConsole(server, consoleDir ?? '', config.s3 === null ? null : originOfStore(config.s3));
}
