import { readdirSync, readFileSync } from 'node:fs';

/** Linux reports processor time in hundredths of a second on all systems (USER_HZ). */
const TICK_MS = 10;

/** Processor time of a process and all its descendants, in milliseconds; null without /proc. */
export function readCpuMs(pid: number): number | null {
  const stats = readStats();
  if (stats === null) return null;
  let totalMs = 0;
  for (const [id, stat] of stats) {
    if (descendsFrom(stats, id, pid)) totalMs += stat.cpuMs;
  }
  return totalMs;
}

/** Resident memory of one process in bytes; null without /proc. */
export function readResidentBytes(pid: number): number | null {
  const status = readProc(`${pid}/status`);
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(status ?? '')?.[1];
  return kilobytes === undefined ? null : Number(kilobytes) * 1_024;
}

interface Stat {
  readonly parent: number;
  readonly cpuMs: number;
}

function readStats(): Map<number, Stat> | null {
  let names: string[];
  try {
    names = readdirSync('/proc');
  } catch {
    // Not Linux: the table shows that it was not measured.
    return null;
  }
  const stats = new Map<number, Stat>();
  for (const name of names) {
    const stat = /^\d+$/.test(name) ? readProc(`${name}/stat`) : null;
    if (stat === null) continue;
    // The name is in parentheses and may contain anything, so count fields from its end.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = Number(fields[11]) + Number(fields[12]);
    stats.set(Number(name), { parent: Number(fields[1]), cpuMs: ticks * TICK_MS });
  }
  return stats;
}

function descendsFrom(stats: Map<number, Stat>, id: number, ancestor: number): boolean {
  for (let at: number | undefined = id; at !== undefined && at > 0; at = stats.get(at)?.parent) {
    if (at === ancestor) return true;
  }
  return false;
}

/** Null if the process has ended since the listing, or belongs to somebody else. */
function readProc(path: string): string | null {
  try {
    return readFileSync(`/proc/${path}`, 'utf8');
  } catch {
    return null;
  }
}
