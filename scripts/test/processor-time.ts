import { readdirSync, readFileSync } from 'node:fs';

/** Linux tells processor time in hundredths of a second on all systems (USER_HZ). */
const tickMs = 10;

/**
 * Reads how much processor time a process has used, in milliseconds, with all its descendants,
 * ended or running; null where there is no /proc.
 */
export function readProcessorMs(id: number | string): number | null {
  const ticks = readTicks(id);
  if (ticks === null) return null;
  // A browser starts its processes by one that starts processes, and so on.
  const children = listChildren(id).map((child) => readProcessorMs(child) ?? 0);
  return children.reduce((sum, each) => sum + each, tickMs * ticks);
}

/** The time of a process, and of its children that have ended, with theirs. */
function readTicks(id: number | string): number | null {
  const stat = readProc(`${id}/stat`);
  // After the name, which is in parentheses and may contain anything, from the state on.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields?.slice(11, 15).reduce((sum, each) => sum + Number(each), 0) ?? null;
}

/** Each thread has children of its own. */
export function listChildren(id: number | string): string[] {
  try {
    return readdirSync(`/proc/${id}/task`).flatMap((thread) => {
      const children = readProc(`${id}/task/${thread}/children`) ?? '';
      return children.split(' ').filter(Boolean);
    });
  } catch {
    // The process has ended since.
    return [];
  }
}

/** Null if the process has ended, belongs to another user, or is not on Linux. */
export function readProc(path: string): string | null {
  try {
    return readFileSync(`/proc/${path}`, 'utf8');
  } catch {
    return null;
  }
}
