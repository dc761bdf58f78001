import assert from 'node:assert/strict';
import { readlinkSync } from 'node:fs';
import { getPriority } from 'node:os';
import { test } from 'node:test';
import { isMainThread } from 'node:worker_threads';
import { type Computation, SideThread } from '../../src/base/side-thread.ts';

export const double: Computation<number, { result: number; isMainThread: boolean }> = {
  module: import.meta.url,
  name: 'double',
  compute: (input) => ({ result: input * 2, isMainThread }),
};

export const fail: Computation<null, never> = {
  module: import.meta.url,
  name: 'fail',
  compute() {
    throw new Error('no result');
  },
};

export const fill: Computation<null, never> = {
  module: import.meta.url,
  name: 'fill',
  compute() {
    const kept: number[][] = [];
    for (;;) kept.push(Array.from({ length: 100_000 }, (_, at) => at / 3));
  },
};

export const readNiceness: Computation<null, number> = {
  module: import.meta.url,
  name: 'readNiceness',
  compute: () => getPriority(Number(readlinkSync('/proc/thread-self').split('/').at(-1))),
};

// The thread imports this file as well, for the computations only.
if (isMainThread) {
  test('computations run in another thread, also after one that failed', async (t) => {
    const thread = new SideThread();
    t.after(() => thread.close());
    const [one, two] = await Promise.all([thread.run('a', double, 1), thread.run('b', double, 2)]);
    assert.deepEqual([one.result, two.result], [2, 4]);
    assert.equal(one.isMainThread, false);
    await assert.rejects(thread.run('a', fail, null), /no result/);
    assert.equal((await thread.run('a', double, 3)).result, 6);
  });

  test('a computation that fills the memory of its thread fails alone', async (t) => {
    const thread = new SideThread();
    t.after(() => thread.close());
    await assert.rejects(thread.run('a', fill, null), { code: 'ERR_WORKER_OUT_OF_MEMORY' });
    assert.equal((await thread.run('a', double, 3)).result, 6);
  });

  const skip = process.platform === 'linux' ? false : 'threads have priorities on Linux only';
  test('the event loop goes first, unless it waits for the thread', { skip }, async (t) => {
    const thread = new SideThread();
    const urgent = new SideThread(true);
    t.after(() => Promise.all([thread.close(), urgent.close()]));
    const own = getPriority();
    assert.equal(await thread.run('a', readNiceness, null), Math.min(own + 10, 19));
    assert.equal(await urgent.run('a', readNiceness, null), own);
    assert.equal(getPriority(), own, 'the thread of the event loop keeps its priority');
  });
}
