import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { giveBackStartMemory } from '../../src/start-memory.ts';

const PERIOD_MS = 5_000;

/** Replaces V8's collector. */
function replaceCollector(t: TestContext, collect: (() => void) | undefined): void {
  const { gc } = globalThis;
  globalThis.gc = collect as typeof globalThis.gc;
  t.after(() => {
    globalThis.gc = gc;
  });
  t.mock.timers.enable({ apis: ['setInterval'] });
}

test('the collection after the start waits until the process is idle and runs once', (t) => {
  let collections = 0;
  replaceCollector(t, () => {
    collections += 1;
  });
  let utilization = 0.8;
  giveBackStartMemory({ eventLoopUtilization: () => ({ idle: 0, active: 0, utilization }) });
  t.mock.timers.tick(2 * PERIOD_MS);
  assert.equal(collections, 0);
  utilization = 0.01;
  t.mock.timers.tick(PERIOD_MS);
  assert.equal(collections, 1);
  t.mock.timers.tick(10 * PERIOD_MS);
  assert.equal(collections, 1);
});

test('without a collector to call, nothing waits', (t) => {
  replaceCollector(t, undefined);
  giveBackStartMemory({
    eventLoopUtilization: () => assert.fail('the load of the process must not be read'),
  });
  t.mock.timers.tick(PERIOD_MS);
});
