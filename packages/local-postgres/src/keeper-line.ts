import type { ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { KeeperMessage, KeeperOrder, KeeperRequest } from './keeper-protocol.ts';
import { LocalPostgresError } from './start-error.ts';

/**
 * The starter's connection to its keeper. It keeps the starter's process alive only while an answer
 * is pending: a running server must not prevent a process from exiting.
 */
export class KeeperLine {
  readonly #keeper: ChildProcessByStdio<Writable, Readable, null>;
  readonly #messages: AsyncIterator<string>;
  readonly #closed: Promise<unknown>;

  constructor(keeper: ChildProcessByStdio<Writable, Readable, null>) {
    this.#keeper = keeper;
    this.#closed = once(keeper, 'close');
    this.#messages = createInterface({ input: keeper.stdout })[Symbol.asyncIterator]();
    keeper.stdin.on('error', () => undefined);
  }

  /**
   * Sends a request to the keeper and waits for its completion.
   *
   * @returns the server's port.
   * @throws LocalPostgresError with `failing` (such as `did not start`) and the cause.
   */
  async ask(request: KeeperOrder | KeeperRequest, failing: string): Promise<number> {
    this.#holdStarter('ref');
    this.#keeper.stdin.write(`${JSON.stringify(request)}\n`);
    const line = await this.#messages.next();
    this.#holdStarter('unref');
    const message: KeeperMessage = line.done
      ? { failure: 'its keeper ended without an answer' }
      : JSON.parse(line.value);
    if ('port' in message) return message.port;
    throw new LocalPostgresError(`A local PostgreSQL ${failing}: ${message.failure}`);
  }

  /** Resolves when the server has ended and its files are removed. */
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
