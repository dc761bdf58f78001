import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { consoleEndpoints, endpoints } from '@signalbox/contract';
import type { RequestContext } from '../../src/base/principal.ts';
import { claimNextCloudAiJob } from '../../src/cloud-ai-jobs/claim.ts';
import { claimNextJob } from '../../src/jobs/claim.ts';
import { principalOfJob, principalOfToken } from '../../src/tokens/authenticate-bearer.ts';
import { hashToken } from '../../src/tokens/store.ts';
import { type JobTokenRow, readTokenByHash } from '../../src/tokens/store-bearers.ts';
import { addPerson, listAudit, logDeviceIn, makeOwner, signInAs } from '../support/people.ts';
import { startTestHub, type TestHub } from '../support/test-hub.ts';
import { until } from '../support/until.ts';
import type { Visitor } from '../support/visitor.ts';

const { jobs, cloudAiJobs, uncertainties, runs, tokens, agents, repositories } = endpoints;
const { members } = consoleEndpoints;
const WAIT_MS = 60_000;
const DAY_MS = 86_400_000;

/** A hub with an owner, and a colleague whose laptop runs an agent. */
async function setup(t: TestContext) {
  const hub = await startTestHub(t);
  const { browser: owner, workspaceId } = await makeOwner(hub);
  const { personId, email } = await addPerson(hub, workspaceId, 'grace', 'member');
  const browser = await signInAs(hub, email);
  const laptop = hub.visitor().withToken(await logDeviceIn(hub, browser));
  const ownLaptop = hub.visitor().withToken(await logDeviceIn(hub, owner));
  const remoteUrlHash = 'a'.repeat(64);
  const { repoId } = await laptop.call(repositories.upsert, { workspaceId, remoteUrlHash });
  const agentId = await beat(laptop, workspaceId);
  return { hub, owner, browser, laptop, ownLaptop, workspaceId, personId, repoId, agentId };
}
type World = Awaited<ReturnType<typeof setup>>;

async function beat(laptop: Visitor, workspaceId: string): Promise<string> {
  const machine = { machineFingerprint: 'laptop', capabilities: { canWrite: true } };
  return (await laptop.call(agents.heartbeat, { workspaceId, ...machine })).agentId;
}

/** A job that the laptop holds, and its tool. */
async function holdJob({ hub, laptop, workspaceId, repoId, agentId }: World, leaseMs = WAIT_MS) {
  const job = { workspaceId, repoId, kind: 'work' as const, prompt: 'Do it.' };
  const { jobId } = await laptop.call(jobs.enqueue, job);
  const claim = await laptop.call(jobs.claimNext, { workspaceId, agentId, leaseMs });
  assert.equal(claim.jobId, jobId);
  const tool = hub.visitor().withToken(claim.jobToken ?? '');
  return { jobId, tool };
}

async function ask({ laptop, workspaceId, repoId }: World, jobId: string): Promise<string> {
  const run = { workspaceId, repoId, runRef: 'run', status: 'in_progress' };
  const { runId } = await laptop.call(runs.upsertV1, run);
  const question = { prompt: 'Which?', kind: 'choice' as const, confidence: 0 };
  const asked = { workspaceId, runId, jobId, ...question };
  return (await laptop.call(uncertainties.createWithAutoPromotion, asked)).uncertaintyId;
}

/** The waits of the laptop: a claim of each queue, and one for a decision. */
async function park(world: World) {
  const { hub, laptop, workspaceId, agentId } = world;
  const { jobId } = await holdJob(world, DAY_MS);
  const uncertaintyId = await ask(world, jobId);
  const claim = { workspaceId, agentId, waitMs: WAIT_MS };
  const ended = Promise.all([
    laptop.codeOf(jobs.claimNext, claim),
    laptop.codeOf(cloudAiJobs.claimNext, claim),
    laptop.codeOf(uncertainties.wait, { workspaceId, uncertaintyId, waitMs: WAIT_MS }),
  ]);
  await untilWaiting(hub, { claims: 2, decisions: 1 });
  return { ended };
}

function untilWaiting({ deps }: TestHub, wanted: { claims: number; decisions: number }) {
  return until('the requests wait', () => {
    const { waiters, decisionWaiters } = deps;
    return waiters.count === wanted.claims && decisionWaiters.count === wanted.decisions;
  });
}

/** The clock of the test stands still, so a wait that is not ended never ends by itself. */
const options = { timeout: 30_000 };

const losses: [string, code: string, (world: World) => Promise<unknown>][] = [
  ['is revoked', 'TOKEN_REVOKED', ({ laptop }) => laptop.call(tokens.revoke, {})],
  ['has expired', 'TOKEN_EXPIRED', ({ hub }) => expireTokens(hub)],
  [
    'has lost its scope',
    'NOT_ALLOWED',
    ({ owner, workspaceId, personId }) =>
      owner.call(members.changeRole, { workspaceId, personId, role: 'viewer' }),
  ],
];
for (const [what, code, lose] of losses) {
  test(`a claim that was let in before its token ${what} is refused in its transaction`, async (t) => {
    const world = await setup(t);
    const { hub, laptop, workspaceId, repoId, agentId } = world;
    const job = { workspaceId, repoId, kind: 'work' as const, prompt: 'Do it.' };
    await laptop.call(jobs.enqueue, job);
    const row = await readTokenByHash(hub.database.reader, hashToken(laptop.token ?? ''));
    assert.ok(row !== undefined);
    const principal = principalOfToken(row, hub.clock.nowMs());
    await lose(world);
    const context = { principal, signal: AbortSignal.timeout(WAIT_MS) } as RequestContext;
    const input = { workspaceId, agentId, leaseMs: WAIT_MS, waitMs: 0 };
    await assert.rejects(claimNextJob(hub.deps, context, input), { code });
    await assert.rejects(claimNextCloudAiJob(hub.deps, context, input), { code });
  });
}

test(
  'a revoked token ends the waiting claims and decision waits of its agent',
  options,
  async (t) => {
    const world = await setup(t);
    const { ended } = await park(world);
    await world.laptop.call(tokens.revoke, {});
    assert.deepEqual(await ended, ['TOKEN_REVOKED', 'TOKEN_REVOKED', 'TOKEN_REVOKED']);
  },
);

test('removing a member ends the waits of their machines', options, async (t) => {
  const world = await setup(t);
  const { workspaceId, personId } = world;
  const { ended } = await park(world);
  await world.owner.call(members.remove, { workspaceId, personId });
  assert.deepEqual(await ended, ['TOKEN_REVOKED', 'TOKEN_REVOKED', 'TOKEN_REVOKED']);
});

test(
  'a member who becomes a viewer claims nothing more, but may still wait for an answer',
  options,
  async (t) => {
    const world = await setup(t);
    const { hub, workspaceId, personId } = world;
    const { ended } = await park(world);
    await world.owner.call(members.changeRole, { workspaceId, personId, role: 'viewer' });
    await untilWaiting(hub, { claims: 0, decisions: 1 });
    hub.clock.advance(WAIT_MS);
    assert.deepEqual(await ended, ['NOT_ALLOWED', 'NOT_ALLOWED', 'ok']);
  },
);

test('a token that expires ends the waits of its agent', options, async (t) => {
  const world = await setup(t);
  const { hub, owner, workspaceId } = world;
  const expiresInMs = WAIT_MS + 1_000;
  const minted = await owner.call(consoleEndpoints.serviceTokens.mint, {
    workspaceId,
    name: 'ci',
    expiresInMs,
  });
  const laptop = hub.visitor().withToken(minted.token);
  const agentId = await beat(laptop, workspaceId);
  hub.clock.advance(2_000);
  const claim = { workspaceId, agentId, waitMs: WAIT_MS };
  const waiting = laptop.codeOf(jobs.claimNext, claim);
  await untilWaiting(hub, { claims: 1, decisions: 0 });
  hub.clock.advance(expiresInMs - 2_000);
  assert.equal(await waiting, 'TOKEN_EXPIRED');
});

test('a job token ends with the token of the agent that holds the job', async (t) => {
  const world = await setup(t);
  const { jobId, tool } = await holdJob(world, DAY_MS);
  const { workspaceId, agentId } = world;
  assert.equal(await tool.codeOf(tokens.whoami, {}), 'ok');
  await world.laptop.call(tokens.revoke, {});
  assert.equal(await tool.codeOf(tokens.whoami, {}), 'TOKEN_REVOKED');
  const renewal = { workspaceId, agentId, jobId, leaseMs: DAY_MS };
  assert.equal(await tool.codeOf(jobs.heartbeat, renewal), 'TOKEN_REVOKED');
  const completion = { workspaceId, agentId, jobId, outcome: 'done' as const };
  assert.equal(await tool.codeOf(jobs.complete, completion), 'TOKEN_REVOKED');
});

test('a job token of a person who has left is refused, even with a valid token of their machine', () => {
  const held: Omit<JobTokenRow, 'role'> = {
    token_hash: 'hash',
    workspace_id: 'wsp_1',
    entry_id: 'job_1',
    agent_id: 'agt_1',
    lease_expires_at: 2,
    run_id: null,
    kind: 'device',
    expires_at: 2,
    revoked_at: null,
  };
  assert.equal(principalOfJob({ ...held, role: 'member' }, 1).kind, 'job');
  for (const role of ['viewer', null] as const) {
    assert.throws(() => principalOfJob({ ...held, role }, 1), { code: 'TOKEN_REVOKED' });
  }
});

test('a tool that waits for an answer ends with the token of its agent', options, async (t) => {
  const world = await setup(t);
  const { workspaceId, hub } = world;
  const { jobId, tool } = await holdJob(world, DAY_MS);
  const uncertaintyId = await ask(world, jobId);
  const wait = { workspaceId, uncertaintyId, waitMs: WAIT_MS };
  const waiting = tool.codeOf(uncertainties.wait, wait);
  await untilWaiting(hub, { claims: 0, decisions: 1 });
  await world.laptop.call(tokens.revoke, {});
  assert.equal(await waiting, 'TOKEN_REVOKED');
});

test('the jobs of a revoked agent are pending again, and the audit log says so', async (t) => {
  const world = await setup(t);
  const { hub, workspaceId, agentId, ownLaptop } = world;
  const { jobId } = await holdJob(world, DAY_MS);
  await world.laptop.call(tokens.revoke, {});
  assert.equal(await hub.hub.loops.endedTokens.runOnce(), 1);
  const { job } = await ownLaptop.call(jobs.get, { workspaceId, jobId });
  assert.deepEqual([job.status, job.attempt], ['pending', 1]);
  const { events } = await ownLaptop.call(endpoints.jobEvents.listForJob, { workspaceId, jobId });
  const last = events.at(-1);
  assert.equal(last?.kind, 'recovered');
  assert.match(last?.message ?? '', /token/);
  const entry = (await listAudit(hub, workspaceId)).at(-1);
  assert.equal(entry?.action, 'agent.end-leases');
  assert.partialDeepStrictEqual(JSON.parse(entry.data), {
    jobIds: [jobId],
    cause: 'TOKEN_REVOKED',
  });
  assert.equal(await hub.hub.loops.endedTokens.runOnce(), 0);
  assert.ok(agentId.startsWith('agt_'));
});

const endings: [string, (world: World) => Promise<unknown>][] = [
  ['whose person left', ({ browser, workspaceId }) => browser.call(members.leave, { workspaceId })],
  [
    'whose person became a viewer',
    ({ owner, workspaceId, personId }) =>
      owner.call(members.changeRole, { workspaceId, personId, role: 'viewer' }),
  ],
  ['whose token expired', async ({ hub }) => expireTokens(hub)],
];
for (const [what, end] of endings) {
  test(`an agent ${what} loses its leases`, async (t) => {
    const world = await setup(t);
    const { hub, workspaceId, owner } = world;
    const { jobId, tool } = await holdJob(world, DAY_MS);
    assert.equal(await hub.hub.loops.endedTokens.runOnce(), 0);
    await end(world);
    assert.notEqual(await tool.codeOf(tokens.whoami, {}), 'ok');
    assert.equal(await hub.hub.loops.endedTokens.runOnce(), 1);
    const path = '/console-api/v1/jobs/get';
    const { body } = await owner.send(path, { workspaceId, jobId });
    assert.partialDeepStrictEqual(body, { job: { status: 'pending' } });
  });
}

async function expireTokens({ database, clock }: TestHub): Promise<void> {
  await database.write(null, (tx) =>
    tx.runSql('UPDATE tokens SET expires_at = ?', [clock.nowMs()]),
  );
}

test('an agent that has a new token keeps its leases when the old one is revoked', async (t) => {
  const world = await setup(t);
  const { hub, browser, workspaceId, agentId } = world;
  const { tool } = await holdJob(world, DAY_MS);
  const renewed = hub.visitor().withToken(await logDeviceIn(hub, browser));
  assert.equal(await beat(renewed, workspaceId), agentId);
  await world.laptop.call(tokens.revoke, {});
  assert.equal(await hub.hub.loops.endedTokens.runOnce(), 0);
  assert.equal(await tool.codeOf(tokens.whoami, {}), 'ok');
});

test('a job token renews by no more than the lease that the agent took', async (t) => {
  const world = await setup(t);
  const { hub, laptop, workspaceId, agentId } = world;
  const { jobId, tool } = await holdJob(world, WAIT_MS);
  const renew = (by: Visitor, leaseMs: number) =>
    by.call(jobs.heartbeat, { workspaceId, agentId, jobId, leaseMs });
  const endOf = ({ leaseExpiresAt }: { leaseExpiresAt: string }) =>
    Date.parse(leaseExpiresAt) - hub.clock.nowMs();
  hub.clock.advance(1_000);
  assert.equal(endOf(await renew(tool, DAY_MS)), WAIT_MS);
  // A shorter renewal by the tool does not become the agent's lease.
  await renew(tool, 1_000);
  hub.clock.advance(2_000);
  assert.equal(endOf(await renew(tool, DAY_MS)), WAIT_MS);
  assert.equal(endOf(await renew(laptop, 2 * WAIT_MS)), 2 * WAIT_MS);
  hub.clock.advance(1_000);
  assert.equal(endOf(await renew(tool, DAY_MS)), 2 * WAIT_MS);
});

test('a job token renews nothing while its agent is silent', async (t) => {
  const world = await setup(t);
  const { hub, laptop, workspaceId, agentId } = world;
  const { jobId, tool } = await holdJob(world, 2 * WAIT_MS);
  const renewal = { workspaceId, agentId, jobId, leaseMs: 2 * WAIT_MS };
  const before = await tool.call(jobs.heartbeat, renewal);
  hub.clock.advance(45_000);
  const silent = await tool.call(jobs.heartbeat, renewal);
  assert.equal(silent.leaseExpiresAt, before.leaseExpiresAt);
  await beat(laptop, workspaceId);
  const heard = await tool.call(jobs.heartbeat, renewal);
  assert.equal(Date.parse(heard.leaseExpiresAt), hub.clock.nowMs() + 2 * WAIT_MS);
});
