// The machine of a newcomer: a home with one clone, and stand-ins for the coding tools on the PATH.
import { type ChildProcess, execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { type StartedProcess, startProcess } from '../scripts/process/start-process.ts';
import { projectRoot } from './node-process.ts';

const streams = join(projectRoot, 'packages/agent/test/executors/streams');
/** For one block on busy cores, and for the end of one that runs until it is stopped. */
const BLOCK_MS_MAX = 120_000;

export interface ShellRun {
  readonly output: string;
  readonly waitFor: StartedProcess['waitFor'];
  /** Lifts the time limit: the block runs until `stop`. */
  keep(): void;
  /** Resolves with the exit code. */
  readonly ended: Promise<number>;
  /** Interrupts it as Ctrl-C does; one that does not end is killed. */
  stop(): Promise<void>;
}

export interface Place {
  /** Runs the text of a block in a shell, in the folder of this project. */
  run(text: string): ShellRun;
}

/** Makes the machine below a folder; `port` is where its hub listens. */
export function makePlace(folder: string, port: number): Place {
  const home = join(folder, 'home');
  const bin = join(folder, 'bin');
  makeClone(join(home, 'src/api'));
  makeStandIn(bin, 'claude', 'claude-success.jsonl');
  makeStandIn(bin, 'codex', 'codex-success.jsonl');
  const prefix = join(folder, 'npm');
  const { NODE_OPTIONS, NODE_COMPILE_CACHE } = process.env;
  const env = {
    HOME: home,
    // The project's own Node first, as `npm` has it in a script. A login shell adds ~/.local/bin.
    PATH: [
      join(home, '.local/bin'),
      join(prefix, 'bin'),
      bin,
      dirname(process.execPath),
      process.env.PATH,
    ].join(delimiter),
    npm_config_prefix: prefix,
    npm_config_cache: process.env.npm_config_cache ?? join(process.env.HOME ?? home, '.npm'),
    npm_config_loglevel: 'error',
    // Both make commands start faster.
    ...(NODE_OPTIONS && { NODE_OPTIONS }),
    ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }),
    SVC_PORT: String(port),
    SVC_DATA_DIR: join(folder, 'data'),
    SIGNALBOX_URL: `http://127.0.0.1:${port}`,
    NO_COLOR: '1',
    TERM: 'dumb',
    LANG: 'C.UTF-8',
  };
  return { run: (text) => runShell(text, env) };
}

function makeClone(path: string): void {
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, 'README.md'), '# api\n');
  const git = (...args: string[]) => execFileSync('git', ['-C', path, ...args], { stdio: 'pipe' });
  git('init', '--quiet', '--initial-branch=main');
  git('config', 'user.name', 'Ada');
  git('config', 'user.email', 'ada@acme.example');
  git('remote', 'add', 'origin', 'git@code.acme.example:acme/api.git');
  git('add', '.');
  git('commit', '--quiet', '--message=First');
}

/** A tool that changes a file and prints a recorded stream of the real one. */
function makeStandIn(bin: string, name: string, stream: string): void {
  mkdirSync(bin, { recursive: true });
  copyFileSync(join(streams, stream), join(bin, stream));
  const path = join(bin, name);
  // Asked for its version, it is not in a job.
  const writeNotes = '[ -z "$SIGNALBOX_JOB_ID" ] || cat >> NOTES.md';
  const inner = 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"';
  const probe = `if [ "$1" = sandbox ]; then ${inner}; fi`;
  const lines = ['#!/bin/sh', probe, writeNotes, `cat "$(dirname "$0")/${stream}"`, ''];
  writeFileSync(path, lines.join('\n'));
  chmodSync(path, 0o755);
}

function runShell(text: string, env: Record<string, string>): ShellRun {
  // A group of its own, so that all of a block's processes end with it.
  const options = { cwd: projectRoot, env, detached: true };
  const run = startProcess('bash', ['-euo', 'pipefail', '-c', text], options);
  const { child, waitFor } = run;
  let late = '';
  const endLate = () => {
    late = `\nIt was killed: it had not ended after ${BLOCK_MS_MAX / 1_000} s.\n`;
    endGroup(child, 'SIGKILL');
    // A process that has left the group may hold them open.
    child.stdout?.destroy();
    child.stderr?.destroy();
  };
  let limit = setTimeout(endLate, BLOCK_MS_MAX);
  const ended = run.ended.then(({ code }) => code ?? -1).finally(() => clearTimeout(limit));
  return {
    get output() {
      return `${run.stdout}${run.stderr}${late}`;
    },
    ended,
    waitFor,
    keep() {
      clearTimeout(limit);
    },
    async stop() {
      clearTimeout(limit);
      limit = setTimeout(endLate, BLOCK_MS_MAX);
      endGroup(child, 'SIGINT');
      await ended.finally(() => clearTimeout(limit));
    },
  };
}

function endGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  process.kill(-child.pid, signal);
}
