// The processes of a demo, with settings of their own, so that a person's stay untouched.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

export interface RunningHub {
  url: string;
  pid: number;
  /** Of a hub that has no people yet. */
  waitForFirstOwnerUrl(): Promise<string>;
  /** Resolves when the hub has ended; rejects when the demo is to end. */
  ended: CommandRun['ended'];
}

/** One call of `signalbox`. */
export interface CommandRun {
  pid: number;
  /**
   * Resolves with the match once the complete lines of the output hold one; rejects when the
   * command ends first.
   */
  waitFor(pattern: RegExp): Promise<RegExpMatchArray>;
  ended: Promise<{ exitCode: number; output: string; errorOutput: string }>;
}

interface RunOptions {
  input?: string;
  /** Receives each line of the output. */
  onLine?: (line: string) => void;
}

export interface Processes {
  /** @param port default: any free one. */
  startHub(port?: number): Promise<RunningHub>;
  start(args: readonly string[], options?: RunOptions): CommandRun;
  /** Runs a command. @throws if it fails. */
  run(args: readonly string[], options?: RunOptions): Promise<string>;
  /** Ends the processes that still run, in order, and returns when they are gone. */
  endAll(): Promise<void>;
}

/** Between the signal that asks and the one that does not. A job's own processes get 10 s. */
const KILL_AFTER_MS = 15_000;

export function createProcesses(root: string, directory: string, signal: AbortSignal): Processes {
  const running: ChildProcess[] = [];
  const env = demoEnvironment(directory);

  function start(args: readonly string[], { input, onLine = () => {} }: RunOptions = {}) {
    signal.throwIfAborted();
    const main = join(root, 'packages/cli/src/main.ts');
    // In a group of its own: Ctrl-C is for the demo, which then ends its processes in order.
    const child = spawn(process.execPath, [main, ...args], { cwd: directory, env, detached: true });
    running.push(child);
    child.once('close', () => running.splice(running.indexOf(child), 1));
    // A command that has ended before it read its input says why by its exit code.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    return watch(child, args.slice(0, 2).join(' '), signal, onLine);
  }

  return {
    start,
    async startHub(port = 0) {
      const hub = start(['serve', '--port', String(port), '--data-dir', dataDirOf(directory)]);
      const [, url = ''] = await hub.waitFor(/listens on (http:\/\/\S+)/);
      const waitForFirstOwnerUrl = async () => {
        const [firstOwnerUrl] = await hub.waitFor(/http:\/\/\S+#token=\S+/);
        return firstOwnerUrl;
      };
      return { url, pid: hub.pid, waitForFirstOwnerUrl, ended: hub.ended };
    },
    async run(args, options) {
      const { exitCode, output, errorOutput } = await start(args, options).ended;
      if (exitCode === 0) return output;
      const words = args.slice(0, 2).join(' ');
      throw new Error(`signalbox ${words} exited with code ${exitCode}.\n${errorOutput.trim()}`);
    },
    async endAll() {
      // The latest first: the agent gives its job back while the hub still answers.
      for (const child of running.toReversed()) await end(child);
    },
  };
}

/** The data directory of the hub of a demo. */
export function dataDirOf(directory: string): string {
  return join(directory, 'hub');
}

/**
 * The demo and a person's own Signalbox must not affect each other. What is made for tests stays:
 * by it the test runner finds processes that a demo has left behind.
 */
function demoEnvironment(directory: string): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(SIGNALBOX|SVC)_(?!TEST_)/.test(name),
  );
  return {
    ...Object.fromEntries(kept),
    SIGNALBOX_CONFIG_DIR: join(directory, 'config'),
    SIGNALBOX_STATE_DIR: join(directory, 'state'),
  };
}

function watch(
  child: ChildProcess,
  words: string,
  signal: AbortSignal,
  onLine: (line: string) => void,
): CommandRun {
  let output = '';
  let errorOutput = '';
  let linesRead = 0;
  const listeners = new Set<() => void>();
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    const lines = output.split('\n').slice(0, -1);
    for (const line of lines.slice(linesRead)) onLine(line);
    linesRead = lines.length;
    for (const listener of listeners) listener();
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errorOutput += text;
  });
  const interrupted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  const closed = once(child, 'close').then(([code]) => {
    return { exitCode: typeof code === 'number' ? code : 1, output, errorOutput };
  });
  const ended = Promise.race([closed, interrupted]);
  // Callers of a command await its end; no caller awaits the hub's.
  ended.catch(() => {});
  return {
    // A program that cannot be started fails by `ended`.
    pid: child.pid ?? 0,
    ended,
    waitFor(pattern) {
      const found = new Promise<RegExpMatchArray>((resolve) => {
        const look = () => {
          const match = pattern.exec(output.slice(0, output.lastIndexOf('\n') + 1));
          if (match !== null) resolve(match);
        };
        listeners.add(look);
        look();
      });
      const lost = ended.then(({ exitCode }) => {
        throw new Error(`signalbox ${words} exited with code ${exitCode}.\n${errorOutput.trim()}`);
      });
      return Promise.race([found, lost]);
    },
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'close');
  // For an agent: give the job back now. For every other command an ordinary end.
  child.kill(child.spawnargs.includes('agent') ? 'SIGQUIT' : 'SIGTERM');
  const limit = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS);
  await gone;
  clearTimeout(limit);
}
