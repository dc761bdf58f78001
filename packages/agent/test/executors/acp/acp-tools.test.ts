import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AgentTool } from '@signalbox/contract';
import { createCommandExecutor } from '../../../src/index.ts';
import { type AcpSetup, setupAcp } from '../../support/acp-harness.ts';

/** Waits until the hub knows what the agent offers. */
async function untilOffered(
  { client, workspaceId }: AcpSetup,
  suits: (tools: readonly AgentTool[]) => boolean,
): Promise<void> {
  for (const untilMs = Date.now() + 180_000; ; ) {
    const { agents } = await client.agents.list({ workspaceId });
    const tools = agents.flatMap(({ capabilities }) => capabilities.tools ?? []);
    if (suits(tools)) return;
    assert.ok(Date.now() < untilMs, JSON.stringify(tools));
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

test('a tool over ACP tells its models with a session, also to the next start', async (t) => {
  const h = await setupAcp(t);
  const first = await h.start();
  await untilOffered(h, ([tool]) => tool?.name === 'acp' && tool.models === undefined);
  const jobId = await h.enqueue('say Hello.');
  const job = await h.until(jobId, 'done', 'failed');
  assert.equal(job.tool, 'acp');
  const known = ([tool]: readonly AgentTool[]) =>
    tool?.model === 'small' && tool.models?.join() === 'small';
  await untilOffered(h, known);
  await first.stop();
  await h.start({ stateDir: `${h.directory}/state-0` });
  await untilOffered(h, known);
  const { client, workspaceId, repoId } = h;
  const draft = { workspaceId, repoId, kind: 'work' as const, prompt: 'say Hello.' };
  const other = await client.jobs.enqueue({ ...draft, requirements: { model: 'enormous' } });
  const { waitingFor } = await client.jobs.get({ workspaceId, jobId: other.jobId });
  assert.equal(waitingFor?.reason, 'no_agent_with_capabilities');
  const own = await client.jobs.enqueue({
    ...draft,
    requirements: { tool: 'acp', model: 'small' },
  });
  assert.equal((await h.until(own.jobId, 'done', 'failed')).status, 'done');
  assert.ok(h.toolLog().includes('sets model small'), 'the model reaches the tool');
});

test('an agent refuses a job for a tool that its person has not offered', async (t) => {
  const h = await setupAcp(t);
  // As of a hub that hands out more than it should.
  await h.start({
    executor: createCommandExecutor({ command: 'true' }),
    capabilities: { models: ['small'] },
    client: {
      ...h.client,
      jobs: {
        ...h.client.jobs,
        async claimNext(...args: Parameters<typeof h.client.jobs.claimNext>) {
          const claimed = await h.client.jobs.claimNext(...args);
          if (claimed.job === null) return claimed;
          return { ...claimed, job: { ...claimed.job, requirements: { tool: 'claude' } } };
        },
      },
    },
  });
  const jobId = await h.enqueue('Do it.');
  assert.match(
    await h.untilEvent(jobId, 'failed'),
    /^The job asks for claude, and this agent offers command\.$/,
  );
});
