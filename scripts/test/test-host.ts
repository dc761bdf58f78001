// The process of one or several test files, which it runs one after the other. Each file is a
// suite, so that its hooks are for its own tests. Arguments: the module to load first (or nothing),
// and the files.
import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { after, suite } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { endMarked } from './marked-processes.ts';
import { readProcessorMs } from './processor-time.ts';

/** How long what a file opened may take to close after its last test. */
const closeMs = 20_000;
const pollMs = 5;

/** Ends the output of a file, on both streams: results and output arrive apart from each other. */
export const outputEnd = '\u0003';

/** At the end of the last file: the start of the process counts for its first one. */
let countedMs = 0;
let isOpen = false;

if (import.meta.main) {
  const [, , place, ...files] = process.argv;
  closeInput();
  const watch = endWithParent();
  if (place) await load(place);
  for (const file of files) await runFile(file);
  clearInterval(watch);
  // A handle that a file left open would keep the process alive; its last results must be written.
  if (isOpen) setTimeout(() => process.exit(1), 1_000);
}

/** Node gives the process a pipe without an end; what reads from it would wait for ever. */
function closeInput(): void {
  closeSync(0);
  openSync(devNull, 'r');
}

/**
 * When the run is killed, its tests may wait for ever, and so may what they have started. The timer
 * keeps the process alive: once nothing else does, node:test starts one, which a file would seem to
 * have left open.
 */
function endWithParent(): NodeJS.Timeout {
  const { ppid } = process;
  const look = () => {
    if (process.ppid !== ppid) endMarked(process.env);
  };
  return setInterval(look, 1_000);
}

function load(file: string): Promise<unknown> {
  return import(pathToFileURL(file).href);
}

async function runFile(file: string): Promise<void> {
  const ended = Promise.withResolvers<void>();
  const before = { env: { ...process.env }, folder: process.cwd(), open: listOpen() };
  suite(file, async () => {
    await load(file).catch((error: unknown) => {
      // Its hooks do not run.
      endOutput();
      ended.resolve();
      throw error;
    });
    // After the hooks of the file.
    after(async () => {
      const opened = await findOpened(before.open);
      isOpen ||= opened.length > 0;
      const traces = [...opened, ...findChanged(before)];
      endOutput();
      ended.resolve();
      if (traces.length > 0) throw new Error(traces.join('\n'));
    });
  });
  await ended.promise;
}

/** Ends the output of a file with its processor time. */
function endOutput(): void {
  // The time of a process whose parent was killed is lost.
  const ownMs = Math.max((readProcessorMs(process.pid) ?? 0) - countedMs, 0);
  countedMs += ownMs;
  process.stdout.write(`${outputEnd}${ownMs}${outputEnd}`);
  process.stderr.write(outputEnd);
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
    await wait(pollMs);
  }
}

/** Changes of the process that the next file would see. */
function findChanged(before: { env: NodeJS.ProcessEnv; folder: string }): string[] {
  const names = new Set([...Object.keys(before.env), ...Object.keys(process.env)]);
  const changed = [...names].filter((name) => before.env[name] !== process.env[name]);
  const traces = changed.map((name) => `changes the environment variable ${name} for good`);
  if (process.cwd() !== before.folder) traces.push('changes the folder for good');
  if (process.exitCode !== undefined) traces.push(`sets exit code ${process.exitCode}`);
  return traces;
}
