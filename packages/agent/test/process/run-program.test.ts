import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProgramError, runProgram } from '../../src/process/run-program.ts';

const limitMs = 60_000;
const shell = (script: string, options: object = {}) =>
  runProgram('sh', ['-c', script], { limitMs, ...options });
const fails = (message: RegExp, exitCode: number | null) => (error: unknown) => {
  assert.ok(error instanceof ProgramError);
  assert.match(error.message, message);
  assert.equal(error.exitCode, exitCode);
  return true;
};

test('a program has a process group of its own, which Ctrl-C in the terminal does not reach', async () => {
  const { stdout } = await shell('ps -o pgid= -p $$; echo $$');
  const [group, pid] = stdout.trim().split(/\s+/);
  assert.equal(group, pid);
});

test('input and output keep their bytes', async () => {
  const bytes = 'a\u00ff\u0000b';
  const { stdout } = await runProgram('cat', [], { limitMs, input: bytes, encoding: 'latin1' });
  assert.equal(stdout, bytes);
});

test('a failure has the exit code and what was printed', async () => {
  const failed = shell('echo found; echo why >&2; exit 3');
  await assert.rejects(failed, fails(/^It ended with 3\.$/, 3));
  const error = (await failed.catch((reason: unknown) => reason)) as ProgramError;
  assert.deepEqual([error.stdout, error.stderr], ['found\n', 'why\n']);
  await assert.rejects(runProgram('no-such-program', [], { limitMs }), fails(/ENOENT/, null));
});

test('a limit, too much output and a signal end the program with all that it started', async () => {
  // The output is open until the last process of the group has ended.
  const waits = 'sleep 1000 & wait';
  await assert.rejects(shell(waits, { limitMs: 200 }), fails(/longer than 0\.2 s/, null));
  const noisy = shell(`yes & ${waits}`, { outputBytesMax: 10_000 });
  await assert.rejects(noisy, fails(/more than 10000 bytes/, null));
  const ending = new AbortController();
  const ended = shell(waits, { signal: ending.signal });
  ending.abort();
  await assert.rejects(ended, fails(/It was ended\./, null));
  await assert.rejects(shell(waits, { signal: AbortSignal.abort() }), fails(/ended/, null));
});
