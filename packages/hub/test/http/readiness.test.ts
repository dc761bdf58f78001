import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import { DiskSpace } from '../../src/base/disk-space.ts';
import { HubError } from '../../src/base/errors.ts';
import { Readiness } from '../../src/cluster/readiness.ts';
import { SchemaWatch } from '../../src/cluster/schema-watch.ts';
import { startHomeWorld } from '../support/home-world.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { openTestDatabase } from '../support/test-engine.ts';

const { health } = endpoints;

test('a hub whose disk is nearly full is not ready, says so, and is ready again with space', async (t) => {
  let free = 1_000_000;
  const config = { diskReserveBytes: 1_000_000 };
  const h = await startHomeWorld(t, { config, readFreeSpace: async () => free });
  const ask = async (path: string) => {
    const answer = await fetch(h.hub.baseUrl + path);
    const { message } = (await answer.json()) as { message?: string };
    return { status: answer.status, message, retryAfter: answer.headers.get('retry-after') };
  };
  free = 250_000;
  const refused = await ask(health.ready.path);
  assert.equal(refused.status, 503);
  assert.match(refused.message ?? '', /disk/);
  assert.ok(refused.retryAfter);
  assert.equal((await ask(health.health.path)).status, 503);
  assert.equal((await ask(health.live.path)).status, 200);
  free = 300_000;
  assert.equal((await ask(health.ready.path)).status, 200);
  assert.equal((await ask(health.health.path)).status, 200);
});

test('a hub is ready while a write succeeds, the database answers, and it does not stop', async (t) => {
  const database = await openTestDatabase(t, createManualClock());
  const disk = new DiskSpace('', 0, async () => 1);
  let ageMs = 0;
  let refusal: HubError | null = null;
  let writes = 0;
  const failing: typeof database = Object.create(database, {
    writeConcurrent: {
      value: (...call: Parameters<typeof database.writeConcurrent>) => {
        writes += 1;
        return refusal === null ? database.writeConcurrent(...call) : Promise.reject(refusal);
      },
    },
  });
  const group = { heartbeatAgeMs: () => ageMs };
  const draining = { isDraining: false };
  const schema = new SchemaWatch(3);
  const start = () => new Readiness({ database: failing, group, schema, disk, draining });
  const readiness = start();
  await Promise.all([readiness.check(), readiness.check()]);
  await readiness.check();
  assert.equal(writes, 1, 'checks share a write, and later ones use its success');
  const isRefused = (what: RegExp) => (error: unknown) =>
    error instanceof HubError && error.code === 'UNAVAILABLE' && what.test(error.message);
  ageMs = 3_001;
  await assert.rejects(readiness.check(), isRefused(/not answered/));
  ageMs = 0;
  await readiness.check();
  draining.isDraining = true;
  await assert.rejects(readiness.check(), isRefused(/stopping/));
  draining.isDraining = false;
  const other = start();
  refusal = new HubError('UNAVAILABLE', 'The disk is full.');
  await assert.rejects(other.check(), isRefused(/full/));
  await assert.rejects(other.check(), isRefused(/full/));
  refusal = null;
  await other.check();
  schema.note(4);
  await assert.rejects(other.check(), isRefused(/schema version 4, and this hub knows 3/));
});

test('a hub whose disk does not answer is not ready', async (t) => {
  const database = await openTestDatabase(t, createManualClock());
  const never = Promise.withResolvers<number>();
  const readiness = new Readiness({
    database,
    group: { heartbeatAgeMs: () => 0 },
    schema: new SchemaWatch(1),
    disk: new DiskSpace('', 0, () => never.promise),
    draining: { isDraining: false },
  });
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const check = readiness.check();
  t.mock.timers.tick(3_000);
  await assert.rejects(check, { code: 'UNAVAILABLE', message: /disk of the hub does not answer/ });
  t.mock.timers.reset();
});

test('the OpenAPI document is made once, has an ETag, and is sent compressed', async (t) => {
  const h = await startHomeWorld(t);
  const url = h.hub.baseUrl + health.openapi.path;
  const plain = await fetch(url, { headers: { 'accept-encoding': 'identity' } });
  const text = await plain.text();
  assert.equal(plain.headers.get('content-encoding'), null);
  const etag = plain.headers.get('etag') ?? '';
  const packed = await fetch(url, { headers: { 'accept-encoding': 'gzip' } });
  assert.equal(packed.headers.get('content-encoding'), 'gzip');
  assert.equal(await packed.text(), text);
  assert.equal(packed.headers.get('etag'), etag);
  const known = await fetch(url, { headers: { 'if-none-match': etag } });
  assert.deepEqual([known.status, await known.text()], [304, '']);
});
