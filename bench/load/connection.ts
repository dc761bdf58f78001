import { connect, type Socket } from 'node:net';
import { type Answer, AnswerReader } from './answer-reader.ts';

/** The address of a server. */
export interface Target {
  readonly host: string;
  readonly port: number;
}

/** Limit for any answer; the longest is a long poll of a minute. */
const ANSWER_MS_MAX = 90_000;
/** Each chunk is read before the next one arrives, so one buffer serves all connections. */
const chunkBuffer = Buffer.allocUnsafe(256 * 1024);

interface Waiting {
  resolve(answer: Answer): void;
  reject(error: Error): void;
  readonly sinceMs: number;
}

/**
 * One keep-alive connection with one request at a time. Requests are preformatted text and answers
 * are read by content-length: a general client would use more processor time than the servers.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #reader = new AnswerReader();
  #waiting: Waiting | null = null;
  #broken: Error | null = null;

  private constructor(target: Target) {
    this.#socket = connect({
      host: target.host,
      port: target.port,
      noDelay: true,
      onread: {
        buffer: chunkBuffer,
        callback: (length, buffer) => {
          this.#take(Buffer.from(buffer.buffer, buffer.byteOffset, length));
          return true;
        },
      },
    });
    this.#socket.on('error', (error) => this.#break(error));
    this.#socket.on('close', () => this.#break(new Error('the server closed a connection')));
  }

  static async open(target: Target): Promise<Connection> {
    const connection = new Connection(target);
    const opened = Promise.withResolvers<void>();
    connection.#socket.once('connect', opened.resolve);
    connection.#socket.once('error', opened.reject);
    await opened.promise;
    return connection;
  }

  /** @throws Error if the connection breaks or the answer is invalid. */
  send(request: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#broken !== null) return reject(this.#broken);
      this.#waiting = { resolve, reject, sinceMs: performance.now() };
      this.#socket.write(request, 'latin1');
    });
  }

  /** Closes the connection if its answer is overdue. The owner calls this periodically. */
  checkOverdue(nowMs: number): void {
    if (this.#waiting === null || nowMs - this.#waiting.sinceMs < ANSWER_MS_MAX) return;
    this.#socket.destroy(new Error(`no answer within ${ANSWER_MS_MAX} ms`));
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    try {
      const answer = this.#reader.read(chunk);
      if (answer === null) return;
      const waiting = this.#waiting;
      if (waiting === null) throw new Error('received an answer without a request');
      this.#waiting = null;
      waiting.resolve(answer);
    } catch (error) {
      this.#socket.destroy(error as Error);
    }
  }

  #break(error: Error): void {
    this.#broken ??= error;
    this.#waiting?.reject(this.#broken);
    this.#waiting = null;
  }
}

/** Opens connections in groups, so that no listen queue overflows. */
export async function openConnections(
  targets: readonly Target[],
  count: number,
): Promise<Connection[]> {
  const groupSize = 100;
  const connections: Connection[] = [];
  while (connections.length < count) {
    const group = Array.from({ length: Math.min(groupSize, count - connections.length) }, (_, at) =>
      Connection.open(targetOf(targets, connections.length + at)),
    );
    connections.push(...(await Promise.all(group)));
  }
  return connections;
}

function targetOf(targets: readonly Target[], number: number): Target {
  const target = targets[number % targets.length];
  if (target === undefined) throw new Error('a load needs a target');
  return target;
}
