import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Contestant, runContest } from '../contest.ts';
import type { LoadResult } from '../load-process.ts';
import { parseOptions } from '../options.ts';
import { Place } from '../place.ts';
import type { Bench } from '../section.ts';
import { makeTempDir } from './temp-dir.ts';

const result: LoadResult = {
  ...{ count: 10, seconds: 1, generatorCpuMs: 1, latency: {}, totals: {} },
  ...{ perSecond: 10, cores: {}, residentBytes: {}, writtenPerSecond: {} },
};

function setup(t: { after(act: () => void): void }) {
  const order: string[] = [];
  const bench: Bench = {
    options: parseOptions(['--rounds', '3']),
    place: new Place(makeTempDir(t)),
    redisVersion: null,
    postgres: { absentBecause: 'not in this test' },
    say: () => undefined,
  };
  const contestant = (id: string, run: (round: number) => number): Contestant => {
    let round = 0;
    return {
      ...{ id, title: id, absentBecause: null },
      async run() {
        order.push(id);
        return { ...result, perSecond: run(++round) };
      },
    };
  };
  return { bench, order, contestant };
}

test('contestants alternate by round and get a median and a spread', async (t) => {
  const { bench, order, contestant } = setup(t);
  const standings = await runContest(bench, [
    contestant('a', (round) => round * 100),
    contestant('b', () => 7),
  ]);
  assert.equal(order.join(''), 'ababab');
  assert.deepEqual(standings[0]?.perSecond, { median: 200, min: 100, max: 300 });
  assert.deepEqual(standings[1]?.perSecond, { median: 7, min: 7, max: 7 });
});

test('one failed round removes a contestant and its figure', async (t) => {
  const { bench, order, contestant } = setup(t);
  const standings = await runContest(bench, [
    contestant('a', (round) => {
      if (round === 2) throw new Error('a job was granted twice');
      return 1_000_000;
    }),
    contestant('b', () => 7),
  ]);
  assert.equal(order.join(''), 'ababb');
  assert.equal(standings[0]?.perSecond, null);
  assert.match(standings[0]?.failure ?? '', /granted twice/);
  assert.equal(standings[1]?.perSecond?.median, 7);
});

test('an absent contestant does not run and is listed with the reason', async (t) => {
  const { bench, order, contestant } = setup(t);
  const absent = { ...contestant('a', () => 1), absentBecause: 'redis-server is not installed' };
  const [standing] = await runContest(bench, [absent]);
  assert.deepEqual(order, []);
  assert.equal(standing?.absentBecause, 'redis-server is not installed');
  assert.equal(standing?.perSecond, null);
});
