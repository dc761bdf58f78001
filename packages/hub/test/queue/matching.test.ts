import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import { startQueueWorld } from '../support/queue-world.ts';

const { agents, jobs, queue, repositories } = endpoints;

test('capabilities decide which agent gets a job, and a queue of unmatched jobs is not called empty', async (t) => {
  const h = await startQueueWorld(t);
  const reader = await h.addAgent(h.home, 'reader', { models: ['m1'], labels: { os: 'linux' } });
  const { jobId: writing } = await h.enqueue();
  assert.equal((await h.claim({ agentId: reader })).reason, 'no_matching_capabilities');
  const { waitingFor } = await h.get(writing);
  assert.equal(waitingFor?.reason, 'queue_position');
  const { jobId: reading } = await h.enqueue({
    requirements: '{"canWrite": false, "models": ["m1", "m2"], "labels": {"os": "linux"}}',
  });
  assert.equal((await h.claim({ agentId: reader })).jobId, reading);
  const { jobId: gpu } = await h.enqueue({ requirements: { labels: { gpu: 'yes' } } });
  assert.equal((await h.claim()).jobId, writing);
  assert.equal((await h.claim()).reason, 'no_matching_capabilities');
  assert.equal((await h.get(gpu)).waitingFor?.reason, 'no_agent_with_capabilities');
  const text = await h.enqueue({ requirements: '{not JSON, but a sentence}' });
  assert.equal((await h.claim()).jobId, text.jobId);
  const bad = { workspaceId: h.workspaceId, repoId: h.repoId, kind: 'work' as const, prompt: 'x' };
  await h.refuse(jobs.enqueue, { ...bad, requirements: { executionMode: 5 } }, 'INVALID_REQUEST');
});

test('a job that asks for isolation gets an agent whose tool for the repository has it', async (t) => {
  const h = await startQueueWorld(t);
  const tool = { name: 'claude', isolation: ['user', 'wrap'] };
  const add = (name: string, tools: object[]) =>
    h.addAgent(h.home, name, { canWrite: true, tools } as Parameters<typeof h.addAgent>[2]);
  const elsewhere = { ...tool, repoIds: [`repo_${'0'.repeat(26)}`] };
  const open = await add('open', [{ name: 'codex' }, elsewhere, { name: 'claude', isolation: [] }]);
  const wrapped = await add('wrapped', [tool]);
  const { jobId } = await h.enqueue({ requirements: { isolation: 'wrap', tool: 'claude' } });
  assert.equal((await h.claim({ agentId: open })).reason, 'no_matching_capabilities');
  assert.equal((await h.get(jobId)).waitingFor?.reason, 'queue_position');
  assert.equal((await h.claim({ agentId: wrapped })).jobId, jobId);
  const { jobId: codex } = await h.enqueue({ requirements: { isolation: 'wrap', tool: 'codex' } });
  const waits = (await h.get(codex)).waitingFor;
  assert.equal(waits?.reason, 'no_agent_with_capabilities');
  assert.match(waits?.message ?? '', /tool codex; isolation wrap/);
  const bad = { workspaceId: h.workspaceId, repoId: h.repoId, kind: 'work' as const, prompt: 'x' };
  await h.refuse(jobs.enqueue, { ...bad, requirements: { isolation: 'moat' } }, 'INVALID_REQUEST');
});

test('an agent gets jobs only of the repositories that it serves', async (t) => {
  const h = await startQueueWorld(t);
  const { workspaceId, home } = h;
  const otherToken = await h.mintToken(workspaceId, 'other');
  const other = { ...home, token: otherToken };
  const stranger = await h.addAgent(other, 'stranger');
  const { jobId } = await h.enqueue();
  const claim = { workspaceId, agentId: stranger };
  const none = await h.call(jobs.claimNext, claim, otherToken);
  assert.equal(none.reason, 'no_repositories_served');
  await h.call(repositories.get, { workspaceId, repoId: home.repoId }, otherToken);
  assert.equal((await h.call(jobs.claimNext, claim, otherToken)).jobId, jobId);
  const picky = await h.addAgent(home, 'picky', { canWrite: true, reposAllowed: [] });
  assert.equal((await h.claim({ agentId: picky })).reason, 'no_repositories_served');
  await h.refuse(jobs.claimNext, claim, 'AGENT_NOT_FOUND');
});

test('a draining agent, one at capacity and a paused queue get no job, with the reason', async (t) => {
  const h = await startQueueWorld(t);
  const { workspaceId } = h;
  const one = await h.addAgent(h.home, 'one', { canWrite: true, maxConcurrentJobs: 1 });
  await h.enqueue();
  const { jobId } = await h.enqueue();
  await h.claim({ agentId: one });
  assert.equal((await h.claim({ agentId: one })).reason, 'agent_at_capacity');
  await h.call(agents.heartbeat, {
    workspaceId,
    machineFingerprint: 'first',
    status: 'draining',
    capabilities: { canWrite: true },
  });
  assert.equal((await h.claim()).reason, 'agent_draining');
  const third = await h.addAgent(h.home, 'third');
  await h.call(queue.pause, { workspaceId });
  assert.equal((await h.claim({ agentId: third })).reason, 'queue_paused');
  assert.equal((await h.get(jobId)).waitingFor?.reason, 'queue_paused');
  await h.call(queue.resume, { workspaceId });
  await h.call(queue.pause, { workspaceId, repoId: h.repoId });
  assert.equal((await h.claim({ agentId: third })).reason, 'queue_paused');
  await h.call(queue.resume, { workspaceId, repoId: h.repoId });
  assert.equal((await h.claim({ agentId: third })).jobId, jobId);
});

test('no job of an archived repository is claimed', async (t) => {
  const h = await startQueueWorld(t);
  const { jobId } = await h.enqueue();
  const remoteUrlHash = Buffer.from('first'.padEnd(32, '.')).toString('hex');
  const upsert = { workspaceId: h.workspaceId, remoteUrlHash };
  await h.call(repositories.upsert, { ...upsert, status: 'archived' });
  assert.equal((await h.claim()).jobId, null);
  assert.equal((await h.get(jobId)).waitingFor?.reason, 'repository_archived');
  await h.call(repositories.upsert, { ...upsert, status: 'active' });
  assert.equal((await h.claim()).jobId, jobId);
});

test('a queue with jobs is never called empty, for any hold on its jobs', async (t) => {
  const h = await startQueueWorld(t);
  const { workspaceId } = h;
  const reader = await h.addAgent(h.home, 'reader', {});
  await h.enqueue({ delayMs: 60_000 });
  assert.equal((await h.claim({ agentId: reader })).reason, 'no_matching_capabilities');
  const other = await h.addRepository(h.home, 'other');
  await h.call(jobs.enqueue, { workspaceId, repoId: other, kind: 'pr_review', prompt: 'Read.' });
  await h.call(queue.pause, { workspaceId, repoId: other });
  const reviews = { kinds: ['pr_review' as const] };
  assert.equal((await h.claim(reviews)).reason, 'queue_paused');
  assert.equal((await h.claim({ ...reviews, repoIds: [h.repoId] })).reason, 'no_pending_jobs');
});
