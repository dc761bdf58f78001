import { closeSync, fsyncSync, openSync } from 'node:fs';
import { dirname } from 'node:path';

/** As `fs.fdatasync`; injected because no test machine has a disk that fails on demand. */
export type SyncFile = (file: number, done: (error: Error | null) => void) => void;

/**
 * Syncs SQLite's write-ahead log off the event loop, so that requests are read and actions run
 * while the disk works. Commits leave the log written but not synced (`synchronous = NORMAL`);
 * whoever wants to tell of one waits for `sync` first (docs/decisions/0015).
 */
export class WriteAheadLog {
  readonly #path: string;
  readonly #syncFile: SyncFile;
  #file: number;
  #underWay: Promise<void> | null = null;
  #failure: Error | null = null;
  #next: Promise<void> | null = null;

  /** @param path of the log, which is there: SQLite keeps the file while a connection is open. */
  constructor(path: string, syncFile: SyncFile) {
    this.#path = path;
    this.#syncFile = syncFile;
    this.#file = openSync(path, 'r+');
    // The names of the files must last as well.
    const directory = openSync(dirname(path), 'r');
    fsyncSync(directory);
    closeSync(directory);
  }

  /**
   * Whether a sync has failed: the system may have dropped what it could not write, and a later
   * sync of the same log would not say so.
   */
  get hasFailed(): boolean {
    return this.#failure !== null;
  }

  /** Call once nothing that was written to the log before is needed any more. */
  recover(): void {
    closeSync(this.#file);
    this.#file = openSync(this.#path, 'r+');
    this.#failure = null;
  }

  get isSyncing(): boolean {
    return this.#underWay !== null;
  }

  /**
   * Resolves when all that was written before the call is on the disk; rejects when the disk has
   * not taken it, and from then on until `recover`. Calls that come while the
   * disk is at work share the next sync.
   */
  sync(): Promise<void> {
    if (this.#underWay === null) return this.#start();
    // One that began before the call may have missed what was written since.
    this.#next ??= this.#underWay.then(
      () => this.#start(),
      () => this.#start(),
    );
    return this.#next;
  }

  /** Call after the last sync has ended. */
  close(): void {
    closeSync(this.#file);
  }

  #start(): Promise<void> {
    this.#next = null;
    if (this.#failure !== null) return Promise.reject(this.#failure);
    const underWay = new Promise<void>((resolve, reject) => {
      this.#syncFile(this.#file, (error) => {
        this.#underWay = null;
        this.#failure ??= error;
        if (error === null) resolve();
        else reject(error);
      });
    });
    this.#underWay = underWay;
    return underWay;
  }
}
