import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';

const builders = 4;
const buildsOfEach = 25;
const filesOfEach = 40;

test('builds that end at once leave one whole build, and none of them fails', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-console-build-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const built = join(folder, 'dist');
  // Each builder has other sources half of the time, so that builds replace each other.
  const stampOf = (builder: number, build: number) => `${builder % 2} ${build}`;
  for (let builder = 0; builder < builders; builder += 1) {
    for (let build = 0; build < buildsOfEach; build += 1) {
      const draft = join(folder, `draft-${builder}-${build}`);
      mkdirSync(draft);
      writeFileSync(join(draft, '.build-stamp'), stampOf(builder, build));
      for (let file = 0; file < filesOfEach; file += 1) writeFileSync(join(draft, `${file}`), '');
    }
  }
  const code = `
    const { workerData: { module, moves, built } } = require('node:worker_threads');
    import(module).then(({ putInPlace }) => {
      for (const { draft, stamp } of moves) putInPlace(draft, built, stamp);
    });`;
  const ends = Array.from({ length: builders }, (_, builder) => {
    const moves = Array.from({ length: buildsOfEach }, (_unused, build) => ({
      draft: join(folder, `draft-${builder}-${build}`),
      stamp: stampOf(builder, build),
    }));
    const module = join(import.meta.dirname, '../console-build.ts');
    const worker = new Worker(code, { eval: true, workerData: { module, moves, built } });
    return new Promise((resolve, reject) => worker.on('exit', resolve).on('error', reject));
  });
  assert.deepEqual(await Promise.all(ends), Array(builders).fill(0));
  assert.equal(readdirSync(built).length, filesOfEach + 1);
  assert.match(readFileSync(join(built, '.build-stamp'), 'utf8'), /^[01] \d+$/);
});
