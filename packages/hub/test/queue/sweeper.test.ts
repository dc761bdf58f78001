import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSweeper } from '../../src/loops/sweeper.ts';
import { RECOVERIES_MAX } from '../../src/queue/leased-work.ts';
import { HubWorkspace, openModelHub } from './model/hub.ts';

/** More leases than one batch recovers. */
const LEASES = RECOVERIES_MAX + 1;
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

test('leases of more than one batch that expire at once are recovered without a pause', async (t) => {
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
  // The clock does not advance: each batch but the first follows because more is left.
  for (let left = LEASES; left > 0; ) {
    clock.advance(0);
    const row = await database.reader.firstSql<{ running: number }>(
      `SELECT COUNT(*) AS running FROM queue_entries WHERE status = 'running'`,
      [],
    );
    await new Promise((resolve) => setImmediate(resolve));
    left = row?.running ?? 0;
  }
  await sweeper.stop();
});
