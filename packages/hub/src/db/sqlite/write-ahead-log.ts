import { closeSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncDirectory } from '../data-directory.ts';

/** `fs.fdatasync`; injected because no test machine has a disk that fails on demand. */
export type SyncFile = (file: number, done: (error: Error | null) => void) => void;

/**
 * Syncs SQLite's write-ahead log off the event loop, so that requests are read and actions run
 * while the disk works. Commits leave the log written but not synced (`synchronous = NORMAL`), so
 * `sync` must resolve before a caller gets the result of a commit (docs/decisions/0015).
 */
export class WriteAheadLog {
  readonly #syncFile: SyncFile;
  readonly #onFailure: (error: Error) => void;
  readonly #file: number;
  #current: Promise<void> | null = null;
  #next: Promise<void> | null = null;
  #failure: Error | null = null;

  /**
   * @param path of the log, which exists: SQLite keeps it while a connection is open.
   * @param onFailure called once, when a sync has failed, before its promise rejects. There is no
   *   way back: the system may have dropped the pages that it could not write, and a later sync of
   *   the same log would not report it.
   */
  constructor(path: string, syncFile: SyncFile, onFailure: (error: Error) => void) {
    this.#syncFile = syncFile;
    this.#onFailure = onFailure;
    this.#file = openSync(path, 'r+');
    // The directory entries of the files must be on the disk as well.
    syncDirectory(dirname(path));
  }

  get isSyncing(): boolean {
    return this.#current !== null;
  }

  /**
   * Resolves when everything that was written before the call is on the disk; rejects when a sync
   * fails, and from then on. Calls that arrive during a sync share the next one.
   */
  sync(): Promise<void> {
    if (this.#current === null) return this.#start();
    // A sync that began before the call may have missed what was written since.
    this.#next ??= this.#current.then(
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
    const current = new Promise<void>((resolve, reject) => {
      this.#syncFile(this.#file, (error) => {
        this.#current = null;
        if (error === null) return resolve();
        this.#failure = error;
        this.#onFailure(error);
        reject(error);
      });
    });
    this.#current = current;
    return current;
  }
}
