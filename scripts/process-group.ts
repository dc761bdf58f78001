import { type ChildProcess, spawn } from 'node:child_process';
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

/** Starts this Node on the arguments, in a process group of its own where there are groups. */
export function spawnGroup(
  args: readonly string[],
  folder: string,
  stdio: ('ignore' | 'pipe' | 'ipc')[],
  env: NodeJS.ProcessEnv,
): ChildProcess {
  const child = spawn(process.execPath, args, { cwd: folder, stdio, env, detached: hasGroups });
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
    signalGroup(child, 'SIGKILL');
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
      for (const child of running) signalGroup(child, 'SIGKILL');
      process.stdout.write(`\nended by ${signal}\n`);
      process.exit(code);
    });
  }
}

/** Whether a process of the group is running; those that are dead but not collected are not. */
export function isGroupRunning(groupId: number): boolean {
  if (process.platform !== 'linux') return killGroup(groupId, 0);
  // In a container whose first process collects nobody, dead orphans stay in the table for ever.
  return readdirSync('/proc').some((name) => /^\d+$/.test(name) && isMember(name, groupId));
}

function isMember(processId: string, groupId: number): boolean {
  try {
    const stat = readFileSync(`/proc/${processId}/stat`, 'utf8');
    // After the name, which is in brackets and may hold anything: state, parent, group.
    const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(group) === groupId && state !== 'Z' && state !== 'X';
  } catch (error) {
    // It ended between the listing and the reading.
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') return false;
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
  if (!hasGroups || child.pid === undefined) return false;
  const deadlineMs = performance.now() + leftoverGraceMs;
  while (isGroupRunning(child.pid)) {
    if (performance.now() > deadlineMs) return killGroup(child.pid, 'SIGKILL');
    await wait(20);
  }
  return false;
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  if (hasGroups) killGroup(child.pid, signal);
  else child.kill(signal);
}

/** False when no process of the group is left. */
function killGroup(groupId: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-groupId, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}
