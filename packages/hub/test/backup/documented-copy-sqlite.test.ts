import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startHomeWorld } from '../support/home-world.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { upload } from '../support/upload-setup.ts';

/** The commands of the page that copy files, for other directories. */
function readCommands(dataDir: string, backup: string): string {
  const page = join(import.meta.dirname, '../../../../docs/operate/backup.md');
  const [, commands] = /^pg_dump [^\n]*\n(.*?)^```/ms.exec(readFileSync(page, 'utf8')) ?? [];
  assert.ok(commands !== undefined, 'the page copies files after the dump');
  return commands.replaceAll('/var/lib/signalbox', dataDir).replaceAll('/backup/', backup);
}

test('the documented copy works where nothing was archived or uploaded', async (t) => {
  const h = await startHomeWorld(t);
  const copy = () => {
    const backup = makeTempDir(t);
    execFileSync('sh', ['-e', '-c', readCommands(h.dataDir, backup)], { stdio: 'pipe' });
    return readdirSync(backup);
  };
  assert.deepEqual(copy(), []);
  await upload(h, 'the plan');
  assert.deepEqual(copy(), ['uploads']);
});
