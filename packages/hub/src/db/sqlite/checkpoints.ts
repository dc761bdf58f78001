import { SideThread } from '../../base/side-thread.ts';
import { type CopyOutcome, logCopying } from './copy-log.ts';
import type { Connection } from './sqlite-connection.ts';
import { isIoError } from './sqlite-errors.ts';

/**
 * Pages of the log after which it is copied into the database file. A page that changes often is
 * copied once for all its changes.
 */
const CHECKPOINT_PAGES = 4_096;
/** The part of these pages that may be left when writes pause for the last pass. */
const LAST_PASS_SHARE = 1 / 8;
/** With this many times the pages, the writes wait for the pass: the disk is slower than they. */
const LOG_SHARE_MAX = 4;
/** Transactions between two looks at the length of the log. A look takes some microseconds. */
const LOOK_INTERVAL = 8;
/** Passes without a pause of the writes. Then they pause however many pages are left. */
const PASSES_MAX = 4;

export interface CheckpointOptions {
  /** Default `CHECKPOINT_PAGES`. */
  pages?: number | undefined;
  /** Called when the disk failed during a pass. */
  onFailure: (error: Error) => void;
  /** A pass over the log; default in another thread. Injected in tests. */
  copyLog?: ((path: string) => Promise<CopyOutcome>) | undefined;
}

/**
 * Copies the log into the database file in another thread: it writes and syncs for 100 ms and more,
 * which stopped the event loop when a commit did it. Writes continue during the first passes, so
 * these never copy all. The writes pause for the last one, which has little left to copy; then the
 * log starts again from its beginning.
 */
export class Checkpoints {
  readonly #path: string;
  readonly #writer: Connection;
  readonly #pages: number;
  readonly #onFailure: (error: Error) => void;
  readonly #thread = new SideThread(true);
  readonly #copyLog: (path: string) => Promise<CopyOutcome>;
  #pass: Promise<void> | null = null;
  #transactions = 0;
  /** Passes since the log was last copied whole. */
  #passes = 0;
  /** Whether the latest pass was the last, or failed. */
  #isOver = false;
  /** Fewer pages are left alone: a pass has failed, or another process reads the log. */
  #pagesMin = 0;

  constructor(path: string, writer: Connection, options: CheckpointOptions) {
    this.#path = path;
    this.#writer = writer;
    this.#pages = options.pages ?? CHECKPOINT_PAGES;
    this.#onFailure = options.onFailure;
    this.#copyLog = options.copyLog ?? ((log) => this.#thread.run('log', logCopying, log));
  }

  /**
   * Copies the log if it is long.
   * @returns resolves when the next transaction may begin; null: at once.
   */
  beforeTransaction(): Promise<void> | null {
    this.#transactions += 1;
    const hasEnded = this.#passes > 0 && this.#pass === null;
    if (!hasEnded && this.#transactions % LOOK_INTERVAL !== 0) return null;
    const left = this.#writer.countUncopiedPages();
    if (this.#pass !== null) return left > this.#pages * LOG_SHARE_MAX ? this.#pass : null;
    if (this.#isOver || (hasEnded && left === 0)) {
      this.#isOver = false;
      this.#passes = 0;
      this.#pagesMin = left * 2;
    }
    if (this.#passes === 0 && left < Math.max(this.#pages, this.#pagesMin)) return null;
    const isLast =
      this.#passes > 0 && (left <= this.#pages * LAST_PASS_SHARE || this.#passes >= PASSES_MAX);
    this.#passes += 1;
    const pass = this.#run(isLast).finally(() => {
      this.#pass = null;
    });
    this.#pass = pass;
    return isLast ? pass : null;
  }

  /** Call before the connections are closed. */
  async close(): Promise<void> {
    await this.#pass;
    await this.#thread.close();
  }

  async #run(isLast: boolean): Promise<void> {
    const failure = await this.#copyLog(this.#path).catch(
      (error: unknown): CopyOutcome => ({ errcode: 0, message: String(error) }),
    );
    this.#isOver = isLast || failure !== null;
    if (failure !== null && isIoError(failure)) this.#onFailure(new Error(failure.message));
  }
}
