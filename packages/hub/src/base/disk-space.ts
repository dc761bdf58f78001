import { statfs } from 'node:fs/promises';
import { HubError } from './errors.ts';

const RETRY_AFTER_MS = 60_000;

/** Reads the free bytes of the file system of a directory. */
export type ReadFree = (directory: string) => Promise<number>;

const readFree: ReadFree = async (directory) => {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
};

/**
 * The free space of the data directory, of which a reserve is kept for the database: files are
 * refused that would use it.
 */
export class DiskSpace {
  readonly #directory: string;
  readonly #reserveBytes: number;
  readonly #readFree: ReadFree;
  /** Bytes that are announced by requests in progress. */
  #heldBytes = 0;

  /** @param directory exists. */
  constructor(directory: string, reserveBytes: number, read: ReadFree = readFree) {
    this.#directory = directory;
    this.#reserveBytes = reserveBytes;
    this.#readFree = read;
  }

  /**
   * Sets space for a file aside while it is written.
   * @returns ends that; call it once.
   * @throws HubError UNAVAILABLE
   */
  async hold(sizeBytes: number): Promise<() => void> {
    await this.requireFree(sizeBytes);
    this.#heldBytes += sizeBytes;
    return () => {
      this.#heldBytes -= sizeBytes;
    };
  }

  /** @throws HubError UNAVAILABLE when a file would use the reserve */
  async requireFree(sizeBytes: number): Promise<void> {
    const free = (await this.#readFree(this.#directory)) - this.#heldBytes;
    if (free - sizeBytes >= this.#reserveBytes) return;
    throw new HubError(
      'UNAVAILABLE',
      'The disk of the hub has too little free space for files: its operator must make space.',
      { retryAfterMs: RETRY_AFTER_MS },
    );
  }

  /** Whether more than a quarter of the reserve is left, which the database uses. */
  async isEnough(): Promise<boolean> {
    return (await this.#readFree(this.#directory)) > this.#reserveBytes / 4;
  }
}
