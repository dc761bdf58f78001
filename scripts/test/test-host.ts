// The process of one or several test files, which it runs in the order in which it is told to.
// Each file is a suite, so that its hooks are for its own tests.
import { suite } from 'node:test';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { declareTracked, lighten } from './lighter-node-test.ts';
import { readProcessorMs } from './processor-time.ts';
import { outputEnd, type TestEvent, type TestOrder } from './test-event.ts';
import { endOfSuite } from './test-reporter.ts';

/** How long what a file opened may take to close after its last test. */
const closeMs = 20_000;
const pollMs = 5;

/** At the end of the last file: the start of the process counts for its first one. */
let countedMs = 0;
let isRunning = false;

// node:test would only set the exit code, and the test that waits for what failed would hang.
for (const kind of ['uncaughtException', 'unhandledRejection']) {
  process.on(kind, (error: unknown) => {
    const event: TestEvent = { kind: 'uncaught', detail: inspect(error, { depth: 6 }) };
    if (process.connected) {
      process.send?.(event, () => process.exit(1));
    } else {
      console.error(error);
      // After a run that was killed, its pipes are closed, and each error that is printed is one.
      process.exit(1);
    }
  });
}
process.on('message', ({ file }: TestOrder) => void run(file));
process.on('disconnect', () => {
  // The run was killed. Its test may wait for ever, and so may the processes that it has started.
  if (isRunning) process.kill(-process.pid, 'SIGKILL');
});

async function run(file: string): Promise<void> {
  isRunning = true;
  const before = { env: { ...process.env }, folder: process.cwd(), open: listOpen() };
  const reported = endOfSuite();
  await declareTracked(() =>
    suite(file, async () => {
      lighten();
      await import(pathToFileURL(file).href);
    }),
  );
  await reported;
  const traces = [...(await findOpened(before.open)), ...findChanged(before)];
  if (process.exitCode !== undefined) traces.push(`sets exit code ${process.exitCode}`);
  for (const stream of [process.stdout, process.stderr]) stream.write(outputEnd);
  // The time of a process whose parent was killed is lost.
  const processorMs = Math.max(readProcessorMs() - countedMs, 0);
  countedMs += processorMs;
  isRunning = false;
  process.send?.({ kind: 'finished', traces, processorMs } satisfies TestEvent);
}

/** The kinds of timers, sockets and processes that keep this process alive. */
function listOpen(): string[] {
  return process.getActiveResourcesInfo();
}

async function findOpened(before: readonly string[]): Promise<string[]> {
  const endMs = performance.now() + closeMs;
  for (;;) {
    const opened = listOpen();
    for (const kind of before) {
      const at = opened.indexOf(kind);
      if (at >= 0) opened.splice(at, 1);
    }
    if (opened.length === 0) return [];
    if (performance.now() > endMs) {
      return [`its tests are over, but something it opened was never closed: ${opened.join(', ')}`];
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs).unref());
  }
}

/** Changes of the process that the next file would see. */
function findChanged(before: { env: NodeJS.ProcessEnv; folder: string }): string[] {
  const names = new Set([...Object.keys(before.env), ...Object.keys(process.env)]);
  const changed = [...names].filter((name) => before.env[name] !== process.env[name]);
  const sentences = changed.map((name) => `changes the environment variable ${name} for good`);
  return process.cwd() === before.folder
    ? sentences
    : [...sentences, 'changes the folder for good'];
}
