import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

interface NtfyMessage {
  topic: string;
  title: string;
  message: string;
  click: string;
}

/** Takes what is published to a server of ntfy. */
export async function startNtfy() {
  const messages: NtfyMessage[] = [];
  const heard = new EventEmitter();
  const server = createServer(async (request, response) => {
    messages.push((await json(request)) as NtfyMessage);
    response.end('{}');
    heard.emit('message');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  /** The message of this number, from 1, which may come yet. */
  async function next(number: number): Promise<NtfyMessage> {
    for (;;) {
      const message = messages[number - 1];
      if (message !== undefined) return message;
      await once(heard, 'message');
    }
  }
  return { server, url, messages, next };
}
