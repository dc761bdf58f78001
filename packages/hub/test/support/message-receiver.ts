import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

export interface ReceivedMessage {
  path: string;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
  text: string;
  /** Of JSON; else empty. */
  body: Record<string, unknown>;
}

type ReceiverAnswer = { status: number; headers?: Record<string, string> } | 'hang up' | 'nothing';

/** A receiver of webhooks, of messages for topics of ntfy, and of pushes, on this machine. */
export async function startReceiver(t: TestContext) {
  const messages: ReceivedMessage[] = [];
  const answers: ReceiverAnswer[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    const text = bytes.toString('utf8');
    const { url: path = '', headers } = request;
    const isJson = headers['content-type'] === 'application/json';
    messages.push({ path, headers, bytes, text, body: isJson ? JSON.parse(text) : {} });
    const answer = answers.shift() ?? { status: 200 };
    if (answer === 'hang up') request.socket.destroy();
    else if (answer !== 'nothing') response.writeHead(answer.status, answer.headers).end('{}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    messages,
    /** Answers the next messages so, in turn; later ones get 200. */
    answerWith: (...next: ReceiverAnswer[]) => void answers.push(...next),
  };
}
