import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

export interface ReceivedMessage {
  path: string;
  headers: IncomingHttpHeaders;
  text: string;
  body: Record<string, unknown>;
}

type ReceiverAnswer = { status: number; headers?: Record<string, string> } | 'hang up' | 'nothing';

/** A receiver of webhooks, and of messages for topics of ntfy, on this machine. */
export async function startReceiver(t: TestContext) {
  const messages: ReceivedMessage[] = [];
  const answers: ReceiverAnswer[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString('utf8');
    const { url: path = '', headers } = request;
    messages.push({ path, headers, text, body: JSON.parse(text) });
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
