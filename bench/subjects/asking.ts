import type { Child } from '../child.ts';

/** A question to a process of the measure, by message. */
interface Question {
  readonly number: number;
  readonly body: unknown;
}

interface Reply {
  readonly number: number;
  readonly body?: unknown;
  readonly failure?: string;
}

/** Asks a process that was started with an IPC channel. One question at a time. */
export class Asker {
  readonly #child: Child;
  #number = 0;

  constructor(child: Child) {
    this.#child = child;
  }

  /** @throws Error if the process ends or fails. */
  ask<Answer>(body: unknown): Promise<Answer> {
    const number = ++this.#number;
    const { process: peer } = this.#child;
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const take = (reply: Reply) => {
      if (reply.number !== number) return;
      if (reply.failure === undefined) resolve(reply.body as Answer);
      else reject(new Error(reply.failure));
    };
    const end = () => reject(new Error(`a process of the measure ended:\n${this.#child.output()}`));
    peer.on('message', take);
    peer.once('close', end);
    peer.send({ number, body } satisfies Question);
    return promise.finally(() => {
      peer.off('message', take);
      peer.off('close', end);
    });
  }
}

/** Answers the questions of the process that started this one. */
export function answerQuestions(answer: (body: never) => Promise<unknown>): void {
  process.on('message', ({ number, body }: Question) => {
    // The asker and the script agree on the type.
    answer(body as never).then(
      (reply) => process.send?.({ number, body: reply } satisfies Reply),
      (error: unknown) => {
        const failure = error instanceof Error ? (error.stack ?? error.message) : String(error);
        process.send?.({ number, failure } satisfies Reply);
      },
    );
  });
}
