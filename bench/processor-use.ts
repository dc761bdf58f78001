import { readProc } from '../scripts/test/processor-time.ts';

/** Resident memory of one process in bytes; null without /proc. */
export function readResidentBytes(pid: number): number | null {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readProc(`${pid}/status`) ?? '')?.[1];
  return kilobytes === undefined ? null : Number(kilobytes) * 1_024;
}
