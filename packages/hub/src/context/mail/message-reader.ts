import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { MailMessage } from './read-message.ts';

/** A message of a megabyte takes some tens of milliseconds; one that takes this long is hostile. */
const READ_MS_MAX = 2_000;
const HEAP_MIB_MAX = 128;

type Answer = { message: MailMessage } | { refusal: string };

/** A message that could not be read within the limits of time, memory and nesting. */
export class UnreadableMailError extends Error {}

/**
 * Reads messages in a thread of their own, one at a time. The thread is started by the first one
 * and ended by `close`; one that a message has brought down is replaced for the next.
 */
export class MailReader {
  readonly #readMsMax: number;
  #thread: Worker | null = null;

  constructor(readMsMax: number = READ_MS_MAX) {
    this.#readMsMax = readMsMax;
  }

  /** @throws UnreadableMailError */
  async read(source: Uint8Array): Promise<MailMessage> {
    const thread = this.#open();
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), this.#readMsMax);
    try {
      // Rejects when the thread emits `error`: out of memory, or a fault of the parser.
      const arrived = once(thread, 'message', { signal: limit.signal });
      const copy = Uint8Array.from(source);
      thread.postMessage(copy, [copy.buffer]);
      const [answer] = (await arrived) as [Answer];
      if ('message' in answer) return answer.message;
      throw new UnreadableMailError(answer.refusal);
    } catch (error) {
      if (error instanceof UnreadableMailError) throw error;
      await this.close();
      throw new UnreadableMailError('The thread that read the message was ended.', {
        cause: error,
      });
    } finally {
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    const thread = this.#thread;
    this.#thread = null;
    await thread?.terminate();
  }

  #open(): Worker {
    if (this.#thread === null) {
      const thread = new Worker(new URL('./parser-thread.ts', import.meta.url), {
        // The thread needs nothing of the hub's flags and environment, where secrets are.
        execArgv: [],
        env: {},
        resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB_MAX },
      });
      // Between two messages nobody else listens, and an error without a listener is thrown.
      thread.on('error', () => {
        if (this.#thread === thread) this.#thread = null;
      });
      this.#thread = thread;
    }
    return this.#thread;
  }
}
