import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { test } from 'node:test';
import { endpoints, VERSION } from '@signalbox/contract';
import { startSeveralHubs, untilAcquainted } from '../support/several-hubs.ts';
import { until } from '../support/until.ts';

const options = { timeout: 60_000 };

test('the table of hubs says where each hub is, and who leads', options, async (t) => {
  const world = await startSeveralHubs(t);
  const hubs = [await world.start(), await world.start()];
  const read = () =>
    world.read<{ hub_id: string; host: string; address: string; version: string; leads: boolean }>(
      `SELECT hubs.hub_id, host, address, version, hub_leases.hub_id IS NOT NULL AS leads
       FROM hubs LEFT JOIN hub_leases ON hub_leases.hub_id = hubs.hub_id`,
    );
  await until('both have told their address', async () =>
    (await read()).every(({ address }) => address !== ''),
  );
  const rows = await read();
  for (const { group, baseUrl } of hubs) {
    const row = rows.find(({ hub_id }) => hub_id === group.hubId);
    const { host, address, version, leads } = row ?? {};
    assert.deepEqual([host, address, version], [hostname(), baseUrl, VERSION]);
    assert.equal(Boolean(leads), group.isLeader());
  }
  const names = await world.read<{ application_name: string }>(
    'SELECT application_name FROM pg_stat_activity WHERE datname = current_database()',
  );
  for (const { group } of hubs) {
    const name = `signalbox ${group.hubId}`;
    assert.ok(
      names.some(({ application_name }) => application_name === name),
      name,
    );
  }
});

test('a hub that drains serves requests and ends their connections', options, async (t) => {
  const world = await startSeveralHubs(t);
  const first = await world.start();
  const open = (baseUrl: string, { path } = endpoints.health.live) => fetch(baseUrl + path);
  await first.drain(0);
  const alone = await open(first.baseUrl);
  assert.equal(alone.headers.get('connection'), 'keep-alive', 'there is no other hub');
  const second = await world.start();
  await untilAcquainted(first, second);
  await first.drain(0);
  const draining = await open(first.baseUrl);
  assert.equal(draining.status, 200);
  assert.equal(draining.headers.get('connection'), 'close');
  for (const check of [endpoints.health.ready, endpoints.health.health]) {
    const refused = await open(first.baseUrl, check);
    assert.equal(refused.status, 503, 'a load balancer sends new requests elsewhere');
    assert.match(await refused.text(), /stopping/);
    assert.equal((await open(second.baseUrl, check)).status, 200);
  }
  const repositories = endpoints.repositories.list.path;
  const served = await fetch(first.baseUrl + repositories, { method: 'POST' });
  assert.equal(served.status, 401, 'requests that still arrive are served');
  assert.equal((await open(second.baseUrl)).headers.get('connection'), 'keep-alive');
});
