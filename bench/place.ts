import { mkdirSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';

/** Linux's mark of a file system that is memory. */
const TMPFS_TYPE = 0x01021994;

/** Fresh directories for servers under measure, all gone when this process is. */
export class Place {
  readonly root: string;

  /** @throws Error when the directory lies in memory: nothing there is ever synced. */
  constructor(root: string) {
    mkdirSync(root, { recursive: true });
    if (statfsSync(root).type === TMPFS_TYPE) {
      throw new Error(`${root} lies in memory; name a directory on a disk with --dir.`);
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
