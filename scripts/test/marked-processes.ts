import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

/**
 * A variable in the environment of a process, which its descendants inherit. On Linux it finds
 * those that left its group, as every command started by an agent does. The mark is in the name, so
 * that a nested run adds a second one instead of replacing the first.
 */
const prefix = 'SIGNALBOX_TEST_MARK_';
/** How long processes that a test file started (a browser, a hub) may take to end after it. */
const graceMs = 3_000;

export function makeMark(): NodeJS.ProcessEnv {
  return { [`${prefix}${randomUUID().replaceAll('-', '')}`]: '1' };
}

/** Kills the processes that have a mark of this environment, and their descendants. Linux only. */
export function endMarked(env: NodeJS.ProcessEnv): void {
  for (const id of listMarked(env)) {
    try {
      process.kill(id, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

/** The same, once they have had the time to end. */
export async function endLeftovers(env: NodeJS.ProcessEnv): Promise<void> {
  const deadlineMs = performance.now() + graceMs;
  while (listMarked(env).length > 0 && performance.now() < deadlineMs) await wait(20);
  endMarked(env);
}

/** Lists the running processes with the last mark; this one comes last. */
function listMarked(env: NodeJS.ProcessEnv): number[] {
  const mark = Object.keys(env).findLast((name) => name.startsWith(prefix));
  if (process.platform !== 'linux' || mark === undefined) return [];
  const found = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && hasMark(name, mark));
  const others = found.map(Number).filter((id) => id !== process.pid);
  return others.length === found.length ? others : [...others, process.pid];
}

function hasMark(id: string, mark: string): boolean {
  try {
    // A zombie has no environment any more.
    return readFileSync(`/proc/${id}/environ`).includes(mark);
  } catch (error) {
    // The process ended between listing and reading, or belongs to another user.
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES') return false;
    throw error;
  }
}
