import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { TestContext } from 'node:test';
import { endpoints, formatToken, type RequestOf, type Scope, scopes } from '@signalbox/contract';
import { insertMembership } from '../../src/access/store.ts';
import { insertPerson } from '../../src/people/store.ts';
import { mintServiceToken } from '../../src/tokens/mint.ts';
import { drawToken, hashToken, insertToken } from '../../src/tokens/store.ts';
import { startCloudAiJob } from './cloud-ai-world.ts';
import { type HomeWorld, startHomeWorld, type TestWorkspace } from './home-world.ts';
import { createManualClock, type ManualClock } from './manual-clock.ts';
import type { TestHubOptions } from './test-hub.ts';

const { agents, contextItems, contextPacks, jobEvents, jobs, reviewComments, runs, tokens } =
  endpoints;
const { uncertainties } = endpoints;

/** Part of every text of the workspace `other`; no answer to other callers may contain it (I10). */
export const CANARY = 'canary-5f1c2e';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

export interface HeldJob {
  jobId: string;
  jobToken: string;
  claimGeneration: number;
}

/** Callers of the hub, by what is right or wrong with their token. */
export interface Credentials {
  /** A service token of every scope. */
  full: string;
  none: null;
  malformed: string;
  /** Well formed but for its check characters. */
  wrongCheck: string;
  unknown: string;
  expired: string;
  revoked: string;
  /** Of the workspace `other`. */
  foreign: string;
  /** Of the job `held`, which runs in `home`; another one than most requests are about. */
  otherJob: string;
  /** Of the machine of a person with the role of a viewer. */
  viewer: string;
  agentOnly: string;
  enqueueOnly: string;
  readOnly: string;
  decideOnly: string;
  integrateOnly: string;
}
export type CredentialName = keyof Credentials;

export interface World extends HomeWorld {
  clock: ManualClock;
  /** An online agent of `home` that may do everything. */
  agentId: string;
  credentials: Credentials;
  /** The job of `home` whose token is the credential `otherJob`. */
  held: HeldJob;
  other: TestWorkspace & {
    agentId: string;
    jobId: string;
    runningJobId: string;
    cloudAiJobId: string;
    runId: string;
    uncertaintyId: string;
    decisionRequestId: string;
    itemId: string;
    packId: string;
    commentId: string;
  };
  enqueue(draft?: Partial<RequestOf<typeof jobs.enqueue>>): Promise<string>;
  /** A job of `home` that its agent has just claimed. */
  startJob(draft?: Partial<RequestOf<typeof jobs.enqueue>>): Promise<HeldJob>;
  finishJob(outcome: 'done' | 'failed' | 'blocked'): Promise<string>;
}

/** A hub with two workspaces, the other one full of canaries, and a token of each kind. */
export async function startApiWorld(
  t: TestContext,
  options: Omit<TestHubOptions, 'clock'> = {},
): Promise<World> {
  const clock = createManualClock();
  const harness = await startHomeWorld(t, { ...options, clock });
  const { home } = harness;
  const expired = await mint(harness, 'expired', scopes, MINUTE_MS);
  clock.advance(MINUTE_MS);
  const agentId = await harness.addAgent(home, 'home-machine');
  const { workspaceId, repoId } = home;
  const enqueue: World['enqueue'] = async (draft = {}) => {
    const body = { workspaceId, repoId, kind: 'work' as const, prompt: 'Do it.', ...draft };
    return (await harness.call(jobs.enqueue, body)).jobId;
  };
  const startJob: World['startJob'] = async (draft = {}) => {
    const jobId = await enqueue({ priority: 1_000, ...draft });
    return claim(harness, home, agentId, jobId);
  };
  const held = await startJob();
  return {
    ...harness,
    clock,
    agentId,
    held,
    enqueue,
    startJob,
    async finishJob(outcome) {
      const { jobId } = await startJob();
      await harness.call(jobs.complete, { workspaceId, jobId, agentId, outcome });
      return jobId;
    },
    other: await plantCanaries(harness),
    credentials: await makeCredentials(harness, expired, held.jobToken),
  };
}

async function claim(
  harness: HomeWorld,
  { workspaceId, token }: TestWorkspace,
  agentId: string,
  jobId: string,
): Promise<HeldJob> {
  const body = { workspaceId, agentId, leaseMs: DAY_MS };
  let claimed = await harness.call(jobs.claimNext, body, token);
  // Others of the same rank may go first: they run as well, then.
  while (claimed.jobId !== null && claimed.jobId !== jobId) {
    claimed = await harness.call(jobs.claimNext, body, token);
  }
  assert.equal(claimed.jobId, jobId);
  assert.ok(claimed.jobToken !== undefined && claimed.claimGeneration !== undefined);
  return { jobId, jobToken: claimed.jobToken, claimGeneration: claimed.claimGeneration };
}

/** A workspace in which every text that anybody can write holds the canary. */
async function plantCanaries(harness: HomeWorld): Promise<World['other']> {
  const workspace = await harness.addWorkspace(CANARY);
  const { workspaceId, token, repoId } = workspace;
  const { agentId } = await harness.call(
    agents.heartbeat,
    {
      workspaceId,
      machineFingerprint: `${CANARY}-machine`,
      displayName: `${CANARY}-name`,
      capabilities: { canWrite: true, labels: { canary: CANARY } },
    },
    token,
  );
  await harness.addRepository(workspace, CANARY);
  const body = {
    workspaceId,
    repoId,
    kind: 'work' as const,
    role: CANARY,
    prompt: `${CANARY} prompt`,
  };
  const commentId = await plantComment(harness, workspace, agentId, body);
  const first = await harness.call(jobs.enqueue, { ...body, requirements: CANARY }, token);
  const { jobId: runningJobId } = await claim(harness, workspace, agentId, first.jobId);
  const ref = { workspaceId, jobId: runningJobId, agentId };
  await harness.call(jobs.heartbeat, { ...ref, message: CANARY, leaseMs: DAY_MS }, token);
  await harness.call(
    jobEvents.append,
    { ...ref, entries: [{ logSeq: 1, message: CANARY }] },
    token,
  );
  const { jobId } = await harness.call(
    jobs.enqueue,
    { ...body, idempotencyKey: 'shared-key' },
    token,
  );
  const cloudAiJobId = await startCloudAiJob(harness, workspace, agentId, {
    kind: CANARY,
    input: { system: CANARY, messages: [{ role: 'user', content: CANARY }] },
    responseSchema: { title: CANARY },
  });
  const decision = await plantDecision(harness, workspace, runningJobId);
  const context = await plantContext(harness, workspace, decision.runId);
  const ids = { agentId, jobId, runningJobId, cloudAiJobId, commentId };
  return { ...workspace, ...ids, ...decision, ...context };
}

async function plantComment(
  harness: HomeWorld,
  workspace: TestWorkspace,
  agentId: string,
  draft: Omit<RequestOf<typeof jobs.enqueue>, 'workspaceId' | 'repoId'>,
): Promise<string> {
  const { workspaceId, repoId, token } = workspace;
  const { jobId } = await harness.call(jobs.enqueue, { ...draft, workspaceId, repoId }, token);
  await claim(harness, workspace, agentId, jobId);
  const evidence = { commitSha: 'c'.repeat(40), branch: CANARY };
  const ended = { workspaceId, jobId, agentId, outcome: 'done' as const, evidence };
  await harness.call(jobs.complete, ended, token);
  const { comment } = await harness.call(
    reviewComments.save,
    {
      workspaceId,
      jobId,
      text: CANARY,
      place: { path: CANARY, side: 'result', startLine: 1, endLine: 1, lines: CANARY },
    },
    token,
  );
  return comment.commentId;
}

async function plantContext(
  { call }: HomeWorld,
  { workspaceId, token }: TestWorkspace,
  runId: string,
): Promise<{ itemId: string; packId: string }> {
  const written = { title: CANARY, text: `${CANARY} rounding`, source: CANARY, sourceRef: CANARY };
  const item = { workspaceId, kind: 'note', threadRef: CANARY, pinned: true, ...written } as const;
  const { itemId } = await call(contextItems.upsert, item, token);
  const { packId } = await call(contextPacks.buildRunV1, { workspaceId, runId }, token);
  return { itemId, packId };
}

async function plantDecision(
  { call }: HomeWorld,
  { workspaceId, repoId, token }: TestWorkspace,
  jobId: string,
): Promise<{ runId: string; uncertaintyId: string; decisionRequestId: string }> {
  const written = { status: CANARY, currentMilestone: CANARY, runStatePath: CANARY, goal: CANARY };
  const run = { workspaceId, repoId, runRef: CANARY, title: CANARY, ...written };
  const { runId } = await call(runs.upsertV1, run, token);
  const { uncertaintyId, decisionRequestId } = await call(
    uncertainties.createWithAutoPromotion,
    {
      workspaceId,
      runId,
      jobId,
      kind: 'choice',
      confidence: 0,
      prompt: CANARY,
      context: CANARY,
      impact: CANARY,
      reversibility: CANARY,
      assumedValue: CANARY,
      assumedReasoning: CANARY,
      recommendedValue: CANARY,
      options: [{ value: CANARY, label: CANARY, description: CANARY }],
    },
    token,
  );
  const answered = { mode: 'answered', value: CANARY, confidence: 1, commitSha: CANARY } as const;
  await call(uncertainties.addResolution, { workspaceId, uncertaintyId, ...answered }, token);
  assert.ok(decisionRequestId !== null);
  return { runId, uncertaintyId, decisionRequestId };
}

async function makeCredentials(
  harness: HomeWorld,
  expired: string,
  otherJob: string,
): Promise<Credentials> {
  const { home } = harness;
  const foreignWorkspace = await harness.addWorkspace('neighbour');
  const revoked = await mint(harness, 'revoked', scopes);
  await harness.call(tokens.revoke, {}, revoked);
  const only = (scope: Scope) => mint(harness, `${scope}-only`, [scope]);
  return {
    full: home.token,
    none: null,
    malformed: 'not-a-token',
    wrongCheck: spoilCheck(home.token),
    unknown: formatToken('service', randomBytes(32)),
    expired,
    revoked,
    foreign: foreignWorkspace.token,
    otherJob,
    viewer: await makeViewer(harness),
    agentOnly: await only('agent'),
    enqueueOnly: await only('enqueue'),
    readOnly: await only('read'),
    decideOnly: await only('decide'),
    integrateOnly: await only('integrate'),
  };
}

async function mint(
  { hub, home }: HomeWorld,
  name: string,
  granted: readonly Scope[],
  expiresInMs?: number,
): Promise<string> {
  const draft = { workspaceId: home.workspaceId, name, scopes: granted, createdBy: 'test' };
  const minted = await hub.database.write(null, (tx) =>
    mintServiceToken(hub.deps, tx, { ...draft, ...(expiresInMs && { expiresInMs }) }),
  );
  return minted.token;
}

function spoilCheck(token: string): string {
  return token.slice(0, -1) + (token.endsWith('0') ? '1' : '0');
}

/** A person who may only look, with a machine that was logged in. */
async function makeViewer({ hub, home }: HomeWorld): Promise<string> {
  const { database, deps } = hub;
  const { workspaceId } = home;
  const token = drawToken('device');
  const personId = deps.ids('person');
  await database.write(null, async (tx) => {
    const created_at = tx.nowMs;
    await insertPerson(tx, {
      person_id: personId,
      email: 'vera@acme.dev',
      name: 'Vera',
      password_hash: 'none',
      created_at,
    });
    const membership = { workspace_id: workspaceId, person_id: personId, created_at };
    await insertMembership(tx, { ...membership, role: 'viewer' });
    await insertToken(tx, {
      workspaceId,
      tokenId: deps.ids('token'),
      tokenHash: hashToken(token),
      kind: 'device',
      principalId: personId,
      personId,
      name: 'vera-machine',
      scopes: [],
      expiresAtMs: tx.nowMs + DAY_MS,
      createdBy: personId,
    });
  });
  return token;
}
