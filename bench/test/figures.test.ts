import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Bench } from '../bench.ts';
import { type Contestant, runContest } from '../contest.ts';
import { cost, perSecond, ratiosOf, valuesOf } from '../figure.ts';
import { parseOptions } from '../options.ts';
import { Place } from '../place.ts';
import { findMedian, summarizeLatency } from '../statistics.ts';

/** A bench of three rounds, and contestants of which each says when it runs. */
function setup() {
  const order: string[] = [];
  const bench: Bench = {
    options: parseOptions(['--rounds', '3']),
    place: new Place(import.meta.dirname),
    postgres: 'not in this test',
    say: () => undefined,
  };
  const contestant = (title: string, run: (round: number) => number): Contestant => {
    let round = 0;
    return {
      title,
      async run() {
        order.push(title);
        const value = run(++round);
        const report = { count: 10, seconds: 1, generatorCpuMs: 1, latency: {}, totals: {} };
        const cores = { hub: 0.5, redis: 0.5, generator: 1 };
        return { ...report, perSecond: value, cores, residentBytes: {} };
      },
    };
  };
  return { bench, order, contestant };
}

test('contestants alternate by round, and their rounds are compared in pairs', async () => {
  const { bench, order, contestant } = setup();
  const { a, b } = await runContest(bench, {
    a: contestant('a', (round) => round * 100),
    b: contestant('b', () => 50),
  });
  assert.equal(order.join(''), 'ababab');
  assert.deepEqual(ratiosOf([a, b], perSecond), [2, 4, 6]);
  assert.deepEqual(valuesOf(b, cost), [20_000, 20_000, 20_000], 'µs without the generator');
});

test('one failed round removes a contestant and every figure of it', async () => {
  const { bench, order, contestant } = setup();
  const { a, b } = await runContest(bench, {
    a: contestant('a', (round) => {
      if (round === 2) throw new Error('a job was granted twice');
      return 1_000_000;
    }),
    b: contestant('b', () => 7),
  });
  assert.equal(order.join(''), 'ababb');
  assert.match(String(valuesOf(a, perSecond)), /granted twice/);
  assert.match(String(ratiosOf([b, a], perSecond)), /granted twice/);
  assert.deepEqual(valuesOf(b, perSecond), [7, 7, 7]);
  assert.equal(
    valuesOf(b, () => null),
    'not measured on this system',
  );
});

test('a median and percentiles compare numbers, and are interpolated between ranks', () => {
  assert.equal(findMedian([100, 9, 20]), 20);
  assert.equal(findMedian([4, 1, 3, 2]), 2.5);
  const valuesMs = Array.from({ length: 1_001 }, (_, at) => 1_000 - at);
  assert.deepEqual(summarizeLatency(valuesMs), { p50Ms: 500, p99Ms: 990 });
});
