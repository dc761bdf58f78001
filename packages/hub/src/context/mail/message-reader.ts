import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { MailMessage, MailReading } from './read-message.ts';
import type { ReplyMail } from './read-reply.ts';

/** A normal message of a megabyte takes some tens of milliseconds. */
const READ_MS_MAX = 2_000;
/** Loading the parser takes a third of a second, and much longer on an overloaded machine. */
const START_MS_MAX = 10_000;
const HEAP_MIB_MAX = 128;

/** A message to the thread. */
export interface ReadingOrder {
  source: Uint8Array;
  /** Of a reply: as in `textAboveQuote`. Null: any message is read. */
  replyMark: string | null;
}

type Answer<Message> = { message: Message } | { refusal: string };

/** A message could not be parsed within the limits of time, memory and nesting. */
export class UnreadableMailError extends Error {}

/**
 * Parses messages and redacts their secrets in a separate thread, one at a time. The first message
 * starts the thread, `close` ends it. A thread that a message made fail is replaced for the next
 * message.
 */
export class MailReader {
  readonly #reading: MailReading;
  readonly #readMsMax: number;
  #thread: Worker | null = null;

  constructor(reading: MailReading, readMsMax: number = READ_MS_MAX) {
    this.#reading = reading;
    this.#readMsMax = readMsMax;
  }

  /** @throws UnreadableMailError */
  read(source: Uint8Array): Promise<MailMessage> {
    return this.#order<MailMessage>(source, null);
  }

  /**
   * Parses a reply to one of our mails, without redaction.
   *
   * @throws UnreadableMailError
   */
  readReply(source: Uint8Array, replyMark: string): Promise<ReplyMail> {
    return this.#order<ReplyMail>(source, replyMark);
  }

  async #order<Message>(given: Uint8Array, replyMark: string | null): Promise<Message> {
    try {
      const thread = await this.#open();
      const source = Uint8Array.from(given);
      // Rejects when the thread emits `error`: out of memory, or a fault of the parser.
      const arrived = answerOf(thread, this.#readMsMax);
      thread.postMessage({ source, replyMark } satisfies ReadingOrder, [source.buffer]);
      const answer = (await arrived) as Answer<Message>;
      if ('message' in answer) return answer.message;
      throw new UnreadableMailError(answer.refusal);
    } catch (error) {
      if (error instanceof UnreadableMailError) throw error;
      await this.close();
      throw new UnreadableMailError('The thread that parsed the message was terminated.', {
        cause: error,
      });
    }
  }

  async close(): Promise<void> {
    const thread = this.#thread;
    this.#thread = null;
    await thread?.terminate();
  }

  /** Resolves when the thread can parse. */
  async #open(): Promise<Worker> {
    if (this.#thread !== null) return this.#thread;
    const thread = new Worker(new URL('./parser-thread.ts', import.meta.url), {
      // The hub's flags and environment contain secrets, and the thread needs none of them.
      execArgv: [],
      env: {},
      workerData: this.#reading,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB_MAX },
    });
    // Between two messages there is no other listener, and an error without one is thrown.
    thread.on('error', () => {
      if (this.#thread === thread) this.#thread = null;
    });
    this.#thread = thread;
    await answerOf(thread, START_MS_MAX);
    return thread;
  }
}

/** Resolves with the thread's next message. */
async function answerOf(thread: Worker, msMax: number): Promise<unknown> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), msMax);
  try {
    const [answer] = await once(thread, 'message', { signal: limit.signal });
    return answer;
  } finally {
    clearTimeout(timer);
  }
}
