import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { after } from 'node:test';
import { stripVTControlCharacters } from 'node:util';

export const projectRoot = join(import.meta.dirname, '..');

/** Generous for two busy cores. A wait that ends reports what was printed instead. */
const WAIT_MS_MAX = 180_000;

export interface NodeProcess {
  readonly child: ChildProcess;
  /** Everything printed so far. */
  readonly stdout: string;
  readonly stderr: string;
  /** Resolves when it has ended and all that it printed has been read. */
  readonly ended: Promise<ProcessEnd>;
  /**
   * Resolves with the first match in what it has printed or prints from now on, without its
   * colours: many tools color their output where CI is set, with sequences inside a word.
   * @throws when it ends first, or prints no such thing within `limitMs`; with what it printed.
   */
  waitFor(pattern: RegExp, limitMs?: number): Promise<RegExpExecArray>;
}

export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Several files use this process, one after the other; their place ends what they leave. */
export const isPlaceOfFiles = process.env.SIGNALBOX_TEST_PLACE !== undefined;

const running = new Set<ChildProcess>();

// A scenario that fails half-way must neither wait for its processes nor leave them to the next.
if (!isPlaceOfFiles) after(() => endProcesses());
process.once('exit', () => endProcesses());

export function listProcesses(): readonly ChildProcess[] {
  return [...running];
}

/** Kills all processes but these. */
export function endProcesses(kept: ReadonlySet<ChildProcess> = new Set()): void {
  for (const child of running) if (!kept.has(child)) child.kill('SIGKILL');
}

export interface NodeOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** Default: this Node. */
  node?: string;
}

/** Starts a script, on this Node or another. It never outlives the scenario. */
export function startNode(args: readonly string[], options: NodeOptions = {}): NodeProcess {
  const child = spawn(options.node ?? process.execPath, args, {
    cwd: options.cwd ?? projectRoot,
    env: { ...cleanEnvironment(), ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  const printed = { stdout: '', stderr: '' };
  const heard = new EventTarget();
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      printed[stream] += text;
      heard.dispatchEvent(new Event('news'));
    });
  }
  const ended = once(child, 'close').then(([code, signal]): ProcessEnd => {
    running.delete(child);
    heard.dispatchEvent(new Event('news'));
    return { code, signal };
  });

  function waitFor(pattern: RegExp, limitMs = WAIT_MS_MAX): Promise<RegExpExecArray> {
    const wait = Promise.withResolvers<RegExpExecArray>();
    const fail = (why: string) =>
      wait.reject(new Error(`${why} while ${pattern} was expected.\n${describe()}`));
    const look = () => {
      const texts = [printed.stdout, printed.stderr].map(stripVTControlCharacters);
      const match = texts.map((text) => pattern.exec(text)).find((found) => found !== null);
      if (match) wait.resolve(match);
      else if (!running.has(child)) fail('The process ended');
    };
    const limit = setTimeout(() => fail(`${limitMs} ms passed`), limitMs);
    heard.addEventListener('news', look);
    look();
    return wait.promise.finally(() => {
      clearTimeout(limit);
      heard.removeEventListener('news', look);
    });
  }

  function describe(): string {
    return `It printed:\n${printed.stdout}\nand on standard error:\n${printed.stderr}`;
  }

  return {
    child,
    get stdout() {
      return printed.stdout;
    },
    get stderr() {
      return printed.stderr;
    },
    ended,
    waitFor,
  };
}

/** Runs a script to its end. */
export async function runNode(
  args: readonly string[],
  options: NodeOptions = {},
): Promise<ProcessEnd & { stdout: string; stderr: string }> {
  const started = startNode(args, options);
  const end = await started.ended;
  return { ...end, stdout: started.stdout, stderr: started.stderr };
}

/** This environment without a developer's own settings of hub, agent, command line and tests. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const foreign = /^(SVC_|SIGNALBOX_|NODE_TEST_CONTEXT$|FORCE_COLOR$)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)));
}
