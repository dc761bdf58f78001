import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The provider's reaction to one call. Turns are used in order; without any it answers "Yes.". */
export type Turn =
  | { text: string }
  /** The model declines. */
  | { refusal: string }
  /** The model reached its output limit. */
  | { cutText: string }
  /** A provider error, in its own format. */
  | { status: number; type?: string; message?: string; headers?: Record<string, string> }
  /** A body that does not match its content type. */
  | { raw: string }
  /** The connection breaks before or during the answer. */
  | { broken: 'before' | 'within' }
  /** No answer until the test releases it. */
  | { waits: true };

export interface ProviderCall {
  path: string;
  headers: IncomingMessage['headers'];
  body: Record<string, unknown>;
  /** The client disconnected before the answer. */
  isAborted: boolean;
}

const MODEL = 'sonnet-2026';

/**
 * A provider over real HTTP that speaks Anthropic's Messages and OpenAI's Responses and Chat
 * Completions as far as one answer goes, and misbehaves on request.
 */
export class FakeProvider {
  readonly key = 'sk-test-0123456789abcdef';
  readonly calls: ProviderCall[] = [];
  turns: Turn[] = [];
  #server: Server | null = null;
  #port = 0;
  #waiting: (() => void)[] = [];
  #watchers = new Set<() => void>();

  /** Includes the version, as the libraries expect. */
  get baseUrl(): string {
    return `http://127.0.0.1:${this.#port}/v1`;
  }

  async start(): Promise<void> {
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => {
        response.writeHead(500).end(String(error));
      });
    });
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    this.#server?.closeAllConnections();
    this.#server?.close();
    if (this.#server !== null) await once(this.#server, 'close');
  }

  /** Resolves when the condition holds; it is checked after every change of a call. */
  until(condition: () => boolean): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = () => {
      if (!condition()) return;
      this.#watchers.delete(look);
      resolve();
    };
    this.#watchers.add(look);
    look();
    return promise;
  }

  /** Answers the waiting calls. */
  release(): void {
    for (const answer of this.#waiting.splice(0)) answer();
  }

  #changed(): void {
    for (const watcher of [...this.#watchers]) watcher();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk;
    const body = JSON.parse(text) as Record<string, unknown>;
    const call: ProviderCall = { path, headers: request.headers, body, isAborted: false };
    response.once('close', () => {
      call.isAborted = !response.writableFinished;
      this.#changed();
    });
    const turn = this.#refuseKey(request) ?? this.turns.shift() ?? { text: 'Yes.' };
    this.calls.push(call);
    this.#changed();
    if ('waits' in turn) {
      this.#waiting.push(() => send(response, 200, answerOf(path, { text: 'At last.' })));
    } else if ('broken' in turn) {
      if (turn.broken === 'within') {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1_000 });
        response.write('{"id": "msg_1", ');
        await new Promise(setImmediate);
      }
      response.destroy();
    } else if ('raw' in turn) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(turn.raw);
    } else if ('status' in turn) {
      send(response, turn.status, errorOf(path, turn), turn.headers);
    } else {
      send(response, 200, answerOf(path, turn));
    }
  }

  /** Rejects with a part of the key in the message, as providers do. */
  #refuseKey({ headers }: IncomingMessage): Turn | null {
    const key = headers['x-api-key'] ?? headers.authorization?.replace(/^Bearer /, '');
    if (key === this.key) return null;
    const message = `Incorrect API key provided: ${String(key)}.`;
    return { status: 401, type: 'authentication_error', message };
  }
}

function send(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

type Spoken = Extract<Turn, { text: string } | { refusal: string } | { cutText: string }>;

function answerOf(path: string, turn: Spoken): unknown {
  if (path.endsWith('/messages')) return anthropicAnswer(turn);
  return path.endsWith('/responses') ? responsesAnswer(turn) : chatAnswer(turn);
}

function textOf(turn: Spoken): string {
  if ('text' in turn) return turn.text;
  return 'refusal' in turn ? turn.refusal : turn.cutText;
}

function stopReasonOf(turn: Spoken): string {
  if ('text' in turn) return 'end_turn';
  return 'refusal' in turn ? 'refusal' : 'max_tokens';
}

function anthropicAnswer(turn: Spoken): unknown {
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: MODEL,
    content: [{ type: 'text', text: textOf(turn) }],
    stop_reason: stopReasonOf(turn),
    stop_sequence: null,
    usage: { input_tokens: 11, output_tokens: 7 },
  };
}

function responsesAnswer(turn: Spoken): unknown {
  const content =
    'refusal' in turn
      ? { type: 'refusal', refusal: turn.refusal }
      : { type: 'output_text', text: textOf(turn), annotations: [] };
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1_790_000_000,
    model: MODEL,
    status: 'cutText' in turn ? 'incomplete' : 'completed',
    incomplete_details: 'cutText' in turn ? { reason: 'max_output_tokens' } : null,
    output: [
      { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [content] },
    ],
    usage: { input_tokens: 11, output_tokens: 7, total_tokens: 18 },
  };
}

function chatAnswer(turn: Spoken): unknown {
  const message =
    'refusal' in turn
      ? { role: 'assistant', content: null, refusal: turn.refusal }
      : { role: 'assistant', content: textOf(turn) };
  const finishReason = 'cutText' in turn ? 'length' : 'stop';
  return {
    id: 'chatcmpl_1',
    object: 'chat.completion',
    created: 1_790_000_000,
    model: MODEL,
    choices: [{ index: 0, message, finish_reason: finishReason }],
    usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
  };
}

function errorOf(path: string, turn: Extract<Turn, { status: number }>): unknown {
  const { type = 'api_error', message = 'Something went wrong.' } = turn;
  if (path.endsWith('/messages')) return { type: 'error', error: { type, message } };
  return { error: { message, type, code: type, param: null } };
}
