/** A scripted hub over real HTTP, for answers that a real hub rarely gives. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

export interface SeenRequest {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  text: string;
  /** The parsed body, or undefined without one. */
  body: Record<string, unknown> | undefined;
}

/** Answers one request after all of it has arrived. */
export type Answer = (response: ServerResponse, request: SeenRequest) => void;

export interface HubStandIn {
  baseUrl: string;
  /** In order of arrival. */
  requests: SeenRequest[];
}

/** Listens until the test ends. The nth request gets the nth answer, later ones the last. */
export async function startHubStandIn(t: TestContext, answers: Answer[]): Promise<HubStandIn> {
  const requests: SeenRequest[] = [];
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const { method = '', url: path = '', headers } = incoming;
    const body = text === '' ? undefined : JSON.parse(text);
    const request: SeenRequest = { method, path, headers, text, body };
    requests.push(request);
    const answer = answers[Math.min(requests.length, answers.length) - 1];
    if (answer === undefined) throw new Error('the test gave no answer');
    answer(response, request);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { baseUrl: `http://127.0.0.1:${port}`, requests };
}

/** Finds a loopback port that nothing listens on. */
export async function findClosedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Answers with a success with these fields. */
export function succeed(fields: Record<string, unknown> = {}): Answer {
  return (response) => sendJson(response, 200, { ok: true, ...fields });
}

export function fail(
  status: number,
  error: string,
  more: { headers?: Record<string, string>; [field: string]: unknown } = {},
): Answer {
  const { headers = {}, ...fields } = more;
  const body = { ok: false, error, message: `Refused: ${error}.`, requestId: 'req_1', ...fields };
  return (response) => sendJson(response, status, body, headers);
}

/** Answers with any text and status. */
export function sendText(
  status: number,
  text: string,
  headers: Record<string, string> = {},
): Answer {
  return (response) => {
    response.writeHead(status, headers);
    response.end(text);
  };
}

/** Closes the connection after the request has arrived, so that its answer is lost. */
export const loseReply: Answer = (response) => {
  response.destroy();
};

/** Breaks the connection in the middle of the answer. */
export const cutReply: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
  response.write('{"ok":true,"jobId":', () => response.destroy());
};

/** Does nothing until the client closes the connection. */
export const stayingSilent: Answer = () => undefined;

function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}
