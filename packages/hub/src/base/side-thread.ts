import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { FairTurns } from './fair-turns.ts';

/**
 * A pure function that takes long for long input. The thread imports it by the address of its
 * module, so that module and its imports should be small, and input and output must be cloneable.
 */
export interface Computation<Input, Output> {
  /** `import.meta.url` of the module. */
  readonly module: string;
  /** The name under which the module exports the computation. */
  readonly name: string;
  compute(input: Input): Output;
}

/** A message to the thread. */
export interface Order {
  readonly module: string;
  readonly name: string;
  readonly input: unknown;
}

/** The settings of the thread from its start. */
export interface ThreadStart {
  readonly isUrgent: boolean;
}

export type Reply = { output: unknown } | { failure: string };

/** Inputs are at most as long as a body of a request or the text of a document. */
const HEAP_MB = 128;

/**
 * Runs computations in a thread of its own, one at a time, so that none blocks the event loop.
 * Subjects such as workspaces have their turns one after the other. The first computation starts
 * the thread.
 */
export class SideThread {
  readonly #turns = new FairTurns();
  readonly #isUrgent: boolean;
  #thread: Worker | null = null;

  /** @param isUrgent whether the event loop waits for it; its thread goes first otherwise. */
  constructor(isUrgent = false) {
    this.#isUrgent = isUrgent;
  }

  /** @throws Error when the computation throws or the thread runs out of memory. */
  run<Input, Output>(
    subject: string,
    { module, name }: Computation<Input, Output>,
    input: Input,
  ): Promise<Output> {
    const order: Order = { module, name, input };
    // The output is that of the computation with this name.
    return this.#turns.run(subject, () => this.#ask(order)) as Promise<Output>;
  }

  async close(): Promise<void> {
    const thread = this.#thread;
    this.#thread = null;
    await thread?.terminate();
  }

  async #ask(order: Order): Promise<unknown> {
    const thread = this.#open();
    // Keeps the process alive while somebody waits.
    thread.ref();
    const ended = new AbortController();
    const { signal } = ended;
    try {
      // Rejects when the thread emits `error`.
      const answered = once(thread, 'message', { signal });
      const exited = once(thread, 'exit', { signal }).then(() => {
        throw new Error('the thread ended before its answer');
      });
      thread.postMessage(order);
      const [reply] = (await Promise.race([answered, exited])) as [Reply];
      if ('output' in reply) return reply.output;
      throw new Error(`a computation failed: ${reply.failure}`);
    } finally {
      ended.abort();
      thread.unref();
    }
  }

  #open(): Worker {
    if (this.#thread !== null) return this.#thread;
    const thread = new Worker(new URL('./side-thread-loop.ts', import.meta.url), {
      // The hub's flags and environment contain secrets, and the thread needs none of them.
      execArgv: [],
      env: {},
      workerData: { isUrgent: this.#isUrgent } satisfies ThreadStart,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    });
    const forget = () => {
      if (this.#thread === thread) this.#thread = null;
    };
    // Between two orders there is no other listener, and an error without one is thrown.
    thread.on('error', forget).on('exit', forget);
    this.#thread = thread;
    return thread;
  }
}
