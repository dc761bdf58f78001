import { readFileSync } from 'node:fs';

/** The unit of times in /proc: a hundredth of a second on every Linux. */
const tickMs = 10;

/**
 * Reads how much processor time this process has used, in milliseconds, with its children that have
 * ended and theirs. Only Linux tells a process about its children; elsewhere they are left out.
 */
export function readProcessorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000 + readChildrenMs();
}

function readChildrenMs(): number {
  if (process.platform !== 'linux') return 0;
  const stat = readFileSync('/proc/self/stat', 'utf8');
  // After the name, which is in parentheses and may contain anything, from the state on.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) * tickMs;
}
