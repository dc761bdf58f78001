import { expect, test } from 'vitest';
import { usageByModel, usageWords } from '../src/format/usage-words.ts';

test.each([
  [{}, ''],
  [{ inputTokens: 48_211, outputTokens: 3_120 }, '48,211 tokens in, 3,120 out'],
  [
    { inputTokens: 48_211, cachedInputTokens: 40_000, outputTokens: 0, costUsd: 0.412 },
    '48,211 tokens in (40,000 cached), 0 out, $0.41',
  ],
  [{ inputTokens: 5, cachedInputTokens: 0 }, '5 tokens in'],
  [{ outputTokens: 7 }, '7 tokens out'],
  [{ costUsd: 0.004 }, '< $0.01'],
])('the usage %j reads %s', (usage, words) => {
  expect(usageWords(usage)).toBe(words);
});

test('several models are listed, each with its own use; one is not repeated', () => {
  const small = { model: 'small', inputTokens: 10, costUsd: 0.5 };
  expect(usageByModel({ models: [small] })).toEqual([]);
  expect(usageByModel({ models: [small, { model: 'large', outputTokens: 2 }] })).toEqual([
    { model: 'small', used: '10 tokens in, $0.50' },
    { model: 'large', used: '2 tokens out' },
  ]);
});
