import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createClient } from '@signalbox/sdk';
import { type FleetLoad, runFleetLoad } from '../load/fleet-load.ts';
import { baseUrlOf, startHubWorld } from '../subjects/hub.ts';
import { makeTempDir } from './temp-dir.ts';

const AGENTS = 5;
/** Of 1 KB of output. */
const LINES = 21;

async function setup(t: TestContext) {
  const world = await startHubWorld({ dataDir: makeTempDir(t), databaseUrl: null });
  t.after(() => world.stop());
  const { workspaceId, repoId, tokens, targets } = world;
  const [target] = targets;
  assert.ok(target !== undefined && tokens[0] !== undefined);
  const load: FleetLoad = {
    ...{ kind: 'fleet', workspaceId, repoId, tokens, target, agentCount: AGENTS },
    ...{ watcherCount: 2, watchesOneJob: false, outputIntervalMs: 200 },
    ...{ usesReports: true, warmUpMs: 0, measureMs: 6_000 },
  };
  return { load, client: createClient({ baseUrl: baseUrlOf(target), token: tokens[0] }) };
}

test('every agent of the fleet holds a job, and its log has the output that was counted', async (t) => {
  const { load, client } = await setup(t);
  const { workspaceId } = load;
  const { count, latency, totals } = await runFleetLoad(load, () => undefined);
  const { jobs } = await client.jobs.list({ workspaceId, status: 'running', limit: 50 });
  assert.equal(jobs.length, AGENTS);
  let lines = 0;
  for (const { jobId } of jobs) {
    lines += (await client.jobs.log({ workspaceId, jobId, limit: 1 })).totalLines;
  }
  assert.equal(lines % LINES, 0, 'no output was cut');
  const { outputs = 0, outputsWanted } = totals;
  assert.ok(outputs > 0 && lines / LINES >= outputs, `${lines} lines, ${outputs} outputs`);
  assert.equal(outputsWanted, (AGENTS * load.measureMs) / load.outputIntervalMs);
  assert.equal(latency.output?.count, outputs);
  assert.ok(count >= outputs && (totals.watcherReads ?? 0) > 0 && (latency.watch?.count ?? 0) > 0);
});

test('a fleet whose calls are refused has no figures', async (t) => {
  const { load } = await setup(t);
  const refused = runFleetLoad({ ...load, tokens: ['unknown'] }, () => undefined);
  await assert.rejects(refused, /first heartbeat: 401/);
});
