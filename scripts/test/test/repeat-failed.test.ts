import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { FileReport } from '../file-log.ts';
import { type FileRun, runInLanes } from '../lanes.ts';
import { repeatFailed } from '../repeat-failed.ts';
import { countResults, describeRun } from '../test-summary.ts';

const folder = mkdtempSync(join(tmpdir(), 'signalbox-repeat-'));
after(() => rmSync(folder, { recursive: true }));

function plant(name: string, body: string): FileRun {
  const file = `${name}.test.ts`;
  const imports = `import { test } from 'node:test';
    import { existsSync, writeFileSync } from 'node:fs';\n`;
  writeFileSync(join(folder, file), `${imports} test('the only one', () => { ${body} });`);
  return { file, limitMs: 60_000, isShared: false };
}

const failing = "throw new Error('planted')";

async function runTwice(runs: FileRun[]) {
  const first: FileReport[] = [];
  await runInLanes(folder, { computing: runs, waiting: [] }, 2, (report) => first.push(report));
  const again: string[] = [];
  const repetition = await repeatFailed(folder, runs, first, (report) => {
    again.push(report.file);
    return report;
  });
  return { ...repetition, again };
}

test('a file that failed is repeated once: what fails again has failed, what passes is named', async () => {
  const marker = JSON.stringify(join(folder, 'was-here'));
  const once = `if (!existsSync(${marker})) { writeFileSync(${marker}, ''); ${failing}; }`;
  const { reports, unsteady, again } = await runTwice([
    plant('steady', ''),
    plant('broken', failing),
    plant('unsteady', once),
  ]);
  assert.deepEqual(again, ['broken.test.ts', 'unsteady.test.ts']);
  assert.deepEqual(countResults(reports), { passed: 2, failed: 1, skipped: 0 });
  assert.deepEqual(
    unsteady.map(({ file }) => file),
    ['unsteady.test.ts'],
  );
  const text = describeRun(reports, { durationMs: 1_000, processorMs: 0, unsteady });
  assert.match(text, /\nFlaky: failed, then passed:\n {2}unsteady\.test\.ts: the only one/);
  const last = text.split('\n').slice(-2);
  assert.deepEqual(last, ['Flaky: 1 file failed, then passed.', '2 passed, 1 failed, 0 skipped']);
  assert.match(text, /\nFailed:\n {2}broken\.test\.ts: the only one/);
});

test('many failed files are not repeated', async () => {
  const runs = Array.from({ length: 21 }, (_, n) => plant(`broken-${n}`, failing));
  const { reports, again } = await runTwice(runs);
  assert.deepEqual(again, []);
  assert.equal(countResults(reports).failed, 21);
});
