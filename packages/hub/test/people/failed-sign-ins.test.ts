import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { consoleEndpoints } from '@signalbox/contract';
import { FailedSignIns } from '../../src/people/failed-sign-ins.ts';
import { listAudit, makeOwner, PASSWORD } from '../support/people.ts';
import { startTestHub, type TestHub } from '../support/test-hub.ts';
import { until } from '../support/until.ts';

const { session } = consoleEndpoints;
const MINUTE_MS = 60_000;
const email = 'ada@acme.dev';

async function setup(t: TestContext) {
  const hub = await startTestHub(t);
  return { hub, ...(await makeOwner(hub)) };
}

async function fail(hub: TestHub, address: string, times: number) {
  for (let n = 0; n < times; n++) {
    const input = { email: address, password: 'a wrong password' };
    const { status } = await hub.visitor().send(session.signIn.path, input);
    assert.equal(status, 401);
  }
}

async function listFailures(hub: TestHub, workspaceId: string) {
  const entries = await listAudit(hub, workspaceId);
  return entries.filter(({ action }) => action === 'session.sign-in-failed');
}

test('sign-ins that failed are one row of the audit log per account, address and minute', async (t) => {
  const { hub, workspaceId, personId } = await setup(t);
  await fail(hub, email, 3);
  await fail(hub, 'unknown@acme.dev', 2);
  assert.deepEqual(await listFailures(hub, workspaceId), [], 'no request writes them');
  const from = new Date(hub.clock.nowMs()).toISOString();
  hub.clock.advance(MINUTE_MS);
  await until('they are recorded', async () => (await listFailures(hub, workspaceId)).length > 0);
  const [entry, ...others] = await listFailures(hub, workspaceId);
  assert.deepEqual(others, []);
  assert.equal(entry?.subject, personId);
  assert.equal(entry?.actor, 'unknown');
  const data = JSON.parse(entry?.data ?? '{}');
  assert.deepEqual(data, { address: '127.0.0.1', count: 3, from, to: from });
});

test('a hub that stops records the failures that it has counted', async (t) => {
  const { hub, workspaceId } = await setup(t);
  await fail(hub, email, 1);
  await hub.visitor().call(session.signIn, { email, password: PASSWORD });
  await hub.hub.stop();
  const again = await startTestHub(t, { dataDir: hub.dataDir });
  assert.equal((await listFailures(again, workspaceId)).length, 1);
});

test('an attacker with many addresses adds few rows, and their count is exact', async (t) => {
  const { hub, workspaceId, personId } = await setup(t);
  const failed = new FailedSignIns(hub.clock);
  for (let n = 0; n < 1_000; n++) failed.note(personId, `192.0.2.${n % 250}`);
  await failed.record(hub.database);
  const entries = await listFailures(hub, workspaceId);
  assert.ok(entries.length <= 6, `${entries.length} rows`);
  const counts = entries.map(({ data }) => Number(JSON.parse(data).count));
  assert.equal(
    counts.reduce((sum, count) => sum + count, 0),
    1_000,
  );
});

test('failures that cannot be written are recorded later', async (t) => {
  const { hub, workspaceId, personId } = await setup(t);
  const failed = new FailedSignIns(hub.clock);
  failed.note(personId, '192.0.2.1');
  const { reader } = hub.database;
  const broken = { reader, write: () => Promise.reject(new Error('no disk')) };
  // Nothing else is called.
  await assert.rejects(failed.record(broken as unknown as typeof hub.database), /no disk/);
  failed.note(personId, '192.0.2.1');
  await failed.record(hub.database);
  const [entry] = await listFailures(hub, workspaceId);
  assert.equal(JSON.parse(entry?.data ?? '{}').count, 2);
});
