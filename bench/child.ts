import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { basename, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

export const projectRoot = join(import.meta.dirname, '..');

/** Time limit of a server's start; the first one in a new checkout builds the console. */
const START_MS_MAX = 180_000;
/** Time between SIGTERM and SIGKILL. */
const STOP_MS_MAX = 10_000;
/** Characters kept of a process's output. */
const OUTPUT_CHARS_MAX = 20_000;

const running = new Set<ChildProcess>();
// However this process ends, all processes that it started end with it.
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** A process of a measure. */
export interface Child {
  readonly process: ChildProcess;
  readonly pid: number;
  /** Resolves with the first match in the output. @throws if it exits or reaches the limit. */
  waitFor(pattern: RegExp, limitMs?: number): Promise<RegExpExecArray>;
  /** Sends SIGTERM, then SIGKILL; resolves when the process has ended. */
  stop(): Promise<void>;
  /** The output, for error messages. */
  output(): string;
}

/** Starts a process that ends with this one at the latest. @throws if it cannot be started. */
export async function startChild(
  command: string,
  args: readonly string[],
  options: SpawnOptions = {},
): Promise<Child> {
  const child = spawn(command, args, { cwd: projectRoot, stdio: 'pipe', ...options });
  await once(child, 'spawn');
  running.add(child);
  let printed = '';
  const changes = new EventTarget();
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      printed = (printed + text).slice(-OUTPUT_CHARS_MAX);
      changes.dispatchEvent(new Event('change'));
    });
  }
  const closed = once(child, 'close').then(() => {
    running.delete(child);
    changes.dispatchEvent(new Event('change'));
  });

  function waitFor(pattern: RegExp, limitMs = START_MS_MAX): Promise<RegExpExecArray> {
    const wait = Promise.withResolvers<RegExpExecArray>();
    const fail = (why: string) =>
      wait.reject(new Error(`${basename(command)} ${why}:\n${printed}`));
    const look = () => {
      const match = pattern.exec(printed);
      if (match !== null) wait.resolve(match);
      else if (!running.has(child)) fail('ended');
    };
    const limit = setTimeout(() => fail(`was not ready within ${limitMs} ms`), limitMs);
    changes.addEventListener('change', look);
    look();
    return wait.promise.finally(() => {
      clearTimeout(limit);
      changes.removeEventListener('change', look);
    });
  }

  return {
    process: child,
    pid: child.pid ?? 0,
    waitFor,
    async stop() {
      child.kill('SIGTERM');
      const limit = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX);
      await closed;
      clearTimeout(limit);
    },
    output: () => printed,
  };
}

/** This process's environment without the developer's own hub settings. */
export function cleanEnvironment(extra: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^(SVC_|SIGNALBOX_)/.test(name));
  return { ...Object.fromEntries(own), ...extra };
}

/** Limit of an error in a cell of a table. */
const ERROR_CHARS_MAX = 300;

/** Short, and without paths of this machine. */
export function describeError(error: unknown): string {
  const text = stripVTControlCharacters(error instanceof Error ? error.message : String(error));
  return text.replaceAll(projectRoot, '.').replace(/\s+/g, ' ').slice(0, ERROR_CHARS_MAX);
}
