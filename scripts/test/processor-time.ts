import { readdirSync, readFileSync } from 'node:fs';

/** The unit of times in /proc: a hundredth of a second on every Linux. */
const tickMs = 10;

/**
 * Reads how much processor time this process has used, in milliseconds, with all its descendants,
 * ended or running. Only Linux tells a process about them; elsewhere they are left out.
 */
export function readProcessorMs(): number {
  const { user, system } = process.cpuUsage();
  const ownMs = (user + system) / 1_000;
  if (process.platform !== 'linux') return ownMs;
  const { ended } = readTicks(process.pid);
  return ownMs + tickMs * (ended + sumRunning(process.pid));
}

/** A browser starts its processes by one that starts processes, and so on. */
function sumRunning(parent: number): number {
  return listChildren(parent).reduce((sum, child) => {
    const { used, ended } = readTicks(child);
    return sum + used + ended + sumRunning(child);
  }, 0);
}

/** The time of a process, and of its children that have ended, with theirs. */
function readTicks(id: number): { used: number; ended: number } {
  const stat = readUnlessEnded(() => readFileSync(`/proc/${id}/stat`, 'utf8'));
  // After the name, which is in parentheses and may contain anything, from the state on.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const sum = (first: number) => Number(fields[first] ?? 0) + Number(fields[first + 1] ?? 0);
  return { used: sum(11), ended: sum(13) };
}

/** Each thread has children of its own. */
function listChildren(id: number): number[] {
  const threads = readUnlessEnded(() => readdirSync(`/proc/${id}/task`).join(' ')).split(' ');
  return threads.flatMap((thread) => {
    const path = `/proc/${id}/task/${thread}/children`;
    const children = thread === '' ? '' : readUnlessEnded(() => readFileSync(path, 'utf8'));
    return children.split(' ').filter(Boolean).map(Number);
  });
}

function readUnlessEnded(read: () => string): string {
  try {
    return read();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') return '';
    throw error;
  }
}
