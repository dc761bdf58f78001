import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Endpoint, endpoints } from '@signalbox/contract';
import { startLocalPostgres } from '@signalbox/local-postgres';
import { Client } from 'pg';
import { prompt } from '../load/hub-calls.ts';
import { type PeerLibrary, startHttpPeer } from '../subjects/peers.ts';

const { enqueue, claimNext, complete, list } = endpoints.jobs;

// The service on BullMQ has the same server, but Redis is not part of the development packages.
const libraries: readonly PeerLibrary[] = ['pg-boss', 'graphile-worker'];

async function setup(t: TestContext, library: PeerLibrary) {
  const postgres = await startLocalPostgres();
  t.after(() => postgres.stop());
  const service = await startHttpPeer(library, postgres.url, 2);
  t.after(() => service.process.stop());
  const { target, agents, workspaceId, repoId } = service;
  const call = async ({ path }: Pick<Endpoint, 'path'>, body: object, token = agents[0]?.token) => {
    const response = await fetch(`http://${target.host}:${target.port}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ workspaceId, ...body }),
    });
    const answer = (await response.json()) as Record<string, unknown>;
    return { ...answer, status: response.status } as Record<string, unknown>;
  };
  return { url: postgres.url, agents, repoId, call };
}

async function readTimeline(connectionString: string, jobId: unknown): Promise<unknown[]> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    const { rows } = await client.query<{ kind: string; attempt: number; agent_id: string | null }>(
      'SELECT kind, attempt, agent_id FROM job_events WHERE job_id = $1 ORDER BY event_id',
      [jobId],
    );
    return rows.map(({ kind, attempt, agent_id }) => [kind, attempt, agent_id]);
  } finally {
    await client.end();
  }
}

for (const library of libraries) {
  test(`the service on ${library} does the hub's three calls, each with its event`, async (t) => {
    const { url, agents, repoId, call } = await setup(t, library);
    const [agent, other] = agents.map(({ agentId }) => agentId);

    const strange = await call(enqueue, {}, 'sbx_s_none');
    assert.deepEqual([strange.status, strange.error], [401, 'TOKEN_INVALID']);
    const empty = await call(enqueue, { repoId, kind: 'work', prompt: '' });
    assert.deepEqual([empty.status, empty.error], [400, 'INVALID_REQUEST']);

    const { status, jobId } = await call(enqueue, { repoId, kind: 'work', prompt });
    assert.equal(status, 200);
    const { claimGeneration, job, ...claimed } = await call(claimNext, { agentId: agent });
    assert.equal(claimed.jobId, jobId);
    assert.equal((job as { prompt: string }).prompt, prompt);

    const done = { jobId, agentId: agent, outcome: 'done', claimGeneration };
    const wrong = await call(complete, { ...done, claimGeneration: 2 });
    assert.deepEqual([wrong.status, wrong.error], [400, 'LEASE_LOST']);
    const { result } = await call(complete, done);
    assert.equal((result as { status: string }).status, 'done');
    const again = await call(complete, { ...done, agentId: other });
    assert.equal(again.error, 'LEASE_LOST');

    assert.deepEqual(await readTimeline(url, jobId), [
      ['enqueued', 0, null],
      ['claimed', 1, agent],
      ['completed', 1, agent],
    ]);
    for (const left of ['pending', 'running']) {
      assert.deepEqual((await call(list, { status: left })).jobs, [], left);
    }
  });
}
