import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '@signalbox/sdk';
import { type CloudAiHubClient, createCloudAiProvider } from '../../src/index.ts';
import { setupCloudAi } from '../support/cloud-ai-harness.ts';

test('a lease is renewed while the model is answering', async (t) => {
  const h = await setupCloudAi(t);
  await h.start({ leaseMs: 1_000 });
  h.provider.turns = [{ waits: true }];
  const id = await h.enqueue();
  await h.provider.until(() => h.provider.calls.length === 1);
  const before = (await h.get(id)).leaseExpiresAt ?? '';
  const renewed = async (): Promise<string> => {
    const { leaseExpiresAt } = await h.get(id);
    return leaseExpiresAt === before ? renewed() : (leaseExpiresAt ?? '');
  };
  assert.ok(Date.parse(await renewed()) > Date.parse(before));
  h.provider.release();
  await h.saw('result-accepted');
  const job = await h.get(id);
  assert.deepEqual([job.status, job.attempt], ['done', 1]);
});

test('jobs run concurrently, up to the configured number', async (t) => {
  const h = await setupCloudAi(t);
  const agent = await h.start({ concurrency: 3 });
  h.provider.turns = Array.from({ length: 5 }, () => ({ waits: true as const }));
  const ids = await Promise.all(Array.from({ length: 5 }, () => h.enqueue()));
  await h.provider.until(() => h.provider.calls.length === 3);
  assert.equal(agent.heldJobIds().length, 3);
  h.provider.release();
  await h.provider.until(() => h.provider.calls.length === 5);
  h.provider.release();
  for (const id of ids) {
    await h.saw('result-accepted', ({ cloudAiJobId }) => cloudAiJobId === id);
  }
});

test('jobs of other models and kinds are not claimed', async (t) => {
  const h = await setupCloudAi(t);
  const foreign = await h.enqueue({ model: 'opus' });
  const other = await h.enqueue({ kind: 'translate' });
  await h.start({ kinds: ['ask'] });
  assert.equal((await h.finish()).status, 'done');
  assert.equal((await h.get(foreign)).status, 'pending');
  assert.equal((await h.get(other)).status, 'pending');
});

test('a canceled job aborts the call and reports no outcome', async (t) => {
  const h = await setupCloudAi(t);
  await h.start({ leaseMs: 1_000 });
  h.provider.turns = [{ waits: true }];
  const id = await h.enqueue();
  await h.provider.until(() => h.provider.calls.length === 1);
  await h.hub.database.write(null, (tx) =>
    tx.runSql('UPDATE queue_entries SET cancel_requested_at = ? WHERE entry_id = ?', [1, id]),
  );
  // The next renewal or heartbeat of the agent reports it.
  const stopping = await h.saw('job-stopping');
  assert.equal(stopping.reason, 'canceled');
  await h.provider.until(() => h.provider.calls[0]?.isAborted === true);
  const finished = await h.saw('job-finished');
  assert.equal(finished.outcome, null);
});

test('a lost lease aborts the call, and nothing is reported', async (t) => {
  const h = await setupCloudAi(t);
  await h.start({ leaseMs: 1_000 });
  h.provider.turns = [{ waits: true }];
  const id = await h.enqueue();
  await h.provider.until(() => h.provider.calls.length === 1);
  await h.hub.database.write(null, (tx) =>
    tx.runSql("UPDATE queue_entries SET attempt = 2, agent_id = 'agt_x' WHERE entry_id = ?", [id]),
  );
  const stopping = await h.saw('job-stopping');
  assert.equal(stopping.reason, 'lease_lost');
  await h.provider.until(() => h.provider.calls[0]?.isAborted === true);
  assert.equal((await h.saw('job-finished')).outcome, null);
  const job = await h.get(id);
  assert.deepEqual([job.status, job.attempt, job.outcome], ['running', 2, null]);
});

test('draining finishes held jobs; stopping releases them immediately', async (t) => {
  const h = await setupCloudAi(t);
  const agent = await h.start();
  h.provider.turns = [{ waits: true }, { waits: true }];
  const first = await h.enqueue();
  await h.provider.until(() => h.provider.calls.length === 1);
  const left = agent.drain();
  const second = await h.enqueue();
  h.provider.release();
  await left;
  assert.equal((await h.get(first)).status, 'done');
  assert.equal((await h.get(second)).status, 'pending');

  const next = await h.start();
  await h.provider.until(() => h.provider.calls.length === 2);
  await next.stop();
  assert.equal(h.provider.calls[1]?.isAborted, true);
  const job = await h.get(second);
  const leftMs = Date.parse(job.leaseExpiresAt ?? '') - Date.now();
  assert.ok(job.status === 'pending' || leftMs <= 1_000, `${job.status}, ${leftMs} ms left`);
});

test('a result whose answer was lost is sent again and accepted once', async (t) => {
  const h = await setupCloudAi(t);
  const real = createClient({ baseUrl: h.hub.baseUrl, maxAttempts: 1 });
  let lost = 0;
  const client: CloudAiHubClient = {
    ...real,
    cloudAiJobs: {
      ...real.cloudAiJobs,
      async complete(body, options) {
        const answer = await real.cloudAiJobs.complete(body, options);
        lost += 1;
        if (lost > 2) return answer;
        throw Object.assign(new Error('cut'), { name: 'TimeoutError' });
      },
    },
  };
  await h.start({ client });
  const job = await h.finish();
  assert.equal(job.status, 'done');
  assert.equal(lost, 3);
  assert.equal(h.provider.calls.length, 1);
});

test('a second executor on the same directory is rejected', async (t) => {
  const h = await setupCloudAi(t);
  const stateDir = `${h.directory}/shared`;
  await h.start({ stateDir });
  await assert.rejects(h.start({ stateDir }), { name: 'AgentAlreadyRunningError' });
});

test('openai-compatible without a base URL is rejected', async () => {
  await assert.rejects(createCloudAiProvider({ name: 'openai-compatible' }), TypeError);
});
