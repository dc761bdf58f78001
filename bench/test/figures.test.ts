import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Bench } from '../bench.ts';
import { type Contestant, runContest } from '../contest.ts';
import { cost, perSecond, ratiosOf, valuesOf } from '../figure.ts';
import { parseOptions } from '../options.ts';
import { Place } from '../place.ts';
import { formatReport, keepEarlier, type Report, replaceBlock } from '../report.ts';
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

const report: Report = {
  isQuick: false,
  machine: {
    processor: 'Some processor',
    cores: 2,
    memoryBytes: 8e9,
    system: 'Linux 6.1',
    node: '26.10.0',
    postgres: '18.4',
    redis: 'absent',
    syncP50Ms: 0.2,
  },
  figures: [
    {
      measure: 'P1',
      what: 'hub ÷ peer',
      unit: '×',
      atLeast: 1.5,
      values: [1.4, 1.6, 1.7],
      run: 'r',
    },
    { measure: 'P4', what: 'delivery', unit: 'ms', atMost: 10, values: [13.8], run: 'r' },
    { measure: 'P11', what: 'a call', unit: 'µs', values: [192], run: 'r' },
    { measure: 'P13', what: 'disk', unit: '', atMost: 1_400, values: 'no\ndisk', run: 'r' },
  ],
};

test('a report shows of every figure whether its target was met, missed or not measured', () => {
  const rows = formatReport(report).split('\n');
  assert.deepEqual(rows.slice(4), [
    '| P1 | hub ÷ peer | ≥ 1.50× | 1.60× | 3: 1.40× to 1.70× | r | ✓ |',
    '| P4 | delivery | ≤ 10.0 ms | 13.8 ms | 1 | r | ✗ |',
    '| P11 | a call |  | 192 µs | 1 | r |  |',
    '| P13 | disk | ≤ 1,400 | no disk |  | r | – |',
  ]);
  assert.match(formatReport({ ...report, isQuick: true }), /not to be quoted/);
  const page = replaceBlock('before\n<!-- bench -->\nold\n<!-- /bench -->\nafter\n', 'new');
  assert.equal(page, 'before\n<!-- bench -->\nnew\n<!-- /bench -->\nafter\n');
});

test('a run of some measures keeps the figures of the others, of the same machine', () => {
  const own = { measure: 'P2', what: 'requests', unit: '×', values: [0.1], run: 'later' } as const;
  const later = { ...report, figures: [own] };
  const joined = keepEarlier(later, report, new Set(['P2', 'P4']));
  assert.deepEqual(
    joined.figures.map(({ measure, run }) => `${measure} ${run}`),
    ['P1 r', 'P2 later', 'P11 r', 'P13 r'],
  );
  const elsewhere = { ...report, machine: { ...report.machine, processor: 'Another' } };
  assert.deepEqual(keepEarlier(later, elsewhere, new Set(['P2'])), later);
});

test('options select measures, and unknown ones are rejected', () => {
  assert.deepEqual([...parseOptions(['--only', 'P1,p4']).only], ['P1', 'P4']);
  assert.deepEqual([...parseOptions(['fleet', 'disk']).only], ['P11', 'P13']);
  assert.throws(() => parseOptions(['--only', 'P99']), /P99 is not a measure/);
  assert.throws(() => parseOptions(['--rounds', '0']), /from 1 to 99/);
  assert.throws(() => parseOptions(['--engine', 'mysql']), /--engine must be sqlite or postgres/);
});

test('a median and percentiles compare numbers, and are interpolated between ranks', () => {
  assert.equal(findMedian([100, 9, 20]), 20);
  assert.equal(findMedian([4, 1, 3, 2]), 2.5);
  const valuesMs = Array.from({ length: 1_001 }, (_, at) => 1_000 - at);
  assert.deepEqual(summarizeLatency(valuesMs), { p50Ms: 500, p99Ms: 990 });
});
