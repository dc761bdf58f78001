import { mkdirSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';

/** The type number of an in-memory file system on Linux. */
const TMPFS_TYPE = 0x01021994;

/** New directories for measured servers, all removed when this process ends. */
export class Place {
  readonly root: string;

  /** @throws Error if the directory is in memory, where syncs have no effect. */
  constructor(root: string) {
    mkdirSync(root, { recursive: true });
    if (statfsSync(root).type === TMPFS_TYPE) {
      throw new Error(`${root} is in memory. Select a directory on a disk with --dir.`);
    }
    this.root = mkdtempSync(join(root, 'run-'));
    process.once('exit', () => rmSync(this.root, { recursive: true, force: true }));
  }

  make(name: string): string {
    return mkdtempSync(join(this.root, `${name}-`));
  }

  remove(directory: string): void {
    rmSync(directory, { recursive: true, force: true });
  }
}
