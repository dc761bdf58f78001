import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

/** How much printed text is kept of one process. */
const outputMaxChars = 64_000;
/** How long children of a finished process (a browser, a hub) may take to be gone. */
const leftoverGraceMs = 3_000;
/** How long the last output of a finished process may take to arrive. */
const drainMs = 2_000;

const hasGroups = process.platform !== 'win32';

/** Processes that are running now, so that an interrupted run takes them all with it. */
const running = new Set<ChildProcess>();
/**
 * A variable that each one's environment holds and its descendants inherit. By it, Linux finds
 * those that left the group, as every command does that an agent starts. The mark is in the name,
 * so that a run inside a run adds a second one instead of hiding the first.
 */
const marks = new WeakMap<ChildProcess, string>();

/** Starts this Node on the arguments, in a process group of its own where there are groups. */
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

/** How a process came to its end. */
export interface Ending {
  /** Empty when it exited with code 0. */
  readonly exit: string;
  /** The last that it printed. */
  readonly output: string;
  /** It was ended because its time was up. */
  readonly isLate: boolean;
  /** It left processes behind, which were ended. */
  readonly hadLeftovers: boolean;
}

/** Waits for a process of `spawnGroup`; ends its whole group when `limitMs` have passed. */
export async function endOf(child: ChildProcess, limitMs: number): Promise<Ending> {
  let output = '';
  let isLate = false;
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-outputMaxChars);
    });
  }
  const heard = Promise.all([once(child, 'close'), child.connected && once(child, 'disconnect')]);
  const limit = setTimeout(() => {
    isLate = true;
    endMembers(child);
  }, limitMs);
  const exit = await exitOf(child);
  clearTimeout(limit);
  const hadLeftovers = await endLeftovers(child);
  // What was said last arrives after the exit. A daemon that left the group can hold the pipes
  // open for ever, so the wait is bounded.
  await Promise.race([heard, wait(drainMs, undefined, { ref: false })]);
  return { exit, output, isLate, hadLeftovers };
}

/** Takes every process of `spawnGroup` along when this process is interrupted. */
export function endGroupsOnSignal(): void {
  const signals = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
  for (const [signal, code] of Object.entries(signals)) {
    process.once(signal, () => {
      for (const child of running) endMembers(child);
      process.stdout.write(`\nended by ${signal}\n`);
      process.exit(code);
    });
  }
}

/** On Linux: processes of the child's group or with its mark; uncollected dead ones are none. */
function listMembers(child: ChildProcess): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isMember(name, child))
    .map(Number);
}

function isMember(processId: string, child: ChildProcess): boolean {
  try {
    const stat = readFileSync(`/proc/${processId}/stat`, 'utf8');
    // After the name, which is in brackets and may hold anything: state, parent, group.
    const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (state === 'Z' || state === 'X') return false;
    if (Number(group) === child.pid) return true;
    const mark = marks.get(child);
    return mark !== undefined && readFileSync(`/proc/${processId}/environ`).includes(mark);
  } catch (error) {
    // It ended between the listing and the reading, or belongs to somebody else.
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
      else done(signal === null ? `exited with code ${code}` : `was ended by ${signal}`);
    });
  });
}

/** Ends what a finished process left running; true when there was something. */
async function endLeftovers(child: ChildProcess): Promise<boolean> {
  const deadlineMs = performance.now() + leftoverGraceMs;
  while (isRunning(child)) {
    if (performance.now() > deadlineMs) {
      endMembers(child);
      return true;
    }
    await wait(20);
  }
  return false;
}

/** Whether a process of the child, or one that it started, is running. */
function isRunning(child: ChildProcess): boolean {
  if (process.platform === 'linux') return listMembers(child).length > 0;
  return hasGroups && child.pid !== undefined && killProcess(-child.pid, 0);
}

function endMembers(child: ChildProcess): void {
  if (process.platform === 'linux') {
    for (const processId of listMembers(child)) killProcess(processId, 'SIGKILL');
  } else if (hasGroups && child.pid !== undefined) {
    killProcess(-child.pid, 'SIGKILL');
  } else {
    child.kill('SIGKILL');
  }
}

/** False when there is no such process (a negative number: no such group). */
function killProcess(processId: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(processId, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}
