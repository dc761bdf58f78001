import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { basename, join } from 'node:path';

export const projectRoot = join(import.meta.dirname, '..');

/** How long a server may take until it says that it is there. */
const START_MS_MAX = 30_000;
/** After SIGTERM, before SIGKILL. */
const STOP_MS_MAX = 10_000;
/** What is kept of what a process prints. */
const OUTPUT_CHARS_MAX = 20_000;

const running = new Set<ChildProcess>();
// Whatever way this process ends, nothing that it started goes on.
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** A process of a measure. */
export interface Child {
  readonly process: ChildProcess;
  readonly pid: number;
  /** Resolves with the first match in what it prints. @throws when it ends or takes too long. */
  waitFor(pattern: RegExp, limitMs?: number): Promise<RegExpExecArray>;
  /** SIGTERM, then SIGKILL; resolves when it is gone. */
  stop(): Promise<void>;
  /** Everything printed, for the error that tells of its failure. */
  output(): string;
}

/** Starts a process that ends with this one at the latest. @throws when it cannot be started. */
export async function startChild(
  command: string,
  args: readonly string[],
  options: SpawnOptions = {},
): Promise<Child> {
  const child = spawn(command, args, { cwd: projectRoot, stdio: 'pipe', ...options });
  await once(child, 'spawn');
  running.add(child);
  let printed = '';
  const heard = new EventTarget();
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      printed = (printed + text).slice(-OUTPUT_CHARS_MAX);
      heard.dispatchEvent(new Event('news'));
    });
  }
  const closed = once(child, 'close').then(() => {
    running.delete(child);
    heard.dispatchEvent(new Event('news'));
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
    heard.addEventListener('news', look);
    look();
    return wait.promise.finally(() => {
      clearTimeout(limit);
      heard.removeEventListener('news', look);
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

/** This environment without a developer's own settings of the hub. */
export function cleanEnvironment(extra: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^(SVC_|SIGNALBOX_)/.test(name));
  return { ...Object.fromEntries(own), ...extra };
}
