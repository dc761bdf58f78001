import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FileReport, TestResult } from '../file-report.ts';
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

test('a run names every skip with its reason, and every failure with its error', () => {
  const text = describeRun([report], { ...times, unsteady: [{ ...report, file: 'b.test.ts' }] });
  assert.match(text, /Flaky: failed, then passed:\n {2}b\.test\.ts: breaks/);
  assert.equal(text.split('\n').at(-1), '1 passed, 1 failed, 2 skipped');
  assert.match(text, /packages\/hub\/test\/a\.test\.ts: opens a page .*: no chromium here/);
  assert.match(text, /packages\/hub\/test\/a\.test\.ts: is to be done \(todo\): issue 7/);
  assert.match(text, /Failed:\n {2}packages\/hub\/test\/a\.test\.ts: breaks\n {6}Error: planted\n/);
});

test('a failed file shows its errors and what it printed; a good one is one line', () => {
  assert.match(describeReport(report), /^✗ .*1 failed.*\n.*breaks\n.*planted\n.*\n.*a printed/);
  const good = { ...report, results: results.filter(({ outcome }) => outcome !== 'failed') };
  assert.equal(describeReport(good).split('\n').length, 1);
  const measured = describeReport({ ...good, figures: ['500 kills, 0 lost'] });
  assert.match(measured, /^✓ .*\n {4}500 kills, 0 lost$/);
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
    concurrency: 3,
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
});

test('an unknown option and a bad number are refused', () => {
  assert.throws(() => readTestOptions(['--no-skip'], {}), /--no-skip/);
  assert.throws(() => readTestOptions(['--engine', 'mysql'], {}), /sqlite, postgres or both/);
  assert.throws(() => readTestOptions(['--concurrency', '0'], {}), /whole number/);
});
