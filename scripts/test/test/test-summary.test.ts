import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FileReport, TestResult } from '../file-log.ts';
import { readTestOptions } from '../test-options.ts';
import { countResults, describeReport, describeRun, forbidSkips } from '../test-summary.ts';

const results: TestResult[] = [
  { name: 'adds', outcome: 'passed', detail: '' },
  { name: 'breaks', outcome: 'failed', detail: 'Error: planted' },
  { name: 'opens a page', outcome: 'skipped', detail: 'no chromium here' },
  { name: 'is to be done', outcome: 'todo', detail: 'issue 7' },
];
const report: FileReport = {
  file: 'packages/hub/test/a.test.ts',
  results,
  durationMs: 1_234,
  processorMs: 500,
  output: 'a printed line',
};

const times = { durationMs: 2_000, processorMs: 1_500 };

test('a todo counts as a skip', () => {
  assert.deepEqual(countResults([report]), { passed: 1, failed: 1, skipped: 2 });
});

test('the last line of a run is the totals', () => {
  const lines = describeRun([report, report], times).split('\n');
  assert.equal(lines.at(-1), '2 passed, 2 failed, 4 skipped');
});

test('a run names every skip with its reason, and every failure with its error', () => {
  const text = describeRun([report], times);
  assert.match(text, /packages\/hub\/test\/a\.test\.ts: opens a page .*: no chromium here/);
  assert.match(text, /packages\/hub\/test\/a\.test\.ts: is to be done \(todo\): issue 7/);
  assert.match(text, /Failed:\n {2}packages\/hub\/test\/a\.test\.ts: breaks\n {6}Error: planted\n/);
});

test('of a long error, a run tells the beginning again', () => {
  const detail = Array.from({ length: 100 }, (_, line) => `line ${line}`).join('\n');
  const long = { ...report, results: [{ name: 'breaks', outcome: 'failed', detail } as const] };
  assert.match(describeRun([long], times), /line 14\n\nTook/);
});

test('a run names the files that took the most processor time, and what was outside of files', () => {
  const many = Array.from({ length: 11 }, (_, n) => ({
    ...report,
    file: `packages/hub/test/file-${n}.test.ts`,
    processorMs: 1_000 * n,
  }));
  const text = describeRun(many, { durationMs: 40_000, processorMs: 60_000 });
  const [, list = ''] = /Most processor time:\n((?: +[\d.]+ s {2}.*\n)*)/.exec(text) ?? [];
  assert.equal(list.split('\n').length - 1, 10);
  assert.match(list, /^ +10\.0 s {2}packages\/hub\/test\/file-10\.test\.ts\n +9\.0 s/);
  assert.match(text, /Took 40\.0 s, and 60\.0 s of processor time: 5\.0 s of it for the database/);
  assert.match(text, /packages\/hub +13\.6 s +55\.0 s {2}11 passed/);
  const seenInPart = describeRun(many, { durationMs: 40_000, processorMs: 20_000 });
  assert.match(seenInPart, /and 55\.0 s of processor time: 0\.0 s of it/);
});

test('a failed file shows its errors and what it printed; a good one is one line', () => {
  assert.match(describeReport(report), /^✗ .*1 failed.*\n.*breaks\n.*planted\n.*\n.*a printed/);
  const good = { ...report, results: results.filter(({ outcome }) => outcome !== 'failed') };
  assert.equal(describeReport(good).split('\n').length, 1);
});

test('with skips forbidden, a skip and a todo are failures that keep their reason', () => {
  const judged = forbidSkips(report);
  assert.deepEqual(countResults([judged]), { passed: 1, failed: 3, skipped: 0 });
  assert.match(describeReport(judged), /skipped: no chromium here/);
});

test('options come from the arguments and the environment', () => {
  const options = readTestOptions(['--no-skips', './packages/hub', '--concurrency', '3'], {});
  assert.deepEqual(options, {
    filters: ['packages/hub'],
    noSkips: true,
    repeatFailed: false,
    fromSource: false,
    concurrency: 3,
    fileLimitMs: undefined,
    changedSince: undefined,
    engines: ['sqlite'],
  });
  assert.deepEqual(readTestOptions(['--engine', 'postgres'], {}).engines, ['postgres']);
  assert.deepEqual(readTestOptions(['--engine', 'both'], {}).engines, ['sqlite', 'postgres']);
  const inEnvironment = { SIGNALBOX_TEST_ENGINE: 'postgres' };
  assert.deepEqual(readTestOptions([], inEnvironment).engines, ['postgres']);
  assert.deepEqual(readTestOptions(['--engine', 'sqlite'], inEnvironment).engines, ['sqlite']);
  assert.equal(readTestOptions(['--changed'], {}).changedSince, '');
  const since = readTestOptions(['--changed=HEAD~3', 'queue'], {});
  assert.deepEqual([since.changedSince, since.filters], ['HEAD~3', ['queue']]);
  assert.equal(readTestOptions([], { SIGNALBOX_TEST_NO_SKIPS: '1' }).noSkips, true);
  assert.equal(readTestOptions([], {}).noSkips, false);
  assert.equal(readTestOptions(['--repeat-failed'], {}).repeatFailed, true);
  assert.equal(readTestOptions(['--from-source'], {}).fromSource, true);
});

test('an unknown option and a bad number are refused', () => {
  assert.throws(() => readTestOptions(['--no-skip'], {}), /--no-skip/);
  assert.throws(() => readTestOptions(['--engine', 'mysql'], {}), /sqlite, postgres or both/);
  assert.throws(() => readTestOptions(['--concurrency', '0'], {}), /whole number/);
});
