import type { ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { KeeperNews, KeeperOrder, KeeperRequest } from './keeper-protocol.ts';
import { LocalPostgresError } from './start-error.ts';

/**
 * What the starter of a server holds of its keeper. It keeps the starter alive only while an
 * answer is awaited: that the server is there is no reason for a process to go on.
 */
export class KeeperLine {
  readonly #keeper: ChildProcessByStdio<Writable, Readable, null>;
  readonly #news: AsyncIterator<string>;
  readonly #closed: Promise<unknown>;

  constructor(keeper: ChildProcessByStdio<Writable, Readable, null>) {
    this.#keeper = keeper;
    this.#closed = once(keeper, 'close');
    this.#news = createInterface({ input: keeper.stdout })[Symbol.asyncIterator]();
    keeper.stdin.on('error', () => undefined);
  }

  /**
   * Has the keeper do something and waits until it is done.
   *
   * @returns the server's port.
   * @throws LocalPostgresError with `failing` (such as `did not start`) and why.
   */
  async ask(request: KeeperOrder | KeeperRequest, failing: string): Promise<number> {
    this.#holdStarter('ref');
    this.#keeper.stdin.write(`${JSON.stringify(request)}\n`);
    const line = await this.#news.next();
    this.#holdStarter('unref');
    const news: KeeperNews = line.done
      ? { failure: 'its keeper ended without a word' }
      : JSON.parse(line.value);
    if ('port' in news) return news.port;
    throw new LocalPostgresError(`A local PostgreSQL ${failing}: ${news.failure}`);
  }

  /** Resolves when the server has ended and its files are gone. */
  async end(): Promise<void> {
    this.#keeper.ref();
    this.#keeper.stdin.end();
    await this.#closed;
  }

  #holdStarter(how: 'ref' | 'unref'): void {
    this.#keeper[how]();
    for (const stream of [this.#keeper.stdin, this.#keeper.stdout]) {
      (stream as unknown as Socket)[how]();
    }
  }
}
