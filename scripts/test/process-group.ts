import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

/** Characters kept of the output of one process. */
export const outputMaxChars = 64_000;
/** How long children of a finished process (a browser, a hub) may take to end. */
const leftoverGraceMs = 3_000;
/** How long the last output of a finished process may take to arrive. */
const drainMs = 2_000;

const hasGroups = process.platform !== 'win32';

/** The running processes, so that an interrupted run ends all of them. */
const running = new Set<ChildProcess>();
/**
 * The variable in the environment of each process, which its descendants inherit. On Linux it finds
 * descendants that left the group, as every command started by an agent does. The mark is in the
 * name, so that a nested run adds a second one instead of replacing the first.
 */
const marks = new WeakMap<ChildProcess, string>();

/** Runs this Node with the arguments, in a separate process group where supported. */
export function spawnGroup(
  args: readonly string[],
  folder: string,
  stdio: ('ignore' | 'pipe' | 'ipc')[],
  env: NodeJS.ProcessEnv,
): ChildProcess {
  const mark = `SIGNALBOX_TEST_MARK_${randomUUID().replaceAll('-', '')}`;
  const child = spawn(process.execPath, args, {
    cwd: folder,
    stdio,
    env: { ...env, [mark]: '1' },
    detached: hasGroups,
  });
  marks.set(child, mark);
  running.add(child);
  child.once('close', () => running.delete(child));
  return child;
}

/** How a process ended. */
export interface Ending {
  /** Empty if it exited with code 0. */
  readonly exit: string;
  /** The last output. */
  readonly output: string;
  /** It was terminated at its time limit. */
  readonly isLate: boolean;
  /** It left processes behind, which were terminated. */
  readonly hadLeftovers: boolean;
}

/** Waits for a process of `spawnGroup`; terminates its whole group after `limitMs`, if given. */
export async function endOf(child: ChildProcess, limitMs?: number): Promise<Ending> {
  let output = '';
  let isLate = false;
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-outputMaxChars);
    });
  }
  const heard = Promise.all([once(child, 'close'), child.connected && once(child, 'disconnect')]);
  const end = () => {
    isLate = true;
    endGroup(child);
  };
  const limit = limitMs === undefined ? undefined : setTimeout(end, limitMs);
  const exit = await exitOf(child);
  clearTimeout(limit);
  const hadLeftovers = await endLeftovers(child);
  // The last output may arrive after the exit. A daemon that left the group can keep the pipes open
  // forever, so the wait is bounded.
  await Promise.race([heard, wait(drainMs, undefined, { ref: false })]);
  return { exit, output, isLate, hadLeftovers };
}

/** Terminates every process of `spawnGroup` when this process is interrupted. */
export function endGroupsOnSignal(): void {
  const signals = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
  for (const [signal, code] of Object.entries(signals)) {
    process.once(signal, () => {
      for (const child of running) endGroup(child);
      process.stdout.write(`\nended by ${signal}\n`);
      process.exit(code);
    });
  }
}

/** Lists the processes in the child's group or with its mark, without zombies. Linux only. */
function listMembers(child: ChildProcess): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isMember(name, child))
    .map(Number);
}

function isMember(processId: string, child: ChildProcess): boolean {
  try {
    const stat = readFileSync(`/proc/${processId}/stat`, 'utf8');
    // After the name, which is in parentheses and may contain anything: state, parent, group.
    const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (state === 'Z' || state === 'X') return false;
    if (Number(group) === child.pid) return true;
    const mark = marks.get(child);
    return mark !== undefined && readFileSync(`/proc/${processId}/environ`).includes(mark);
  } catch (error) {
    // The process ended between listing and reading, or belongs to another user.
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES') return false;
    throw error;
  }
}

function exitOf(child: ChildProcess): Promise<string> {
  return new Promise((done) => {
    child.once('error', (error) => done(`did not start: ${error.message}`));
    child.once('exit', (code, signal) => {
      if (code === 0) done('');
      else done(signal === null ? `exited with code ${code}` : `was terminated by ${signal}`);
    });
  });
}

/**
 * Terminates the processes that a finished process left running; returns whether there were any.
 */
async function endLeftovers(child: ChildProcess): Promise<boolean> {
  const deadlineMs = performance.now() + leftoverGraceMs;
  while (isRunning(child)) {
    if (performance.now() > deadlineMs) {
      endGroup(child);
      return true;
    }
    await wait(20);
  }
  return false;
}

/** Whether the child's process or one of its descendants is running. */
function isRunning(child: ChildProcess): boolean {
  if (process.platform === 'linux') return listMembers(child).length > 0;
  return hasGroups && child.pid !== undefined && killProcess(-child.pid, 0);
}

/** Terminates the process and all its descendants. */
export function endGroup(child: ChildProcess): void {
  if (process.platform === 'linux') {
    for (const processId of listMembers(child)) killProcess(processId, 'SIGKILL');
  } else if (hasGroups && child.pid !== undefined) {
    killProcess(-child.pid, 'SIGKILL');
  } else {
    child.kill('SIGKILL');
  }
}

/** Returns false if the process does not exist (for a negative number, the group). */
function killProcess(processId: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(processId, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}
