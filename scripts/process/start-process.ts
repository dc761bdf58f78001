import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { stripVTControlCharacters } from 'node:util';

/** Generous for two busy cores, and for a hub that builds the console at its first start. */
const WAIT_MS_MAX = 180_000;
/** Between the signal that asks and SIGKILL. A job's own processes get 10 s of it. */
const STOP_MS_MAX = 15_000;

export interface StartedProcess {
  readonly child: ChildProcess;
  /** 0 when it could not be started. */
  readonly pid: number;
  /** Everything printed so far. */
  readonly stdout: string;
  readonly stderr: string;
  /**
   * Resolves when it has ended and all that it printed has been read.
   * @throws when it could not be started.
   */
  readonly ended: Promise<ProcessEnd>;
  /**
   * Resolves with the first match in what it has printed or prints from now on, without its
   * colours: many tools color their output where CI is set, with sequences inside a word.
   * @throws when it ends first, or prints no such thing within `limitMs`; with what it printed.
   */
  waitFor(pattern: RegExp, limitMs?: number): Promise<RegExpExecArray>;
  /** Sends a signal (default: SIGTERM), then SIGKILL; resolves when it has ended. */
  stop(signal?: NodeJS.Signals): Promise<ProcessEnd>;
}

export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const running = new Set<ChildProcess>();
// However this process ends, all processes that it started end with it.
process.once('exit', () => endProcesses());

export function listProcesses(): readonly ChildProcess[] {
  return [...running];
}

/** Kills all processes but these. */
export function endProcesses(kept: ReadonlySet<ChildProcess> = new Set()): void {
  for (const child of running) if (!kept.has(child)) child.kill('SIGKILL');
}

/** Starts a process and reads what it prints. Without `input` it has nothing to read. */
export function startProcess(
  command: string,
  args: readonly string[],
  { input, ...options }: SpawnOptions & { input?: string | undefined } = {},
): StartedProcess {
  const stdin = input === undefined ? 'ignore' : 'pipe';
  const child = spawn(command, args, { stdio: [stdin, 'pipe', 'pipe'], ...options });
  running.add(child);
  // A command that has ended before it read its input says why by its exit code.
  child.stdin?.on('error', () => {}).end(input);
  const printed = { stdout: '', stderr: '' };
  const heard = new EventTarget();
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream]?.setEncoding('utf8').on('data', (text: string) => {
      printed[stream] += text;
      heard.dispatchEvent(new Event('news'));
    });
  }
  const ended = once(child, 'close')
    .then(([code, signal]): ProcessEnd => ({ code, signal }))
    .finally(() => running.delete(child));
  // It may be started for what it does until it is stopped; then its end is not awaited.
  ended.catch(() => {});

  function waitFor(pattern: RegExp, limitMs = WAIT_MS_MAX): Promise<RegExpExecArray> {
    const { promise, resolve, reject } = Promise.withResolvers<RegExpExecArray>();
    const fail = (why: string) =>
      reject(new Error(`${why} while ${pattern} was expected.\n${describe()}`));
    const look = () => {
      const texts = [printed.stdout, printed.stderr].map(stripVTControlCharacters);
      const match = texts.map((text) => pattern.exec(text)).find((found) => found !== null);
      if (match) resolve(match);
    };
    const limit = setTimeout(() => fail(`${limitMs} ms passed`), limitMs);
    heard.addEventListener('news', look);
    look();
    ended.then(() => fail('The process ended'), reject);
    return promise.finally(() => {
      clearTimeout(limit);
      heard.removeEventListener('news', look);
    });
  }

  function describe(): string {
    return `It printed:\n${printed.stdout}\nand on standard error:\n${printed.stderr}`;
  }

  return {
    child,
    pid: child.pid ?? 0,
    get stdout() {
      return printed.stdout;
    },
    get stderr() {
      return printed.stderr;
    },
    ended,
    waitFor,
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      const limit = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX);
      return await ended.finally(() => clearTimeout(limit));
    },
  };
}

/**
 * This environment without a developer's own settings of hub, agent and command line. What is made
 * for tests stays: by it the test runner finds processes that a test has left behind.
 */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  const foreign = /^(SVC_|SIGNALBOX_(?!TEST_)|NODE_TEST_CONTEXT$|FORCE_COLOR$)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)));
}
