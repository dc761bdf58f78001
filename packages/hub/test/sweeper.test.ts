import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSweeper } from '../src/loops/sweeper.ts';
import { HubWorkspace, openModelHub } from './queue-model-hub.ts';

/** More than one action takes back. */
const LEASES = 1_201;
const SWEEP_INTERVAL_MS = 500;

const enqueue = {
  type: 'enqueue',
  idempotencyKey: null,
  repo: 0,
  shape: 0,
  priority: 0,
  delayMs: 0,
  dependsOn: null,
  key: null,
  maxAttempts: 2,
} as const;
const claim = {
  type: 'claim',
  agent: 0,
  leaseMs: 1_000,
  claimKey: null,
  kind: null,
  repo: null,
} as const;

test('a thousand leases that run out at once are taken back one after another, without a pause', async (t) => {
  const hub = await openModelHub(t);
  const { deps, clock } = hub;
  const { database } = deps;
  const workspace = await HubWorkspace.create(hub, 'many');
  await workspace.send(Array.from({ length: LEASES }, () => enqueue));
  await workspace.send(Array.from({ length: LEASES }, () => claim));
  const sweeper = createSweeper(deps, (error) => assert.fail(String(error)));
  clock.advance(1_000);
  sweeper.start();
  clock.advance(SWEEP_INTERVAL_MS);
  for (const left of [701, 201, 0]) {
    // An action of our own ends after that of the sweeper, and a turn later its tick has.
    await database.write(null, async () => undefined);
    await new Promise((resolve) => setImmediate(resolve));
    const row = await database.reader.firstSql<{ running: number }>(
      `SELECT COUNT(*) AS running FROM queue_entries WHERE status = 'running'`,
      [],
    );
    assert.equal(row?.running, left);
    clock.advance(0);
  }
  await sweeper.stop();
});
