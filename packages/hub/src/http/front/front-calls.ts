import type { Api } from '../bind.ts';
import type { CallClient } from '../request-context.ts';
import {
  type AnswerMessage,
  type CallMessage,
  failedAnswer,
  Outbox,
  type Proof,
  type ToCore,
  type ToFront,
} from './messages.ts';

/** Performs the calls of one front thread, on the core thread. */
export class FrontCalls {
  readonly #api: Api;
  readonly #post: (message: ToFront) => void;
  readonly #answers: Outbox<AnswerMessage>;
  /** The functions that end calls whose clients are watched, by the ids of the calls. */
  readonly #watched = new Map<number, () => void>();

  constructor(api: Api, post: (message: ToFront) => void) {
    this.#api = api;
    this.#post = post;
    this.#answers = new Outbox((answers) => post({ kind: 'answers', answers }));
  }

  receive(message: ToCore): void {
    switch (message.kind) {
      case 'calls':
        for (const call of message.calls) this.#perform(call);
        return;
      case 'authenticate':
        this.#authenticate(message.id, message.proof);
        return;
      case 'left':
        this.#watched.get(message.id)?.();
        return;
      default:
        return;
    }
  }

  #authenticate(id: number, proof: Proof): void {
    this.#api.authenticate(headersOf(proof)).then(
      (principal) => this.#post({ kind: 'principal', id, principal }),
      (error: unknown) => this.#answers.add(failedAnswer(id, error)),
    );
  }

  #perform(message: CallMessage): void {
    const { id, name, input } = message;
    const client = this.#clientOf(message);
    const headers = headersOf(message);
    this.#api
      .call({ name, input, headers, client })
      .then(
        (text) => this.#answers.add({ id, text }),
        (error: unknown) => this.#answers.add(failedAnswer(id, error)),
      )
      .finally(() => this.#watched.delete(id));
  }

  #clientOf({ id, requestId, address, userAgent }: CallMessage): CallClient {
    return {
      requestId,
      address,
      userAgent,
      waits: () => this.#post({ kind: 'waits', id }),
      onLeft: (call) => {
        this.#watched.set(id, call);
        this.#post({ kind: 'watched', id });
      },
    };
  }
}

function headersOf({ authorization, host }: Proof) {
  return {
    ...(authorization === null ? {} : { authorization }),
    ...(host === null ? {} : { host }),
  };
}
