import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { listChildren } from './processor-time.ts';

/**
 * A variable in the environment of a process, which its descendants inherit. On Linux it finds
 * those that left its group, as every command started by an agent does, and whose parent has ended.
 * The mark is in the name, so that a nested run adds a second one instead of replacing the first.
 */
const prefix = 'SIGNALBOX_TEST_MARK_';
/** How long processes that a test file started (a browser, a hub) may take to end after it. */
const graceMs = 3_000;

/** Of the processes that run, so that an interrupted run ends all of them. */
const marks = new Set<NodeJS.ProcessEnv>();

export function makeMark(): NodeJS.ProcessEnv {
  const mark = { [`${prefix}${randomUUID().replaceAll('-', '')}`]: '1' };
  marks.add(mark);
  return mark;
}

/** Ends every process of the run when this one is interrupted. */
export function endMarkedOnSignal(): void {
  for (const [signal, code] of Object.entries({ SIGINT: 130, SIGTERM: 143, SIGHUP: 129 })) {
    process.once(signal, () => {
      for (const mark of marks) endMarked(mark);
      process.stdout.write(`\nended by ${signal}\n`);
      process.exit(code);
    });
  }
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

/** The same, once they have had the time to end. The mark is not used again. */
export async function endLeftovers(mark: NodeJS.ProcessEnv): Promise<void> {
  const deadlineMs = performance.now() + graceMs;
  while (listMarked(mark).length > 0 && performance.now() < deadlineMs) await wait(20);
  endMarked(mark);
  marks.delete(mark);
}

/**
 * Lists the running processes with the last mark, and their descendants, which may have been
 * started with another environment; this one comes last.
 */
function listMarked(env: NodeJS.ProcessEnv): number[] {
  const mark = Object.keys(env).findLast((name) => name.startsWith(prefix));
  if (process.platform !== 'linux' || mark === undefined) return [];
  const marked = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && hasMark(name, mark));
  const found = new Set<number>();
  const add = (id: string) => {
    found.add(Number(id));
    for (const child of listChildren(id)) if (!found.has(Number(child))) add(child);
  };
  for (const id of marked) add(id);
  const own = found.delete(process.pid) ? [process.pid] : [];
  return [...found, ...own];
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
