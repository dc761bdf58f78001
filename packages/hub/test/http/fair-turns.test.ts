import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairTurns } from '../../src/base/fair-turns.ts';

/** Work that ends when it is told to. */
function createWork(name: string, begun: string[]) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const work = async () => {
    begun.push(name);
    await promise;
    return name;
  };
  return { name, work, end: resolve };
}

test('subjects with waiting work have their turns one after the other', async () => {
  const turns = new FairTurns();
  const begun: string[] = [];
  const names = ['a1', 'a2', 'a3', 'b1', 'a4', 'c1', 'b2'];
  const works = names.map((name) => createWork(name, begun));
  const running = works.map(({ name, work }) => turns.run(name.slice(0, 1), work));
  for (const { end } of works) end();
  assert.deepEqual(await Promise.all(running), names);
  assert.deepEqual(begun, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
});

test('one piece of work runs at a time, and one that fails passes the turn on', async () => {
  const turns = new FairTurns();
  let running = 0;
  let runningMax = 0;
  const run = (fails: boolean) =>
    turns.run('a', async () => {
      running += 1;
      runningMax = Math.max(runningMax, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      if (fails) throw new Error('failed');
    });
  const results = await Promise.allSettled([run(false), run(true), run(false)]);
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  await run(false);
  assert.equal(runningMax, 1);
});

test('with several places, as many pieces run at a time, and subjects still have turns', async () => {
  const turns = new FairTurns(2);
  const begun: string[] = [];
  const works = ['a1', 'a2', 'a3', 'b1'].map((name) => createWork(name, begun));
  const running = works.map(({ name, work }) => turns.run(name.slice(0, 1), work));
  assert.deepEqual(begun, ['a1', 'a2']);
  works[0]?.end();
  await running[0];
  assert.deepEqual(begun, ['a1', 'a2', 'a3']);
  works[1]?.end();
  await running[1];
  assert.deepEqual(begun, ['a1', 'a2', 'a3', 'b1']);
  for (const { end } of works) end();
  await Promise.all(running);
});
