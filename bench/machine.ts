import { closeSync, fdatasyncSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { findMedian } from './statistics.ts';

/** The machine of a measurement. */
export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly system: string;
  readonly node: string;
  readonly postgres: string;
  readonly redis: string;
  /** Time to write and sync 4 KB where the data of servers is stored. */
  readonly syncP50Ms: number;
}

const SYNCS = 500;
const PAGE_BYTES = 4_096;

/** Describes the machine and measures the time of a disk sync. */
export function describeMachine(
  dataRoot: string,
  versions: { postgres: string; redis: string },
): Machine {
  return {
    processor: readProcessorName(),
    cores: cpus().length,
    memoryBytes: totalmem(),
    system: `${type()} ${release().replace(/^(\d+\.\d+).*$/, '$1')}`,
    node: process.versions.node,
    ...versions,
    syncP50Ms: measureSync(join(dataRoot, 'sync')),
  };
}

function measureSync(path: string): number {
  const file = openSync(path, 'w');
  const page = Buffer.alloc(PAGE_BYTES, 1);
  const tookMs = Array.from({ length: SYNCS }, () => {
    const beganMs = performance.now();
    writeSync(file, page);
    fdatasyncSync(file);
    return performance.now() - beganMs;
  });
  closeSync(file);
  unlinkSync(path);
  return findMedian(tookMs);
}

/** On Arm, Node reports no name; use the kernel's description instead. */
function readProcessorName(): string {
  const name = cpus()[0]?.model.trim();
  if (name !== undefined && name !== 'unknown' && name !== '') return name;
  try {
    return /^model name\s*:\s*(.+)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1] ?? 'unknown';
  } catch {
    return 'unknown';
  }
}
