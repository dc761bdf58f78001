import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { openTestDatabase } from '../support/test-engine.ts';

/** Resolves with the next uncaught error, before the test runner sees it and fails the test. */
function catchUncaught(t: TestContext): Promise<unknown> {
  const others = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  t.after(() => {
    process.removeAllListeners('uncaughtException');
    for (const other of others) process.on('uncaughtException', other);
  });
  return new Promise((resolve) => process.once('uncaughtException', resolve));
}

test('an afterCommit call that throws is reported and affects neither the answer nor other calls', async (t) => {
  const database = await openTestDatabase(t, systemClock);
  const uncaught = catchUncaught(t);
  const calls: string[] = [];
  const act = (name: string, call: () => void) =>
    database.writeConcurrent({ workspaceId: 'w', keys: [name] }, async (tx) => {
      tx.afterCommit(call);
      return name;
    });
  const fault = new Error('a fault of the hub');
  const answers = await Promise.all([
    act('a', () => calls.push('a')),
    act('b', () => {
      throw fault;
    }),
    act('c', () => calls.push('c')),
  ]);
  assert.deepEqual(answers, ['a', 'b', 'c']);
  assert.deepEqual(calls, ['a', 'c']);
  assert.equal(await uncaught, fault);
  // The database still works.
  assert.equal(await act('d', () => undefined), 'd');
});
