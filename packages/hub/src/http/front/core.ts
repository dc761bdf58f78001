import type { MessagePort } from 'node:worker_threads';
import type { Endpoint } from '@signalbox/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { BoundedMap } from '../../bounded-map.ts';
import type { Principal } from '../../principal.ts';
import type { RequestHead } from '../gatekeeper.ts';
import { type CallMessage, errorOf, Outbox, type ToCore, type ToFront } from './messages.ts';

/** How long a caller is known here. Each call is authenticated again by the core. */
const KNOWN_MS = 1_000;
const KNOWN_MAX = 10_000;

/** An answer that is awaited. */
interface Awaited {
  // The core answers each question with what it asks for.
  resolve(answer: never): void;
  reject(error: Error): void;
  /** The request of a call; null for others. */
  readonly from: { request: FastifyRequest; reply: FastifyReply } | null;
}

interface KnownCaller {
  readonly principal: Principal;
  readonly sinceMs: number;
}

/** The core thread, as a front thread sees it. */
export class Core {
  readonly #post: (message: ToCore) => void;
  readonly #calls: Outbox<CallMessage>;
  readonly #awaited = new Map<number, Awaited>();
  readonly #known = new BoundedMap<string, KnownCaller>(KNOWN_MAX);
  #lastId = 0;

  constructor(port: MessagePort) {
    this.#post = (message) => port.postMessage(message);
    this.#calls = new Outbox((calls) => this.#post({ kind: 'calls', calls }));
  }

  /** The principal of a caller for the limits; it is at most a second old. @throws HubError 401 */
  async authenticate({ headers }: RequestHead): Promise<Principal> {
    const { authorization = null, host = null } = headers;
    const key = `${authorization} ${host}`;
    const known = this.#known.get(key);
    const nowMs = performance.now();
    if (known !== undefined && nowMs - known.sinceMs < KNOWN_MS) return known.principal;
    const principal = await this.#ask<Principal>(null, (id) =>
      this.#post({ kind: 'authenticate', id, proof: { authorization, host } }),
    );
    this.#known.set(key, { principal, sinceMs: nowMs });
    return principal;
  }

  /** Performs a call, and answers with JSON. */
  call(
    { name }: Endpoint,
    input: object,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<string> {
    const { authorization = null, host = null } = request.headers;
    return this.#ask({ request, reply }, (id) =>
      this.#calls.add({
        ...{ id, name, authorization, host, requestId: request.id, address: request.ip },
        userAgent: request.headers['user-agent'] ?? '',
        input: JSON.stringify(input),
      }),
    );
  }

  receive(message: ToFront): void {
    switch (message.kind) {
      case 'answers':
        for (const answer of message.answers) {
          const awaited = this.#take(answer.id);
          if ('text' in answer) awaited?.resolve(answer.text as never);
          else awaited?.reject(errorOf(answer));
        }
        return;
      case 'principal':
        this.#take(message.id)?.resolve(message.principal as never);
        return;
      case 'waits':
        this.#awaited.get(message.id)?.from?.request.leaveSlot();
        return;
      case 'watched':
        this.#watch(message.id);
        return;
      default:
        return;
    }
  }

  #ask<T>(from: Awaited['from'], send: (id: number) => void): Promise<T> {
    const id = ++this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#awaited.set(id, { resolve, reject, from });
    send(id);
    return promise;
  }

  #take(id: number): Awaited | undefined {
    const awaited = this.#awaited.get(id);
    this.#awaited.delete(id);
    return awaited;
  }

  /** Tells the core when the client of a call leaves. */
  #watch(id: number): void {
    const from = this.#awaited.get(id)?.from ?? null;
    if (from === null) return;
    const { raw } = from.reply;
    const leave = () => {
      if (!raw.writableFinished) this.#post({ kind: 'left', id });
    };
    raw.once('close', leave);
    if (raw.destroyed) leave();
  }
}
