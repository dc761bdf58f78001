import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import pg from 'pg';
import type { Hub } from '../../src/start/app.ts';
import { startHubChild } from '../support/hub-child.ts';
import {
  addAgent,
  addWorkspace,
  callHub,
  claimWaiting,
  enqueueJob,
  type HubsWorkspace,
  startSeveralHubs,
} from '../support/several-hubs.ts';
import { until } from '../support/until.ts';

const options = { timeout: 40_000 };

const frequentLoops = [
  'sweeper',
  'deadlines',
  'extraction',
  'triggerSchedule',
  'keyRetention',
] as const;

/** Reads the id of the leader from the database; empty while no hub leads. */
async function readLeader({ database }: Hub): Promise<string> {
  const row = await database.reader.firstSql<{ hub_id: string }>(
    `SELECT hub_id FROM hub_leases
     WHERE expires_at > EXTRACT(EPOCH FROM clock_timestamp()) * 1000`,
    [],
  );
  return row?.hub_id ?? '';
}

/** Claims the only job with a lease of one second. */
async function claimBriefly(
  hub: Pick<Hub, 'baseUrl'>,
  workspace: HubsWorkspace,
  agentId: string,
): Promise<string> {
  const { jobId } = await claimWaiting(hub, workspace, agentId, { leaseMs: 1_000 });
  assert.ok(jobId);
  return jobId;
}

function countRecoveries(hub: Hub, { workspaceId, token }: HubsWorkspace, jobId: string) {
  return async () => {
    const body = { workspaceId, jobId };
    const { events } = await callHub(hub, endpoints.jobEvents.listForJob, body, token);
    return events.filter((event) => event.kind === 'recovered').length;
  };
}

test(
  'one of three hubs is the leader, and when it stops another takes over',
  options,
  async (t) => {
    const world = await startSeveralHubs(t);
    const hubs = [await world.start(), await world.start(), await world.start()];
    for (let left = hubs; left.length > 0; ) {
      await until('one leads', () => left.some(({ group }) => group.isLeader()));
      assert.equal(left.filter(({ group }) => group.isLeader()).length, 1);
      const leader = left.find(({ group }) => group.isLeader());
      await leader?.stop();
      left = left.filter((hub) => hub !== leader);
    }
  },
);

test('an expired lease is recovered even when the leader was killed', options, async (t) => {
  const world = await startSeveralHubs(t);
  const env = { SVC_DATABASE_URL: world.databaseUrl };
  const child = await startHubChild(t, world.dataDir, { env });
  const hub = await world.start();
  assert.equal(hub.group.isLeader(), false);
  const workspace = await addWorkspace(hub);
  const agentId = await addAgent(hub, workspace, 'one');
  await enqueueJob(hub, workspace);
  const jobId = await claimBriefly(hub, workspace, agentId);
  await child.kill();
  const count = countRecoveries(hub, workspace, jobId);
  await until('the lease is recovered', async () => (await count()) === 1);
  assert.equal(await readLeader(hub), hub.group.hubId);
});

test(
  'a frozen hub loses the leadership and does not take it back when it continues',
  options,
  async (t) => {
    const world = await startSeveralHubs(t);
    const env = { SVC_DATABASE_URL: world.databaseUrl };
    const child = await startHubChild(t, world.dataDir, { env });
    const hub = await world.start();
    const workspace = await addWorkspace(hub);
    const agentId = await addAgent(hub, workspace, 'one');
    child.child.kill('SIGSTOP');
    t.after(() => child.child.kill('SIGCONT'));
    await enqueueJob(hub, workspace);
    const jobId = await claimBriefly(hub, workspace, agentId);
    const count = countRecoveries(hub, workspace, jobId);
    await until('the lease is recovered', async () => (await count()) === 1);
    child.child.kill('SIGCONT');
    await until('the other hub is alive again', () => hub.group.others === 1);
    assert.equal(await readLeader(hub), hub.group.hubId);
    await claimBriefly(child, workspace, agentId);
    await until('the lease is recovered', async () => (await count()) === 2);
  },
);

test('loops with nothing due take no lock', options, async (t) => {
  const world = await startSeveralHubs(t);
  const hub = await world.start();
  await addWorkspace(hub);
  const operator = new pg.Client({ connectionString: world.databaseUrl });
  await operator.connect();
  // Every action of the hub would wait for this lock; an idle hub runs none.
  await operator.query('BEGIN; SELECT pg_advisory_xact_lock(20891, 0)');
  for (const name of frequentLoops) await hub.loops[name].runOnce();
  await operator.query('ROLLBACK');
  await operator.end();
});
