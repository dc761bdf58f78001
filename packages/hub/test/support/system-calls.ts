import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';

/** Why no system calls can be recorded here; undefined when they can. */
export function whyNoStrace(): string | undefined {
  try {
    execFileSync('strace', ['-e', 'trace=none', '-o', '/dev/null', 'true']);
    return undefined;
  } catch {
    return 'strace is not installed or may not trace (apt-get install strace)';
  }
}

/** A change of a file. */
export type FileChange =
  | { kind: 'write'; file: string; offset: number; bytes: Buffer }
  | { kind: 'truncate'; file: string; size: number };

/** The actions of a process, in the order of its calls. */
export type FileCall =
  | FileChange
  /** `number` tells which end belongs to which begin. */
  | { kind: 'sync-begin' | 'sync-end'; file: string; call: 'fsync' | 'fdatasync'; number: number }
  /** Bytes written elsewhere, such as to a socket. */
  | { kind: 'output'; bytes: Buffer };

const recordedCalls = 'pwrite64,pwritev,ftruncate,fsync,fdatasync,write,writev';

export interface TracedProcess {
  child: ChildProcess;
  /** The first line that it prints. */
  firstLine: string;
  /** SIGKILL, and its end. */
  kill(): Promise<void>;
}

/**
 * Starts a program of Node under strace.
 *
 * @param options of strace, such as those of `recordTo` or of a fault to inject.
 */
export async function startTraced(
  t: Pick<TestContext, 'after'>,
  options: readonly string[],
  args: readonly string[],
  env: Record<string, string>,
): Promise<TracedProcess> {
  const child = spawn('strace', ['-f', '-q', ...options, process.execPath, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
    detached: true,
  });
  const ended = once(child, 'exit');
  const kill = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      // The group: strace and the program.
      process.kill(-(child.pid as number), 'SIGKILL');
      await ended;
    }
  };
  t.after(kill);
  const lines = createInterface({ input: child.stdout });
  const [firstLine] = (await Promise.race([once(lines, 'line'), ended])) as [unknown];
  if (typeof firstLine !== 'string') throw new Error('the program ended before it printed a line');
  child.stdout.resume();
  return { child, firstLine, kill };
}

/** Options of strace that record the calls which `readCalls` reads. */
export function recordTo(file: string): string[] {
  const wholeStrings = ['-y', '-xx', '-s', '10000000'];
  return ['--seccomp-bpf', ...wholeStrings, '-e', `trace=${recordedCalls}`].concat([
    '-e',
    'signal=none',
    '-o',
    file,
  ]);
}

const line = /^(\d+) +(?:<\.\.\. \w+ resumed>)?(.*)$/s;
const begun = /^(\w+)\((\d+)<([^>]*)>(.*)$/s;
const CUT_OFF = ' <unfinished ...>';

/** Reads a recording: the successful calls on files whose path fits, and all output. */
export async function* readCalls(
  recording: string,
  fits: (path: string) => boolean,
): AsyncGenerator<FileCall> {
  /** By thread: a call that another thread has interrupted in the recording. */
  const open = new Map<string, { begin: string; number: number }>();
  let number = 0;
  for await (const text of createInterface({ input: createReadStream(recording) })) {
    const [, thread = '', rest = ''] = line.exec(text) ?? [];
    const interrupted = open.get(thread);
    open.delete(thread);
    if (interrupted === undefined) {
      number += 1;
      const sync = parseSync(rest, fits);
      if (sync !== null) yield { kind: 'sync-begin', ...sync, number };
    }
    if (rest.endsWith(CUT_OFF)) {
      open.set(thread, { begin: rest.slice(0, -CUT_OFF.length), number });
      continue;
    }
    const whole = `${interrupted?.begin ?? ''}${rest}`;
    if (!/= \d+$/.test(whole)) continue;
    const sync = parseSync(whole, fits);
    if (sync !== null) yield { kind: 'sync-end', ...sync, number: interrupted?.number ?? number };
    const change = parseWrite(whole, fits);
    if (change !== null) yield change;
  }
}

function parseSync(text: string, fits: (path: string) => boolean) {
  const [, name = '', , path = ''] = begun.exec(text) ?? [];
  if (name !== 'fsync' && name !== 'fdatasync') return null;
  const file = decode(path).toString();
  return fits(file) ? ({ file, call: name } as const) : null;
}

function parseWrite(text: string, fits: (path: string) => boolean): FileCall | null {
  const [, name = '', , path = '', rest = ''] = begun.exec(text) ?? [];
  if (name === '' || name.endsWith('sync')) return null;
  const file = decode(path).toString();
  if (name === 'ftruncate') {
    const size = Number(/^, (\d+)/.exec(rest)?.[1]);
    return fits(file) ? { kind: 'truncate', file, size } : null;
  }
  const quoted = [...rest.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)];
  const bytes = Buffer.concat(quoted.map(([, hex = '']) => decode(hex)));
  if (name === 'write' || name === 'writev') return { kind: 'output', bytes };
  const offset = Number(/, (\d+)\) += \d+$/.exec(rest)?.[1]);
  return fits(file) ? { kind: 'write', file, offset, bytes } : null;
}

function decode(hex: string): Buffer {
  return Buffer.from(hex.replaceAll('\\x', ''), 'hex');
}
