import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  consolePathOf,
  type Endpoint,
  type ErrorCode,
  endpointList,
  endpoints,
  mirroredEndpointList,
  statusOf,
} from '@signalbox/contract';
import { assertNothingLeaks } from '../support/api-scenario.ts';
import {
  type CredentialName,
  type HeldJob,
  startApiWorld,
  type World,
} from '../support/api-world.ts';
import { fillExample, listBoundEndpoints, namesRun } from '../support/bound-endpoints.ts';
import { ensureRun } from '../support/decision-world.ts';
import { checkRequestId, exchange, requestOfRow } from '../support/http-exchange.ts';

/*
 * The permissions of the control plane: every endpoint × every kind of caller. One table has the
 * expected results; an endpoint without a row fails. What a job token may say in the calls that it
 * may make is in `job-token-fields-sqlite.test.ts`.
 */

type Verdict = 'ok' | ErrorCode;
/** The credentials of the world, and the token of the job that the request is about. */
type Caller = CredentialName | 'ownJob';

const anybody: Record<Caller, Verdict> = {
  full: 'ok',
  none: 'ok',
  malformed: 'ok',
  wrongCheck: 'ok',
  unknown: 'ok',
  expired: 'ok',
  revoked: 'ok',
  foreign: 'ok',
  otherJob: 'ok',
  ownJob: 'ok',
  viewer: 'ok',
  agentOnly: 'ok',
  enqueueOnly: 'ok',
  readOnly: 'ok',
  decideOnly: 'ok',
  integrateOnly: 'ok',
};

/** A valid token of any kind, of this workspace or another. */
const anyToken: Record<Caller, Verdict> = {
  ...anybody,
  none: 'TOKEN_MISSING',
  malformed: 'TOKEN_INVALID',
  wrongCheck: 'TOKEN_INVALID',
  unknown: 'TOKEN_INVALID',
  expired: 'TOKEN_EXPIRED',
  revoked: 'TOKEN_REVOKED',
};

/** Only a token of this workspace with every scope; each row adds the other allowed callers. */
const fullOnly: Record<Caller, Verdict> = {
  ...anyToken,
  foreign: 'WORKSPACE_NOT_FOUND',
  otherJob: 'NOT_ALLOWED',
  ownJob: 'NOT_ALLOWED',
  viewer: 'NOT_ALLOWED',
  agentOnly: 'NOT_ALLOWED',
  enqueueOnly: 'NOT_ALLOWED',
  readOnly: 'NOT_ALLOWED',
  decideOnly: 'NOT_ALLOWED',
  integrateOnly: 'NOT_ALLOWED',
};

/** For people on their own machines: programs may not, with any scopes. */
const peopleOnly: Record<Caller, Verdict> = { ...fullOnly, full: 'NOT_ALLOWED' };

const readers = { ...fullOnly, viewer: 'ok', agentOnly: 'ok', enqueueOnly: 'ok', readOnly: 'ok' };
/** Decision requests: callers that may answer them may also read them. */
const inboxReaders = { ...readers, enqueueOnly: 'NOT_ALLOWED', decideOnly: 'ok' };
const enqueuers = { ...fullOnly, enqueueOnly: 'ok' };
const integrators = { ...fullOnly, viewer: 'ok', readOnly: 'ok', integrateOnly: 'ok' };
const withoutProof = Object.fromEntries(
  Object.keys(anybody).map((caller) => [caller, 'INTEGRATION_UNAUTHORIZED']),
) as Record<Caller, Verdict>;
/** Only the principal that registered the agent may act for it; agentOnly is a different one. */
const holders = { ...fullOnly, agentOnly: 'AGENT_NOT_FOUND', ownJob: 'ok' };

const onlyBySignature = Object.fromEntries(
  Object.keys(anybody).map((caller) => [caller, 'SIGNED_URL_INVALID']),
) as Record<Caller, Verdict>;

const verdicts = {
  health: anybody,
  live: anybody,
  ready: anybody,
  openapi: anybody,
  authDeviceStart: anybody,
  authDevicePoll: anybody,
  authTokenRevoke: { ...anyToken, otherJob: 'NOT_ALLOWED', ownJob: 'NOT_ALLOWED' },
  authTokenWhoami: anyToken,
  workspacesResolve: anyToken,
  memberList: { ...peopleOnly, viewer: 'ok' },
  memberChangeRole: peopleOnly,
  memberRemove: peopleOnly,
  invitationCreate: peopleOnly,
  invitationList: peopleOnly,
  invitationRevoke: peopleOnly,
  serviceTokenList: peopleOnly,
  serviceTokenMint: peopleOnly,
  serviceTokenRevoke: peopleOnly,
  // A member may log out own machines; for everyone else, the tokens of others do not exist.
  deviceTokenList: { ...peopleOnly, viewer: 'ok' },
  deviceTokenRevoke: { ...peopleOnly, viewer: 'TOKEN_NOT_FOUND' },
  agentsHeartbeat: { ...fullOnly, agentOnly: 'ok' },
  agentsReport: { ...fullOnly, agentOnly: 'AGENT_NOT_FOUND' },
  agentsList: { ...readers, enqueueOnly: 'NOT_ALLOWED' },
  agentsGet: { ...readers, enqueueOnly: 'NOT_ALLOWED' },
  // An action of people: programs may not, with any scopes.
  agentsCommand: { ...fullOnly, full: 'NOT_ALLOWED' },
  reposResolve: readers,
  reposGet: readers,
  reposList: readers,
  reposUpsert: { ...enqueuers, agentOnly: 'ok' },
  jobsList: readers,
  jobsCounts: readers,
  jobsGet: { ...readers, ownJob: 'ok' },
  jobsEnqueue: enqueuers,
  jobsClaimNext: { ...fullOnly, agentOnly: 'AGENT_NOT_FOUND' },
  // The example has a message, with which only the agent speaks.
  jobsHeartbeat: { ...holders, ownJob: 'NOT_ALLOWED' },
  jobsComplete: { ...holders, ownJob: 'NOT_ALLOWED' },
  jobsCancel: enqueuers,
  jobsRetry: enqueuers,
  jobsContinue: enqueuers,
  jobsChooseVariant: enqueuers,
  jobsTakeMessages: { ...holders, ownJob: 'NOT_ALLOWED' },
  // An action of people: programs may not, with any scopes.
  jobsRelease: { ...fullOnly, full: 'NOT_ALLOWED' },
  jobsBulk: enqueuers,
  jobsLog: { ...readers, ownJob: 'ok' },
  jobsActivity: { ...readers, ownJob: 'ok' },
  jobsSearchLog: { ...readers, ownJob: 'ok' },
  jobsDownloadLog: { ...readers, ownJob: 'ok' },
  jobsPatch: { ...readers, ownJob: 'ok' },
  jobsRequestPatch: enqueuers,
  jobsSharePatch: { ...holders, ownJob: 'NOT_ALLOWED' },
  jobEventsListForJob: { ...readers, ownJob: 'ok' },
  jobEventsAppend: holders,
  jobTemplatesList: readers,
  jobTemplatesSave: enqueuers,
  jobTemplatesRemove: enqueuers,
  reviewCommentsList: readers,
  worksApprove: enqueuers,
  worksLand: enqueuers,
  worksClose: enqueuers,
  reviewCommentsSave: enqueuers,
  // For its author, and for owners.
  reviewCommentsRemove: fullOnly,
  reviewCommentsResolve: enqueuers,
  reviewCommentsAnswer: { ...holders, ownJob: 'NOT_ALLOWED' },
  queueListPauses: readers,
  queuePause: enqueuers,
  queueResume: enqueuers,
  runsUpsertV1: { ...enqueuers, agentOnly: 'ok', ownJob: 'ok' },
  // The example ends the run.
  runsUpsertV2: { ...enqueuers, agentOnly: 'ok' },
  runsGet: { ...readers, ownJob: 'ok' },
  runsOverview: { ...readers, ownJob: 'ok' },
  runsGraph: { ...readers, ownJob: 'ok' },
  runsList: readers,
  uncertaintiesCreateWithAutoPromotion: { ...enqueuers, agentOnly: 'ok', ownJob: 'ok' },
  // Answering for a person needs its own scope, which a job token never has.
  uncertaintiesAddResolution: { ...fullOnly, decideOnly: 'ok' },
  uncertaintiesResolveAlike: { ...fullOnly, decideOnly: 'ok' },
  uncertaintiesPromote: { ...fullOnly, decideOnly: 'ok' },
  uncertaintiesWithdrawResolution: { ...fullOnly, decideOnly: 'ok' },
  uncertaintiesGet: { ...inboxReaders, ownJob: 'ok' },
  uncertaintiesWait: { ...inboxReaders, ownJob: 'ok' },
  uncertaintiesTakeAnswer: { ...holders, ownJob: 'NOT_ALLOWED' },
  uncertaintiesList: inboxReaders,
  uncertaintiesCounts: inboxReaders,
  uncertaintiesInbox: { ...inboxReaders, ownJob: 'NOT_ALLOWED' },
  // Only the machine of a person asks for a session of theirs.
  sessionQuestionsAsk: { ...fullOnly, full: 'NOT_ALLOWED' },
  sessionQuestionsWait: { ...fullOnly, full: 'NOT_ALLOWED' },
  sessionQuestionsWithdraw: { ...fullOnly, full: 'NOT_ALLOWED' },
  cloudAiJobsEnqueue: enqueuers,
  cloudAiJobsGet: readers,
  // A job token is for the tool of a job; only agents make model calls.
  cloudAiJobsClaimNext: { ...fullOnly, agentOnly: 'AGENT_NOT_FOUND' },
  cloudAiJobsHeartbeat: { ...fullOnly, agentOnly: 'AGENT_NOT_FOUND' },
  cloudAiJobsComplete: { ...fullOnly, agentOnly: 'AGENT_NOT_FOUND' },
  contextItemsUpsert: { ...fullOnly, agentOnly: 'ok', integrateOnly: 'ok' },
  contextItemsRemove: { ...fullOnly, agentOnly: 'ok', integrateOnly: 'ok' },
  contextItemsGet: { ...readers, enqueueOnly: 'NOT_ALLOWED' },
  contextItemsList: { ...readers, enqueueOnly: 'NOT_ALLOWED' },
  contextItemsSearch: { ...readers, enqueueOnly: 'NOT_ALLOWED' },
  // A job token reads the packs of its run, and no other items.
  // The example requests items.
  contextPacksBuildRunV1: { ...enqueuers, agentOnly: 'ok' },
  contextPacksResolveRunV1: { ...readers, enqueueOnly: 'NOT_ALLOWED', ownJob: 'ok' },
  // An upload that a job token creates belongs to its job.
  uploadsCreate: {
    ...fullOnly,
    agentOnly: 'ok',
    enqueueOnly: 'ok',
    integrateOnly: 'ok',
    otherJob: 'ok',
    ownJob: 'ok',
  },
  uploadsGetDownloadUrl: {
    ...fullOnly,
    viewer: 'ok',
    agentOnly: 'ok',
    readOnly: 'ok',
    otherJob: 'UPLOAD_NOT_FOUND',
    ownJob: 'UPLOAD_NOT_FOUND',
  },
  uploadsList: { ...readers, enqueueOnly: 'NOT_ALLOWED' },
  uploadsUsage: { ...readers, enqueueOnly: 'NOT_ALLOWED' },
  // For who created it, and for the tool of its job.
  uploadsDelete: {
    ...fullOnly,
    agentOnly: 'NOT_ALLOWED',
    enqueueOnly: 'NOT_ALLOWED',
    integrateOnly: 'NOT_ALLOWED',
    otherJob: 'UPLOAD_NOT_FOUND',
    ownJob: 'UPLOAD_NOT_FOUND',
  },
  // No token grants these, with any scopes: only the signature in the URL does.
  uploadsStoreBytes: onlyBySignature,
  uploadsReadBytes: onlyBySignature,
  // No token grants these; other tests cover their own credentials.
  integrationsIngest: withoutProof,
  integrationsChatEvents: withoutProof,
  integrationEventsList: integrators,
  integrationEventsGet: integrators,
  integrationEventsReplay: { ...fullOnly, integrateOnly: 'ok' },
  integrationEventsTestTrigger: integrators,
  triggersList: integrators,
  triggersGet: integrators,
  triggersListFirings: integrators,
  changesStream: { ...fullOnly, viewer: 'ok', readOnly: 'ok' },
} satisfies Record<string, Record<Caller, string>>;

const callers = Object.keys(anybody) as Caller[];
/** Revokes the tokens that call it, so it runs last. */
const revoke = endpoints.tokens.revoke as Endpoint;

function verdictOf(endpoint: Endpoint, caller: Caller): Verdict {
  const row = (verdicts as Record<string, Record<Caller, string>>)[endpoint.name];
  assert.ok(row, `${endpoint.name} has no row in the policy table: say who may call it`);
  return row[caller] as Verdict;
}

/** The endpoint's own example about a job in the state that the call is for. */
async function requestOf(
  world: World,
  endpoint: Endpoint,
  caller: Caller,
): Promise<{ body: Record<string, unknown>; job: HeldJob | null }> {
  const namesJob = 'jobId' in endpoint.example.request;
  const ofRun = namesRun(endpoint) ? { runId: await ensureRun(world) } : {};
  const job = namesJob || caller === 'ownJob' ? await world.startJob(ofRun) : null;
  const { retry } = endpoints.jobs;
  const jobId = endpoint.name === retry.name ? await world.finishJob('failed') : job?.jobId;
  return { body: await fillExample(world, endpoint, jobId ?? ''), job };
}

function tokenOf(world: World, endpoint: Endpoint, caller: Caller, job: HeldJob | null) {
  if (caller === 'ownJob') return job?.jobToken ?? null;
  // The test still needs the full token afterwards.
  return endpoint === revoke && caller === 'full'
    ? world.mintToken(world.home.workspaceId, 'short-lived')
    : world.credentials[caller];
}

test('every endpoint admits exactly the callers in the policy table', async (t) => {
  // Many calls are refused on purpose, from one address and at one moment.
  const world = await startApiWorld(t, { config: { addressRate: 0 } });
  const { baseUrl } = world.hub;
  const { pause, resume } = endpoints.queue;
  const bound = (await listBoundEndpoints(baseUrl)).filter((row) => row !== revoke);
  bound.push(revoke);
  assert.ok(bound.length >= 24, 'the description lists the endpoints of the hub');
  for (const endpoint of bound) {
    await t.test(`${endpoint.method} ${endpoint.path}`, async () => {
      for (const caller of callers) {
        const { body, job } = await requestOf(world, endpoint, caller);
        const answer = await exchange(baseUrl, {
          ...requestOfRow(endpoint, body),
          token: await tokenOf(world, endpoint, caller, job),
        });
        const expected = verdictOf(endpoint, caller);
        const actual = answer.status === 200 ? 'ok' : answer.body.error;
        assert.equal(actual, expected, `${endpoint.name} for ${caller}: ${answer.text}`);
        assert.equal(answer.status, expected === 'ok' ? 200 : statusOf(expected));
        checkRequestId(answer);
        assertNothingLeaks(answer);
        // Nothing can be claimed for the next request while the queue is paused.
        if (endpoint.name === pause.name && expected === 'ok') {
          await world.call(resume, { workspaceId: world.home.workspaceId });
        }
      }
    });
  }
});

test('every row of the policy table names an endpoint of the contract', () => {
  const names = new Set(endpointList.map(({ name }) => name));
  for (const name of Object.keys(verdicts)) assert.ok(names.has(name), name);
});

test('the console’s paths accept no token, and the control plane accepts no cookie', async (t) => {
  const world = await startApiWorld(t);
  const { baseUrl } = world.hub;
  const bound = await listBoundEndpoints(baseUrl);
  for (const endpoint of mirroredEndpointList.filter((row) => bound.includes(row))) {
    const { body } = await requestOf(world, endpoint, 'none');
    const headers = { 'sec-fetch-site': 'same-origin', cookie: 'sbx_session=x' };
    const token = world.home.token;
    const path = consolePathOf(endpoint);
    const request = requestOfRow(endpoint, body, path);
    const console = await exchange(baseUrl, { ...request, token, headers });
    assert.equal(console.body.error, 'SESSION_REQUIRED', `${path}: ${console.text}`);
    const plain = await exchange(baseUrl, { ...requestOfRow(endpoint, body), headers });
    assert.equal(plain.body.error, 'TOKEN_MISSING', `${endpoint.path}: ${plain.text}`);
  }
});
