import { createHmac, randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type WebSocket, WebSocketServer } from 'ws';

/** A button of a message, as far as people see it. */
interface Button {
  action_id: string;
  text: { text: string };
  value?: string;
  url?: string;
  style?: string;
}

interface Block {
  type: string;
  text?: { text: string };
  elements?: (Button & { type: string })[];
  accessory?: Button;
}

/** A message in the direct messages of a user, as it was edited last. */
export interface SlackMessage {
  channel: string;
  ts: string;
  user: string;
  text: string;
  blocks: Block[];
  /** An edit may come twice. */
  edits: number;
}

/** The acknowledgement of an envelope; of a request, its answer. */
export interface SlackAck {
  status: number;
  payload: Record<string, unknown>;
}

/** An answer of the Web API that is not `ok`. */
interface Refusal {
  error?: string;
  status?: number;
  retryAfter?: number;
}

export const slackTokens = {
  SVC_SLACK_BOT_TOKEN: 'xoxb-1-loopback',
  SVC_SLACK_APP_TOKEN: 'xapp-1-loopback',
} as const;
const TEAM = { id: 'T0ACME', domain: 'acme' };
/** Slack's own word for an app that is not connected. */
const NOT_CONNECTED = 'operation_timeout';

/**
 * Slack on this machine, for the official client libraries: the Web API as far as the hub uses it,
 * Socket Mode, and requests that are signed by the documented rule.
 */
export class SlackServer {
  readonly messages: SlackMessage[] = [];
  /** Messages that one user alone sees. */
  readonly whispers: { channel: string; user: string; text: string }[] = [];
  readonly views: Record<string, unknown>[] = [];
  /** The methods of the Web API that were called, in order. */
  readonly calls: string[] = [];
  /** Refuses calls of a method until it is deleted. */
  readonly refusals = new Map<string, Refusal>();
  readonly #heard = new EventEmitter().setMaxListeners(0);
  readonly #server = createServer((request, response) => {
    this.#serve(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  readonly #upgrades = new WebSocketServer({ noServer: true });
  readonly #sockets: WebSocket[] = [];
  readonly #tickets = new Set<string>();
  #turn = 0;
  #number = 0;

  static async start(): Promise<SlackServer> {
    const slack = new SlackServer();
    slack.#server.on('upgrade', (request, socket, head) => {
      // A ticket is for one connection.
      if (!slack.#tickets.delete(request.url ?? '')) return socket.destroy();
      slack.#upgrades.handleUpgrade(request, socket, head, (one) => slack.#greet(one));
    });
    slack.#server.listen(0, '127.0.0.1');
    await once(slack.#server, 'listening');
    return slack;
  }

  /** The settings of a hub that uses Socket Mode here. */
  get env(): Record<string, string> {
    return { ...slackTokens, SVC_SLACK_API_URL: this.apiUrl };
  }

  get apiUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/api/`;
  }

  /** The open connections of Socket Mode. */
  get connections(): number {
    return this.#sockets.length;
  }

  close(): void {
    for (const socket of this.#sockets) socket.terminate();
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** Ends all connections of Socket Mode, as Slack does when it moves them. */
  dropConnections(): void {
    for (const socket of this.#sockets) socket.close();
  }

  /** Resolves when something that was sent, edited or connected makes this true. */
  async until<T>(find: () => T | undefined | false | null): Promise<T> {
    for (;;) {
      const found = find();
      if (found !== undefined && found !== false && found !== null) return found;
      await once(this.#heard, 'change');
    }
  }

  /** The message of a user whose blocks have a text, which may come yet. */
  message(user: string, words: string): Promise<SlackMessage> {
    return this.until(() =>
      this.messages.findLast((one) => one.user === user && wordsOf(one).includes(words)),
    );
  }

  /** The payload of a press of a button of a message. */
  press(message: SlackMessage, label: string, user = message.user): Record<string, unknown> {
    const button = buttonsOf(message).find((one) => one.text.text === label);
    if (button === undefined) throw new Error(`no button ${label} in ${wordsOf(message)}`);
    return {
      type: 'block_actions',
      user: { id: user },
      team: TEAM,
      trigger_id: this.#ticket(),
      container: { type: 'message', message_ts: message.ts, channel_id: message.channel },
      actions: [{ ...button, type: 'button', action_ts: this.#ticket() }],
    };
  }

  /** The payload of a form that a user sends. */
  submit(view: Record<string, unknown>, user: string, value: string): Record<string, unknown> {
    return {
      type: 'view_submission',
      user: { id: user },
      team: TEAM,
      view: { ...view, id: view.id, state: { values: { answer: { text: { value } } } } },
    };
  }

  /** The fields of a command. */
  command(user: string, words: string): Record<string, string> {
    return {
      command: '/signalbox',
      text: words,
      team_id: TEAM.id,
      team_domain: TEAM.domain,
      user_id: user,
      user_name: user.toLowerCase(),
      trigger_id: this.#ticket(),
    };
  }

  /**
   * Sends an envelope over one of the connections.
   *
   * @param connection the number of one; default: each in turn.
   * @returns its acknowledgement.
   */
  async deliver(
    type: 'interactive' | 'slash_commands',
    payload: object,
    connection = this.#turn++,
  ): Promise<SlackAck> {
    const socket = this.#sockets[connection % Math.max(this.#sockets.length, 1)];
    if (socket === undefined) throw new Error(NOT_CONNECTED);
    const envelope_id = randomUUID();
    const acked = new Promise<SlackAck>((resolve, reject) => {
      socket.on('message', (data) => {
        // `ws` gives a Buffer unless it is told otherwise.
        const ack = JSON.parse((data as Buffer).toString('utf8'));
        if (ack.envelope_id === envelope_id) resolve({ status: 200, payload: ack.payload ?? {} });
      });
      socket.once('close', () => reject(new Error(NOT_CONNECTED)));
    });
    socket.send(JSON.stringify({ envelope_id, type, payload, accepts_response_payload: true }));
    return acked;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const method = (request.url ?? '').replace('/api/', '');
    const fields = Object.fromEntries(new URLSearchParams(await text(request)));
    this.calls.push(method);
    const refusal = this.refusals.get(method);
    const token = request.headers.authorization ?? '';
    const answer = refusal === undefined ? this.#answer(method, fields, token) : { ok: false };
    response.writeHead(refusal?.status ?? 200, {
      'content-type': 'application/json',
      ...(refusal?.retryAfter !== undefined && { 'retry-after': String(refusal.retryAfter) }),
    });
    response.end(JSON.stringify({ ...answer, ...(refusal?.error && { error: refusal.error }) }));
    this.#heard.emit('change');
  }

  #answer(method: string, fields: Record<string, string>, token: string): object {
    const { SVC_SLACK_BOT_TOKEN: bot, SVC_SLACK_APP_TOKEN: app } = slackTokens;
    const needed = method === 'apps.connections.open' ? app : bot;
    if (token !== `Bearer ${needed}`) return { ok: false, error: 'invalid_auth' };
    const { channel = '', text: words = '', ts = '', user = '' } = fields;
    const blocks: Block[] = JSON.parse(fields.blocks ?? '[]');
    switch (method) {
      case 'auth.test':
        return { ok: true, team: 'Acme', user: 'signalbox', team_id: TEAM.id };
      case 'apps.connections.open':
        return { ok: true, url: this.#openUrl() };
      case 'chat.postMessage': {
        const sent = { channel: `D${channel}`, ts: this.#ticket(), user: channel };
        this.messages.push({ ...sent, text: words, blocks, edits: 0 });
        return { ok: true, channel: sent.channel, ts: sent.ts };
      }
      case 'chat.update': {
        const message = this.messages.find((one) => one.ts === ts && one.channel === channel);
        if (message === undefined) return { ok: false, error: 'message_not_found' };
        Object.assign(message, { text: words, blocks, edits: message.edits + 1 });
        return { ok: true, channel, ts };
      }
      case 'chat.postEphemeral':
        this.whispers.push({ channel, user, text: words });
        return { ok: true, message_ts: this.#ticket() };
      case 'views.open':
        this.views.push({ ...JSON.parse(fields.view ?? '{}'), id: `V${this.#ticket()}` });
        return { ok: true };
      default:
        return { ok: false, error: 'unknown_method' };
    }
  }

  #openUrl(): string {
    const path = `/link/${randomUUID()}`;
    this.#tickets.add(path);
    return `${new URL(path, this.apiUrl).href.replace('http', 'ws')}`;
  }

  #greet(socket: WebSocket): void {
    this.#sockets.push(socket);
    socket.setMaxListeners(0);
    socket.on('error', () => socket.terminate());
    socket.once('close', () => {
      this.#sockets.splice(this.#sockets.indexOf(socket), 1);
      this.#heard.emit('change');
    });
    socket.send(JSON.stringify({ type: 'hello', num_connections: this.#sockets.length }));
    this.#heard.emit('change');
  }

  /** A time as Slack writes it, later than all before. */
  #ticket(): string {
    this.#number += 1;
    return `1795860000.${String(this.#number).padStart(6, '0')}`;
  }
}

/** All that people read of a message. */
export function wordsOf({ blocks }: Pick<SlackMessage, 'blocks'>): string {
  return blocks
    .flatMap(({ text: own, elements = [] }) => [own?.text ?? '', ...elements.map(textOf)])
    .join('\n');
}

function textOf({ text: own }: { text: { text: string } | string }): string {
  return typeof own === 'string' ? own : own.text;
}

/** The buttons of a message. */
export function buttonsOf({ blocks }: Pick<SlackMessage, 'blocks'>): Button[] {
  return blocks.flatMap(({ elements = [], accessory }) => [
    ...elements.filter(({ type }) => type === 'button'),
    ...(accessory === undefined ? [] : [accessory]),
  ]);
}

/** Posts a form as Slack does without Socket Mode: signed over its bytes ("Verifying requests"). */
export async function postSigned(
  url: string,
  fields: Record<string, string>,
  { secret, atMs = Date.now() }: { secret: string; atMs?: number },
): Promise<SlackAck> {
  const body = new URLSearchParams(fields).toString();
  const seconds = String(Math.floor(atMs / 1_000));
  const mac = createHmac('sha256', secret).update(`v0:${seconds}:${body}`).digest('hex');
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'x-slack-request-timestamp': seconds,
      'x-slack-signature': `v0=${mac}`,
    },
    body,
  });
  return { status: response.status, payload: (await response.json()) as SlackAck['payload'] };
}
