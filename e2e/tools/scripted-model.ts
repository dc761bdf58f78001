import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import type { LimitedAccount, Spent, Turn } from './turns.ts';
import type { JsonBody, Wire, WireRequest } from './wire.ts';
import { anthropicWire } from './wire-anthropic.ts';
import { geminiWire } from './wire-gemini.ts';
import { openAiWire } from './wire-openai.ts';

/** A request as the model saw it. */
export interface SeenRequest {
  readonly wire: string;
  readonly scenario: string;
  readonly model: string;
  readonly body: JsonBody;
  readonly atMs: number;
}

export interface ScriptedModel {
  /** Without a path: Claude adds `/v1/messages`; for Codex, append `/v1`. */
  readonly baseUrl: string;
  readonly port: number;
  /** The calls of the model that a scenario answered, oldest first. */
  readonly requests: readonly SeenRequest[];
  /** Requests that no scenario expected, as sentences. Scenarios assert that the list is empty. */
  readonly unexpected: readonly string[];
  /** The tokens of all answers, by model. */
  readonly spent: ReadonlyMap<string, Spent>;
  /** Adds scenarios, or replaces those of the same name from their beginning. */
  script(scenarios: Readonly<Record<string, readonly Turn[]>>): void;
  /** How often a scenario has been called. */
  callsOf(scenario: string): number;
  /** Resolves when a scenario has been called so often. */
  untilCalls(scenario: string, count: number): Promise<void>;
  close(): Promise<void>;
}

const wires: readonly Wire[] = [anthropicWire, openAiWire, geminiWire];
/** `[scenario NAME]`, or `[scenario NAME KEY]` where one scenario runs more than once. */
const tag = /\[scenario ([a-z0-9-]+)(?: [a-z0-9-]+)?\]/;

/**
 * Starts a model on loopback whose answers are written down. A prompt names its scenario by
 * `[scenario NAME]`; each further call gets the scenario's next turn. Anything else (an unknown
 * path, a prompt without a scenario, more calls than turns) is refused and recorded.
 */
export async function startScriptedModel(
  scenarios: Readonly<Record<string, readonly Turn[]>> = {},
): Promise<ScriptedModel> {
  const scripts = new Map(Object.entries(scenarios));
  const progress = new Map<string, { calls: number; turn: number; used: number }>();
  const requests: SeenRequest[] = [];
  const unexpected: string[] = [];
  const spent = new Map<string, Spent>();
  const called = new EventTarget();

  /** The next turn of a conversation; a sentence when the scenario has no further turn. */
  function nextTurn(key: string, name: string): Turn | string {
    const turns = scripts.get(name);
    if (turns === undefined) return `no scenario is named ${name}`;
    const at = progress.get(key) ?? { calls: 0, turn: 0, used: 0 };
    progress.set(key, at);
    at.calls += 1;
    const turn = turns[at.turn];
    if (turn === undefined) return `${key} has ${turns.length} turns, this is one more`;
    if (turn.kind === 'limit' && isOver(turn.account)) {
      Object.assign(at, { turn: at.turn + 1, used: 0 });
      return nextTurn(key, name);
    }
    if (turn.kind === 'limit') return turn;
    at.used += 1;
    if (at.used >= ('times' in turn ? turn.times : 1))
      Object.assign(at, { turn: at.turn + 1, used: 0 });
    return turn;
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = request;
    const path = url.split('?')[0] ?? '';
    const sent = await readText(request);
    const body = parse(sent);
    const refuse = (why: string) => {
      unexpected.push(`${method} ${url}: ${why}`);
      reply(response, 418, { error: { type: 'unexpected_request', message: why } });
    };
    const aside = wires.map((each) => each.answerAside(method, path, body)).find((a) => a !== null);
    if (aside) return reply(response, aside.status, aside.body);
    const wire = wires.find((each) => each.isCall(method, path));
    if (wire === undefined) return refuse('no API of a model has this path');
    const found = wire
      .personTexts(body)
      .map((each) => tag.exec(each))
      .find((m) => m !== null);
    if (!found) return refuse(`the prompt names no scenario: ${sent.slice(0, 300)}`);
    const [key, name = ''] = found;
    const turn = nextTurn(key, name);
    if (typeof turn === 'string') return refuse(turn);
    const model = wire.modelOf(body, path);
    requests.push({ wire: wire.name, scenario: name, model, body, atMs: Date.now() });
    called.dispatchEvent(new Event('call'));
    if (turn.kind === 'answer') addSpent(spent, model, turn.spent);
    act(turn, wire, { body, model, serial: requests.length }, response);
  }

  const server = createServer((request, response) => {
    serve(request, response).catch((error: Error) => {
      unexpected.push(`${request.method} ${request.url}: ${error.message}`);
      response.destroy();
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const port = portOf(server);
  const callsOf = (name: string) => requests.filter(({ scenario }) => scenario === name).length;
  return {
    port,
    requests,
    unexpected,
    spent,
    callsOf,
    baseUrl: `http://127.0.0.1:${port}`,
    script(added) {
      for (const [name, turns] of Object.entries(added)) {
        scripts.set(name, turns);
        for (const key of progress.keys()) {
          if (tag.exec(key)?.[1] === name) progress.delete(key);
        }
      }
    },
    async untilCalls(scenario, count) {
      while (callsOf(scenario) < count) await once(called, 'call');
    },
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

/** Whether the limit was reset. The first request of an account meets it. */
function isOver(account: LimitedAccount): boolean {
  // A reset is told in whole seconds.
  account.resetsAtMs ??= Math.ceil((Date.now() + account.lastsMs) / 1_000) * 1_000;
  const isReset = Date.now() >= account.resetsAtMs;
  if (!isReset) account.refused += 1;
  return isReset;
}

function act(turn: Turn, wire: Wire, request: WireRequest, response: ServerResponse): void {
  if (turn.kind === 'hang') return;
  if (turn.kind === 'limit') {
    const { body, headers } = wire.limitReply(turn.account.resetsAtMs ?? 0);
    reply(response, 429, body, headers);
    return;
  }
  if (turn.kind === 'fail') {
    reply(response, turn.status, wire.errorBody(turn.error), turn.headers);
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  const answer: Turn & { kind: 'answer' } =
    turn.kind === 'answer'
      ? turn
      : {
          kind: 'answer',
          text: 'This answer is cut',
          calls: [],
          stop: 'end',
          spent: { input: 1, output: 1, cached: 0, written: 0 },
        };
  const texts = wire.events(answer, request).map(({ event, data }) => {
    return `${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`;
  });
  if (turn.kind === 'answer') response.end(texts.join(''));
  else response.write(texts[0] ?? '', () => response.destroy());
}

function reply(
  response: ServerResponse,
  status: number,
  body: object | string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

function parse(text: string): JsonBody {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function addSpent(all: Map<string, Spent>, model: string, more: Spent): void {
  const sum = all.get(model) ?? { input: 0, output: 0, cached: 0, written: 0 };
  all.set(model, {
    input: sum.input + more.input,
    output: sum.output + more.output,
    cached: sum.cached + more.cached,
    written: sum.written + more.written,
  });
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no TCP address');
  return address.port;
}
