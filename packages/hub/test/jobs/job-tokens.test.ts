import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { endpoints, formatToken } from '@signalbox/contract';
import { logDeviceIn, makeOwner } from '../support/people.ts';
import { startTestHub, type TestHub } from '../support/test-hub.ts';

const { whoami } = endpoints.tokens;
const LEASE_MS = 60_000;

/** An agent with two jobs claimed, each with its token. */
async function setup(t: TestContext) {
  const hub = await startTestHub(t);
  const { browser, workspaceId } = await makeOwner(hub);
  const agent = hub.visitor().withToken(await logDeviceIn(hub, browser));
  const { repoId } = await agent.call(endpoints.repositories.upsert, {
    workspaceId,
    remoteUrlHash: 'a'.repeat(64),
  });
  const { agentId } = await agent.call(endpoints.agents.heartbeat, {
    workspaceId,
    displayName: 'build-7',
    machineFingerprint: 'build-7',
    capabilities: { canWrite: true },
  });
  const claims = [];
  for (const prompt of ['first', 'second']) {
    await agent.call(endpoints.jobs.enqueue, { workspaceId, repoId, kind: 'work', prompt });
    const claim = await agent.call(endpoints.jobs.claimNext, {
      workspaceId,
      agentId,
      leaseMs: LEASE_MS,
    });
    assert.ok(claim.jobId && claim.jobToken);
    claims.push({ jobId: claim.jobId, token: claim.jobToken });
  }
  const [own, foreign] = claims;
  assert.ok(own && foreign);
  return { hub, agent, workspaceId, agentId, own, foreign };
}

function toolOf(hub: TestHub, { token }: { token: string }) {
  return hub.visitor().withToken(token);
}

test('a job token identifies its job', async (t) => {
  const { hub, own } = await setup(t);
  const tool = toolOf(hub, own);
  const who = await tool.call(whoami, {});
  assert.deepEqual(
    [who.kind, who.principalId, who.workspaceSlug, who.scopes],
    ['job', `job:${own.jobId}`, 'acme', ['agent', 'read']],
  );
  assert.equal(Date.parse(who.expiresAt ?? ''), hub.clock.nowMs() + LEASE_MS);
});

test('a job token lasts as long as the lease, however often that is renewed', async (t) => {
  const { hub, agent, workspaceId, agentId, own } = await setup(t);
  const tool = toolOf(hub, own);
  hub.clock.advance(LEASE_MS - 1);
  assert.equal(await tool.codeOf(whoami, {}), 'ok');
  const { jobId } = own;
  await agent.call(endpoints.jobs.heartbeat, { workspaceId, agentId, jobId, leaseMs: LEASE_MS });
  hub.clock.advance(LEASE_MS - 1);
  assert.equal(await tool.codeOf(whoami, {}), 'ok');
  hub.clock.advance(1);
  assert.equal(await tool.codeOf(whoami, {}), 'TOKEN_EXPIRED');
});

test('a job token expires with its job, and an attempt’s token with the attempt', async (t) => {
  const { hub, agent, workspaceId, agentId, own, foreign } = await setup(t);
  const { jobId } = own;
  await agent.call(endpoints.jobs.complete, { workspaceId, agentId, jobId, outcome: 'blocked' });
  assert.equal(await toolOf(hub, own).codeOf(whoami, {}), 'TOKEN_EXPIRED');
  hub.clock.advance(LEASE_MS);
  const again = await agent.call(endpoints.jobs.claimNext, { workspaceId, agentId });
  assert.equal(again.jobId, foreign.jobId, 'the job with the expired lease is claimed again');
  assert.equal(await toolOf(hub, foreign).codeOf(whoami, {}), 'TOKEN_EXPIRED');
  assert.equal(await toolOf(hub, { token: again.jobToken ?? '' }).codeOf(whoami, {}), 'ok');
});

test('an unknown job token counts as expired, like an old one', async (t) => {
  const hub = await startTestHub(t);
  const token = formatToken('job', Buffer.alloc(32, 3));
  assert.equal(await toolOf(hub, { token }).codeOf(whoami, {}), 'TOKEN_EXPIRED');
});
