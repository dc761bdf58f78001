import type { FileHandle } from 'node:fs/promises';

/** Bytes of one write. Sockets bring pieces of at most 64 KB, and each write takes a thread. */
const WRITE_BYTES = 262_144;
/** Bytes after which they are synced, so that no single sync takes long. */
const SYNC_BYTES = 8_388_608;

/** Runs an operation on files when it is its turn. */
export type FileTurn = <T>(operate: () => Promise<T>) => Promise<T>;

/** A file that is being written. Holds no turn while it waits for bytes. */
export class DraftFile {
  readonly #file: FileHandle;
  readonly #turn: FileTurn;
  /** One buffer for all writes, so that a long file leaves nothing for the garbage collector. */
  readonly #buffer: Buffer;
  #waitingBytes = 0;
  #unsyncedBytes = 0;

  constructor(file: FileHandle, turn: FileTurn, sizeBytes: number) {
    this.#file = file;
    this.#turn = turn;
    this.#buffer = Buffer.allocUnsafe(Math.min(sizeBytes, WRITE_BYTES));
  }

  /** The bytes of all pieces together must not be more than the announced size. */
  async write(piece: Uint8Array): Promise<void> {
    for (let at = 0; at < piece.length; ) {
      const part = piece.subarray(at, at + this.#buffer.length - this.#waitingBytes);
      this.#buffer.set(part, this.#waitingBytes);
      this.#waitingBytes += part.length;
      at += part.length;
      if (this.#waitingBytes === this.#buffer.length) await this.#writeWaiting();
    }
  }

  /** Resolves when all bytes are durable. */
  async finish(): Promise<void> {
    await this.#writeWaiting();
    await this.#turn(() => this.#file.sync());
  }

  async #writeWaiting(): Promise<void> {
    const bytes = this.#buffer.subarray(0, this.#waitingBytes);
    await this.#turn(() => writeWhole(this.#file, bytes));
    this.#waitingBytes = 0;
    this.#unsyncedBytes += bytes.length;
    if (this.#unsyncedBytes < SYNC_BYTES) return;
    this.#unsyncedBytes = 0;
    await this.#turn(() => this.#file.datasync());
  }
}

/** A write to a nearly full disk may write only a part; the next write then fails. */
async function writeWhole(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, at);
    at += bytesWritten;
  }
}
