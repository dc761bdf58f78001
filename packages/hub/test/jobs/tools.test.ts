import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type AgentTool, endpoints } from '@signalbox/contract';
import { startQueueWorld } from '../support/queue-world.ts';

const { agents, jobs } = endpoints;

const claude: AgentTool = {
  name: 'claude',
  version: '2.1.330',
  model: 'sonnet',
  models: ['sonnet', 'opus'],
};
/** It has not told its models yet. */
const codex: AgentTool = { name: 'codex' };

async function setup(t: TestContext) {
  const h = await startQueueWorld(t);
  const { workspaceId } = h;
  const offer = (name: string, ...tools: AgentTool[]) =>
    h.addAgent(h.home, name, { canWrite: true, tools });
  return {
    ...h,
    offer,
    ask: async (requirements: object) =>
      (await h.enqueue({ requirements: { ...requirements } })).jobId,
    async end(agentId: string, jobId: string, tool: string, outcome: 'done' | 'failed' = 'failed') {
      const evidence = { executor: { name: 'acp', tool }, verdict: 'gaps' as const };
      const usage = { model: 'opus', inputTokens: 10, outputTokens: 2, costUsd: 0.5 };
      await h.call(jobs.complete, { workspaceId, jobId, agentId, outcome, evidence, usage });
    },
  };
}

test('a job that asks for a tool and a model is for an agent that offers both', async (t) => {
  const h = await setup(t);
  const one = await h.offer('one', claude);
  const two = await h.offer('two', codex);
  const opus = await h.ask({ tool: 'claude', model: 'opus' });
  const any = await h.ask({ tool: 'codex', model: 'gpt-5.5' });
  const none = await h.ask({ tool: 'claude', model: 'gpt-5.5' });
  assert.equal((await h.claim({ agentId: one })).jobId, opus);
  assert.equal((await h.claim({ agentId: one })).reason, 'no_matching_capabilities');
  assert.equal((await h.claim({ agentId: two })).jobId, any, 'its models are not known, so any');
  assert.equal((await h.claim({ agentId: two })).reason, 'no_matching_capabilities');
  const { waitingFor, job } = await h.get(none);
  assert.equal(waitingFor?.reason, 'no_agent_with_capabilities');
  assert.match(waitingFor?.message ?? '', /has: canWrite; tool claude; model gpt-5\.5\.$/);
  const lacking = Object.fromEntries(
    (waitingFor?.agents ?? []).map(({ displayName, obstacle }) => [displayName, obstacle]),
  );
  assert.equal(lacking.one, 'lacks model gpt-5.5');
  assert.match(lacking.two ?? '', /^lacks tool claude/);
  assert.deepEqual([job.tool, job.model], ['claude', 'gpt-5.5']);
  const plain = await h.ask({});
  assert.equal((await h.claim({ agentId: one })).jobId, plain, 'others are for any tool');
});

test('an agent offers a tool for the repositories that it names', async (t) => {
  const h = await setup(t);
  const other = await h.addRepository(h.home, 'other');
  const one = await h.offer(
    'one',
    { ...claude, repoIds: [other] },
    { ...codex, repoIds: [h.repoId] },
  );
  await h.ask({ tool: 'claude' });
  assert.equal((await h.claim({ agentId: one })).reason, 'no_matching_capabilities');
  const own = await h.ask({ tool: 'codex' });
  assert.equal((await h.claim({ agentId: one })).jobId, own);
});

test('a retry may be for another tool and model, and the attempts are compared', async (t) => {
  const h = await setup(t);
  const { workspaceId } = h;
  const one = await h.offer('one', claude);
  const two = await h.offer('two', codex);
  const jobId = await h.ask({ tool: 'claude', labels: {} });
  await h.claim({ agentId: one });
  await h.end(one, jobId, 'claude');
  const failed = (await h.get(jobId)).job;
  assert.deepEqual([failed.tool, failed.model], ['claude', 'opus']);
  const { job } = await h.call(jobs.retry, { workspaceId, jobId, tool: 'codex', model: 'gpt-5.5' });
  assert.deepEqual(job.requirements, { tool: 'codex', model: 'gpt-5.5', labels: {} });
  assert.deepEqual([job.tool, job.model], ['codex', 'gpt-5.5']);
  assert.equal((await h.claim({ agentId: one })).reason, 'no_matching_capabilities');
  assert.equal((await h.claim({ agentId: two })).jobId, jobId);
  await h.end(two, jobId, 'codex');
  const { attempts } = await h.get(jobId);
  assert.deepEqual(
    attempts?.map((each) => [
      each.attempt,
      each.tool,
      each.outcome,
      each.verdict,
      each.usage?.costUsd,
    ]),
    [
      [1, 'claude', 'failed', 'gaps', 0.5],
      [2, 'codex', 'failed', 'gaps', 0.5],
    ],
  );
  const { job: any } = await h.call(jobs.retry, { workspaceId, jobId, tool: null, model: null });
  assert.deepEqual(any.requirements, { labels: {} });
  assert.equal((await h.claim({ agentId: one })).jobId, jobId);
});

test('requirements that are a text have no place for a tool', async (t) => {
  const h = await setup(t);
  const one = await h.offer('one', claude);
  const { jobId } = await h.enqueue({ requirements: 'Use the staging database.' });
  await h.claim({ agentId: one });
  await h.end(one, jobId, 'claude');
  const body = { workspaceId: h.workspaceId, jobId, tool: 'codex' };
  await h.refuse(jobs.retry, body, 'INVALID_REQUEST');
  assert.equal((await h.get(jobId)).job.status, 'failed');
});

test('a child keeps the tool of its job, and may choose one that an agent offers', async (t) => {
  const h = await setup(t);
  const { workspaceId } = h;
  const one = await h.offer('one', claude);
  const spawn = async (own: object, asked: object) => {
    const jobId = await h.ask(own);
    await h.claim({ agentId: one });
    const children = [{ kind: 'work' as const, prompt: 'Continue.', requirements: { ...asked } }];
    const held = { workspaceId, jobId, agentId: one, outcome: 'done' as const };
    const { result } = await h.call(jobs.complete, { ...held, children });
    const [child = ''] = result.spawnedJobIds;
    const { job, waitingFor } = await h.get(child);
    await h.call(jobs.cancel, { workspaceId, jobId: child });
    return { requirements: job.requirements, reason: waitingFor?.reason };
  };
  const kept = await spawn({ tool: 'claude' }, { tool: 'codex' });
  assert.deepEqual(kept, { requirements: { tool: 'claude' }, reason: 'queue_position' });
  const chosen = await spawn({}, { tool: 'codex' });
  assert.deepEqual(chosen, {
    requirements: { tool: 'codex' },
    reason: 'no_agent_with_capabilities',
  });
});

test('what an agent offers is bounded, and shown', async (t) => {
  const h = await setup(t);
  await h.offer('one', claude);
  const { agents: listed } = await h.call(agents.list, { workspaceId: h.workspaceId });
  const shown = listed.find(({ displayName }) => displayName === 'one');
  assert.deepEqual(shown?.capabilities.tools, [claude]);
  const beat = { workspaceId: h.workspaceId, machineFingerprint: 'one' };
  for (const tool of [
    { name: 'x'.repeat(65) },
    { name: 'x', models: ['m'.repeat(129)] },
    { name: 'x', models: Array.from({ length: 101 }, (_, at) => `m${at}`) },
  ]) {
    await h.refuse(
      agents.heartbeat,
      { ...beat, capabilities: { tools: [tool] } },
      'INVALID_REQUEST',
    );
  }
});
