import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { projectRoot } from '../child.ts';

test('an interrupted bench leaves no process and no file', async (t) => {
  // On the project's own disk: the bench refuses a directory in memory.
  const directory = mkdtempSync(join(import.meta.dirname, '../.data-test-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const mark = `BENCH_MARK_${randomUUID().replaceAll('-', '')}`;
  const bench = spawn(
    process.execPath,
    ['scripts/bench.ts', '--only', 'P2', '--quick', '--dir', directory],
    {
      cwd: projectRoot,
      env: { ...process.env, [mark]: '1' },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  t.after(() => bench.kill('SIGKILL'));
  // The first contestant has finished, so the hub is starting or running.
  let printed = '';
  for await (const text of bench.stdout.setEncoding('utf8')) {
    printed += text;
    if (printed.includes('round 1  no-op')) break;
  }
  assert.match(printed, /round 1 {2}no-op/);
  assert.notDeepEqual(readdirSync(directory), [], 'the data is in the given directory');
  bench.kill('SIGINT');
  const [code] = await once(bench, 'exit');
  assert.equal(code, 130);
  assert.deepEqual(readdirSync(directory), []);
  assert.deepEqual(await waitUntilGone(mark), []);
});

/** Waits for the processes with the mark to end; killed ones take a moment. */
async function waitUntilGone(mark: string): Promise<string[]> {
  for (let looks = 0; looks < 200; looks++) {
    if (findMarked(mark).length === 0) return [];
    await new Promise((resolve) => setImmediate(resolve));
  }
  return findMarked(mark);
}

/** Processes with the mark in their environment; empty without /proc. */
function findMarked(mark: string): string[] {
  if (!existsSync('/proc/self/environ')) return [];
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return readFileSync(join('/proc', name, 'environ'), 'utf8').includes(mark);
    } catch {
      return false;
    }
  });
}
