import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findMedian, findSpread, summarizeLatency } from '../statistics.ts';

test('the median is the middle value, or the mean of the two middle ones', () => {
  assert.equal(findMedian([9, 1, 5]), 5);
  assert.equal(findMedian([4, 1, 3, 2]), 2.5);
  assert.throws(() => findMedian([]));
});

test('a spread compares rounds as numbers, not as text', () => {
  assert.deepEqual(findSpread([100, 9, 20]), { median: 20, min: 9, max: 100 });
});

test('percentiles of latencies are interpolated between ranks', () => {
  const valuesMs = Array.from({ length: 1_001 }, (_, at) => 1_000 - at);
  assert.deepEqual(summarizeLatency(valuesMs), {
    ...{ count: 1_001, p50Ms: 500, p99Ms: 990, maxMs: 1_000 },
  });
  assert.equal(summarizeLatency([]), null);
});
