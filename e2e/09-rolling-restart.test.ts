import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWorkspaceByAdmin, mintTokenByAdmin, readConfig } from '@signalbox/hub';
import { createTestDatabase, findFreePorts } from '@signalbox/local-postgres';
import { createClient } from '@signalbox/sdk';
import { type HubProcess, startHubProcess } from './hub-process.ts';
import { startLoadBalancer } from './load-balancer.ts';
import { makeTempDir } from './temp-dir.ts';

const AGENTS = 12;
const PRODUCERS = 4;
/** Jobs done between one step of the restart and the next. */
const JOBS_BETWEEN = 60;
const template = { fingerprint: 'empty', prepare: async () => undefined };

test('two hubs are restarted one after the other, and no client of the balancer notices', {
  timeout: 120_000,
}, async (t) => {
  const database = await createTestDatabase(template);
  const dataDir = makeTempDir(t);
  const env = { SVC_DATABASE_URL: database.url };
  const hubs: HubProcess[] = [];
  const start = (port: number) => startHubProcess({ dataDir, env, port });
  const ports = await findFreePorts(2);
  for (const port of ports) hubs.push(await start(port));
  t.after(async () => {
    await Promise.all(hubs.map((hub) => hub.stop()));
    await database.drop();
  });
  const config = { ...readConfig(env), dataDir };
  const { workspaceId } = await createWorkspaceByAdmin(config, {
    slug: 'rolling',
    name: 'Rolling',
  });
  const { token } = await mintTokenByAdmin(config, { workspaceSlug: 'rolling', name: 'all' });
  const { baseUrl } = await startLoadBalancer(t, ports);
  const client = createClient({ baseUrl, token });
  const { repoId } = await client.repositories.upsert({
    workspaceId,
    remoteUrlHash: 'c3'.repeat(32),
  });

  const enqueued = new Set<string>();
  const done: string[] = [];
  let isOver = false;
  const progress = { wanted: 0, reached: Promise.withResolvers<void>() };

  async function produce(): Promise<void> {
    while (!isOver) {
      if (enqueued.size - done.length > AGENTS * 2) {
        await new Promise((resolve) => setImmediate(resolve));
        continue;
      }
      const { jobId } = await client.jobs.enqueue({
        workspaceId,
        repoId,
        kind: 'work',
        prompt: 'x',
      });
      enqueued.add(jobId);
    }
  }

  async function work(number: number): Promise<void> {
    const { agentId } = await client.agents.heartbeat({
      ...{ workspaceId, displayName: `agent ${number}`, machineFingerprint: `agent ${number}` },
      capabilities: { canWrite: true },
    });
    while (!isOver || done.length < enqueued.size) {
      const claim = await client.jobs.claimNext({ workspaceId, agentId, waitMs: 1_000 });
      if (claim.jobId === null) continue;
      const { result } = await client.jobs.complete({
        ...{ workspaceId, jobId: claim.jobId, agentId, outcome: 'done' },
        claimGeneration: claim.claimGeneration ?? 0,
      });
      assert.equal(result.status, 'done');
      assert.equal(claim.claimGeneration, 1, 'no lease was lost on the way');
      done.push(claim.jobId);
      if (done.length >= progress.wanted) progress.reached.resolve();
    }
  }

  async function untilMoreAreDone(): Promise<void> {
    progress.wanted = done.length + JOBS_BETWEEN;
    progress.reached = Promise.withResolvers();
    await progress.reached.promise;
  }

  const clients = Promise.all([
    ...Array.from({ length: AGENTS }, (_none, at) => work(at)),
    ...Array.from({ length: PRODUCERS }, produce),
  ]);
  // A client that fails must end the scenario, not leave it waiting for progress.
  const orFail = (step: Promise<unknown>) => Promise.race([step, clients]);
  await orFail(untilMoreAreDone());
  for (const [at, port] of ports.entries()) {
    const end = await hubs[at]?.stop();
    assert.equal(end?.code, 0, 'it stops by itself');
    await orFail(untilMoreAreDone());
    hubs[at] = await start(port);
    await orFail(untilMoreAreDone());
  }
  isOver = true;
  await clients;
  assert.deepEqual(done.toSorted(), [...enqueued].toSorted(), 'each job was done, once');
});
