import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { settings } from '@signalbox/hub';

const script = join(import.meta.dirname, '../../start.ts');

for (const flag of ['--help', '-h']) {
  test(`npm start -- ${flag} lists every flag and starts nothing`, (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'signalbox-start-'));
    t.after(() => rmSync(directory, { recursive: true }));
    const run = spawnSync(process.execPath, [script, '--port', '5000', flag], {
      cwd: directory,
      encoding: 'utf8',
    });
    assert.equal(run.status, 0, run.stderr);
    for (const { flag: name, env } of Object.values(settings)) {
      assert.ok(run.stdout.includes(`  --${name} VALUE\n      ${env}: `), name);
    }
    const wide = run.stdout.split('\n').filter((line) => line.length > 80);
    assert.deepEqual(wide, [], 'lines fit a terminal of 80 columns');
    assert.deepEqual(readdirSync(directory), [], 'no data directory is created');
  });
}
