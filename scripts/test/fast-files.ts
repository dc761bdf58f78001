import { chmodSync, mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { freemem } from 'node:os';
import { join } from 'node:path';

const memoryFolder = '/dev/shm';
const folderPrefix = 'signalbox-tests-';
/** With less free memory, files stay on the disk. */
const freeBytesMin = 2 * 1024 ** 3;

/**
 * Gives the tests that start from now on a memory-backed folder for temporary files, where there is
 * one. Databases sync each commit, and on a disk the tests mostly wait for that; no test can see
 * whether bytes survive a power failure. TMPDIR chooses another place. The folder is removed when
 * this process ends.
 */
export function useFastFiles(): void {
  if (process.env.TMPDIR !== undefined || !hasRoom()) return;
  removeLeftovers();
  const folder = join(memoryFolder, `${folderPrefix}${process.pid}`);
  mkdirSync(folder);
  // PostgreSQL runs as another user than root.
  chmodSync(folder, 0o1777);
  process.env.TMPDIR = folder;
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
}

function hasRoom(): boolean {
  if (process.platform !== 'linux' || freemem() < freeBytesMin) return false;
  try {
    const { bavail, bsize } = statfsSync(memoryFolder);
    return bavail * bsize >= freeBytesMin;
  } catch {
    return false;
  }
}

/** Removes what killed runs left. */
function removeLeftovers(): void {
  for (const name of readdirSync(memoryFolder)) {
    const [, processId] = new RegExp(`^${folderPrefix}(\\d+)$`).exec(name) ?? [];
    if (processId === undefined || isRunning(Number(processId))) continue;
    try {
      rmSync(join(memoryFolder, name), { recursive: true, force: true });
    } catch {
      // It belongs to another user.
    }
  }
}

function isRunning(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
