import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';

/** A hub in a process of its own, which can be killed. */
export interface HubChild {
  baseUrl: string;
  child: ChildProcess;
  /** SIGKILL, and its end. */
  kill(): Promise<void>;
}

const MAIN = join(import.meta.dirname, '../../src/start/main.ts');
const START = `import(${JSON.stringify(MAIN)}).then((main) => main.startFromEnvironment())`;

export interface HubChildOptions {
  /**
   * The largest file that it may write, as the operating system enforces it: what a full disk is
   * to it.
   */
  fileKibMax?: number;
  /** Further settings. */
  env?: Record<string, string>;
  /** How wrong the clock of its machine is. */
  clockShiftMs?: number;
  /** Code that runs in the process before the hub. */
  prelude?: string;
  /** Receives what it writes to its error output; absent: this process's. */
  onErrorText?: (text: string) => void;
  /** Given the process at once; the hub answers later. */
  onSpawn?: (child: ChildProcess) => void;
}

/** Starts a hub on a data directory, in development mode. */
export async function startHubChild(
  t: Pick<TestContext, 'after'>,
  dataDir: string,
  options: HubChildOptions = {},
): Promise<HubChild> {
  const limit = options.fileKibMax === undefined ? 'unlimited' : String(options.fileKibMax);
  // The signal is ignored, so that a write beyond the limit fails as one to a full disk does.
  const script = `trap '' XFSZ; ulimit -f ${limit}; exec "$0" -e "$1"`;
  const { prelude = '', onErrorText } = options;
  const shift = `const now = Date.now; Date.now = () => now() + ${options.clockShiftMs ?? 0};`;
  // It is for tests, and a hub warns of a setting that it does not know.
  const { SVC_TEST_DATABASE_URL: _testServer, ...environment } = process.env;
  const child = spawn('bash', ['-c', script, process.execPath, prelude + shift + START], {
    stdio: ['ignore', 'pipe', onErrorText === undefined ? 'inherit' : 'pipe'],
    env: {
      ...environment,
      SVC_PORT: '0',
      SVC_DATA_DIR: dataDir,
      SVC_DEV_ALLOW_UNAUTH: 'true',
      SVC_LOG_LEVEL: 'silent',
      ...options.env,
    },
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => onErrorText?.(text));
  options.onSpawn?.(child);
  const ended = once(child, 'exit');
  const kill = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  t.after(kill);
  const { stdout } = child;
  assert(stdout !== null, 'its output is a pipe');
  for await (const line of createInterface({ input: stdout })) {
    const [, baseUrl] = /^Signalbox listens on (\S+)$/.exec(line) ?? [];
    if (baseUrl === undefined) continue;
    stdout.resume();
    return { baseUrl, child, kill };
  }
  throw new Error('the hub ended before it listened');
}
