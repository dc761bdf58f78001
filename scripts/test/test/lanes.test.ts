import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { FileReport } from '../file-log.ts';
import { type FileRun, runInLanes } from '../lanes.ts';

/** Runs files that share processes in as many lanes as there are files. */
async function runShared(t: TestContext, fileCount: number, body = '') {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-lanes-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const usedFile = join(folder, 'processes');
  const text = `import { test } from 'node:test';
    import { appendFileSync } from 'node:fs';
    appendFileSync(${JSON.stringify(usedFile)}, process.pid + '\\n');
    test('the only one', () => { ${body} });`;
  const runs = Array.from({ length: fileCount }, (_, number): FileRun => {
    const file = `${number}.test.ts`;
    writeFileSync(join(folder, file), text);
    return { file, limitMs: 60_000, isShared: true };
  });
  const reports: FileReport[] = [];
  const queues = { computing: runs, waiting: [] };
  await runInLanes(folder, queues, fileCount, (report) => reports.push(report));
  const used = readFileSync(usedFile, 'utf8').trim().split('\n');
  return { reports, processCount: new Set(used).size };
}

test('few files share no more processes than there are processors', async (t) => {
  const { reports, processCount } = await runShared(t, 6);
  assert.equal(reports.length, 6);
  assert.ok(processCount <= availableParallelism(), `${processCount} processes`);
});

test('every file runs, also when each process is replaced after a failure', async (t) => {
  const { reports, processCount } = await runShared(t, 6, "throw new Error('planted')");
  assert.equal(reports.length, 6);
  assert.equal(processCount, 6);
});

test('files of a place share a process, which loads the place first, until one fails', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-lanes-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const used = join(folder, 'used');
  const note = (what: string) => `import { appendFileSync } from 'node:fs';
    appendFileSync(${JSON.stringify(used)}, '${what} ' + process.pid + '\\n');`;
  writeFileSync(join(folder, 'some-place.ts'), note('place'));
  const chain = ['', "throw new Error('planted')", ''].map((body, number): FileRun => {
    const file = `${number}.test.ts`;
    const test = `import { test } from 'node:test'; test('the only one', () => { ${body} });`;
    writeFileSync(join(folder, file), `${test} ${note(`file-${number}`)}`);
    return { file, limitMs: 60_000, isShared: false, place: 'some-place.ts' };
  });
  const reports: FileReport[] = [];
  await runInLanes(folder, { computing: [], waiting: [chain] }, 2, (one) => reports.push(one));
  assert.deepEqual(
    reports.map(({ file, results }) => `${file} ${results.map(({ outcome }) => outcome)}`),
    ['0.test.ts passed', '1.test.ts failed', '2.test.ts passed'],
  );
  const lines = readFileSync(used, 'utf8').trim().split('\n');
  const [first, , , second] = lines.map((line) => line.replace(/.* /, ''));
  assert.notEqual(first, second);
  const expected = [
    ...[`place ${first}`, `file-0 ${first}`, `file-1 ${first}`],
    ...[`place ${second}`, `file-2 ${second}`],
  ];
  assert.deepEqual(lines, expected);
});
