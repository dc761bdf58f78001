import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { sayOutput } from './screen.ts';

export interface RunningHub {
  url: string;
  firstOwnerUrl: string;
  note: string;
  /** Resolves when the hub has ended by itself; rejects when the demo is to end. */
  ended: CommandRun['ended'];
}

/** One call of `signalbox`. */
export interface CommandRun {
  /** The command, for messages. */
  words: string;
  /** Its output is on the screen already. */
  isShown: boolean;
  /**
   * Resolves with the match once the complete lines of the output hold one. Control sequences are
   * removed first, so a pattern sees the same text with colours and without. Rejects when the
   * command ends first.
   */
  waitFor(pattern: RegExp): Promise<RegExpMatchArray>;
  ended: Promise<{ exitCode: number; output: string; errorOutput: string }>;
}

export interface Processes {
  startHub(): Promise<RunningHub>;
  startCommand(
    args: readonly string[],
    options?: { input?: string; showsOutput?: boolean },
  ): CommandRun;
  /** Ends the processes that still run, in order, and returns when they are gone. */
  endAll(): Promise<void>;
}

/** Between the signal that asks and the one that does not. A job's own processes get 10 s. */
const KILL_AFTER_MS = 15_000;

/** The processes of a demo, with settings of their own, so that a person's stay untouched. */
export function createProcesses(place: {
  root: string;
  directory: string;
  signal: AbortSignal;
}): Processes {
  const { root, directory, signal } = place;
  const running: ChildProcess[] = [];
  const env = demoEnvironment(directory);

  function start(args: readonly string[], input?: string): ChildProcess {
    signal.throwIfAborted();
    const main = join(root, 'packages/cli/src/main.ts');
    // In a group of its own: Ctrl-C is for the demo, which then ends its processes in order.
    const child = spawn(process.execPath, [main, ...args], { cwd: directory, env, detached: true });
    running.push(child);
    child.once('close', () => running.splice(running.indexOf(child), 1));
    // A command that has ended before it read its input says why by its exit code.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    return child;
  }

  return {
    async startHub() {
      const args = ['serve', '--port', '0', '--data-dir', join(directory, 'hub')];
      const hub = watch(start(args), 'serve', signal, false);
      const [, url = ''] = await hub.waitFor(/listens on (http:\/\/\S+)/);
      const [firstOwnerUrl] = await hub.waitFor(/http:\/\/\S+#token=\S+/);
      return { url, firstOwnerUrl, note: url, ended: hub.ended };
    },
    startCommand(args, { input, showsOutput = false } = {}) {
      return watch(start(args, input), args.slice(0, 2).join(' '), signal, showsOutput);
    },
    async endAll() {
      // The latest first: the agent gives its job back while the hub still answers.
      for (const child of running.toReversed()) await end(child);
    },
  };
}

/**
 * The demo and a person's own Signalbox must not affect each other. What is made for tests stays:
 * by it the test runner finds processes that a demo has left behind.
 */
function demoEnvironment(directory: string): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(SIGNALBOX|SVC)_(?!TEST_)/.test(name),
  );
  const wantsColor = process.stdout.isTTY && !process.env.NO_COLOR;
  return {
    ...Object.fromEntries(kept),
    SIGNALBOX_CONFIG_DIR: join(directory, 'config'),
    SIGNALBOX_STATE_DIR: join(directory, 'state'),
    ...(wantsColor ? { FORCE_COLOR: '1' } : {}),
  };
}

function watch(
  child: ChildProcess,
  words: string,
  signal: AbortSignal,
  showsOutput: boolean,
): CommandRun {
  let output = '';
  let errorOutput = '';
  const listeners = new Set<() => void>();
  /** A piece of output may end within a line. */
  let openLine = '';
  const showLines = (text: string) => {
    const lines = (openLine + text).split('\n');
    openLine = lines.pop() ?? '';
    for (const line of lines) sayOutput(line);
  };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (showsOutput) showLines(text);
    for (const listener of listeners) listener();
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errorOutput += text;
  });
  const interrupted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  const closed = once(child, 'close').then(([code]) => {
    if (openLine !== '') showLines('\n');
    return { exitCode: typeof code === 'number' ? code : 1, output, errorOutput };
  });
  const ended = Promise.race([closed, interrupted]);
  // Callers of a command await its end; no caller awaits the hub's.
  ended.catch(() => {});
  return {
    words,
    isShown: showsOutput,
    ended,
    waitFor(pattern) {
      const found = new Promise<RegExpMatchArray>((resolve) => {
        const look = () => {
          const lines = output.slice(0, output.lastIndexOf('\n') + 1);
          const match = pattern.exec(stripVTControlCharacters(lines));
          if (match === null) return;
          listeners.delete(look);
          resolve(match);
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
