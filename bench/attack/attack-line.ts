import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { INTEGRATION_SECRET_HEADER } from '@signalbox/contract';
import type { Answer } from '../load/answer-reader.ts';
import { Connection, type Target } from '../load/connection.ts';

/** Who sends a request: a bearer token, a console session, an integration secret; null: none. */
export type Credential =
  | { readonly token: string }
  | { readonly cookie: string }
  | { readonly secret: string }
  | null;

/** After a connection that could not be made. */
const REOPEN_MS = 20;

/** The results of requests: how many by status, or by what happened to their connections. */
export type Tally = Record<string, number>;

/** One connection of an attacker. It is opened again whenever the hub closes it. */
export class AttackLine {
  readonly #target: Target;
  readonly #tally: Tally;
  #connection: Connection | null = null;

  constructor(target: Target, tally: Tally) {
    this.#target = target;
    this.#tally = tally;
  }

  /** Sends JSON. @returns the body of an answer with status 200; null otherwise. */
  async post(path: string, credential: Credential, body: unknown): Promise<string | null> {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const answer = await this.#send(`${this.#head('POST', path, credential, text.length)}${text}`);
    return answer?.status === 200 ? answer.body : null;
  }

  async get(path: string): Promise<void> {
    await this.#send(this.#head('GET', path, null, 0));
  }

  /** Sends bytes to a signed URL. */
  async put(url: string, bytes: string): Promise<void> {
    const { pathname, search } = new URL(url);
    await this.#send(`${this.#head('PUT', pathname + search, null, bytes.length)}${bytes}`);
  }

  /** Sends a request and reads nothing of the answer until the hub closes the connection. */
  async postUnread(path: string, credential: Credential, body: unknown): Promise<void> {
    const text = JSON.stringify(body);
    const request = `${this.#head('POST', path, credential, text.length)}${text}`;
    await this.#sendAndWait(request, 'unread');
  }

  /** Sends a part of a request and closes the connection, or waits for the hub to close it. */
  async sendPart(part: { head: string; closes: boolean }): Promise<void> {
    await this.#sendAndWait(part.head, part.closes ? 'broken off' : 'unfinished', part.closes);
  }

  /** The head of a request, up to its body. */
  head(method: string, path: string, credential: Credential, length: number): string {
    return this.#head(method, path, credential, length);
  }

  close(): void {
    this.#connection?.close();
  }

  async #send(request: string): Promise<Answer | null> {
    try {
      this.#connection ??= await Connection.open(this.#target);
      const answer = await this.#connection.send(request);
      this.#count(String(answer.status));
      return answer;
    } catch {
      // The hub closes connections, as with 413 and 408; the table says how often.
      this.#count('closed');
      this.#connection?.close();
      this.#connection = null;
      await sleep(REOPEN_MS);
      return null;
    }
  }

  async #sendAndWait(request: string, result: string, closes = false): Promise<void> {
    const { host, port } = this.#target;
    const { promise, resolve } = Promise.withResolvers<void>();
    const socket = connect({ host, port });
    socket.pause();
    socket.once('error', () => resolve()).once('close', () => resolve());
    socket.write(request, 'latin1', () => {
      this.#count(result);
      if (closes) socket.destroy();
    });
    await promise;
    await sleep(REOPEN_MS);
  }

  #head(method: string, path: string, credential: Credential, length: number): string {
    const { host, port } = this.#target;
    const lines = [`${method} ${path} HTTP/1.1`, `host: ${host}:${port}`, ...proofOf(credential)];
    if (method === 'PUT') lines.push('content-type: text/plain');
    if (method === 'POST') lines.push('content-type: application/json');
    if (method !== 'GET') lines.push(`content-length: ${length}`);
    return `${lines.join('\r\n')}\r\n\r\n`;
  }

  #count(result: string): void {
    this.#tally[result] = (this.#tally[result] ?? 0) + 1;
  }
}

function proofOf(credential: Credential): string[] {
  if (credential === null) return ['sec-fetch-site: same-origin'];
  if ('token' in credential) return [`authorization: Bearer ${credential.token}`];
  if ('secret' in credential) return [`${INTEGRATION_SECRET_HEADER}: ${credential.secret}`];
  return [`cookie: ${credential.cookie}`, 'sec-fetch-site: same-origin'];
}
