import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { readProcessorMs } from '../processor-time.ts';

/** Uses the processor for as long, says so, and runs on. */
const worker = `while (process.cpuUsage().user < 500_000);
  console.log('worked'); setInterval(() => {}, 60_000);`;
const workMs = 500;

test('processor time includes descendants that are running', {
  skip: process.platform === 'linux' ? false : 'only Linux tells',
}, async (t) => {
  const before = readProcessorMs();
  // A shell that has two children stays.
  const line = ['-c', '"$0" -e "$1" & wait', process.execPath, worker];
  const child = spawn('bash', line, { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  t.after(async () => {
    const ended = once(child, 'close');
    process.kill(-Number(child.pid), 'SIGKILL');
    await ended;
  });
  await once(child.stdout, 'data');
  assert.ok(readProcessorMs() - before >= workMs);
});
