import { Agent, type IncomingMessage, request } from 'node:http';

/** The outcome of one request, as precisely as TCP shows it. */
export type Fate =
  | { kind: 'answered'; status: number; answer: Record<string, unknown> }
  /** No connection was made: the hub had stopped listening. */
  | { kind: 'refused' }
  /** The connection ended before a byte of the answer came; the request may have been read. */
  | { kind: 'dropped'; error: Error }
  /** The answer began and did not end. */
  | { kind: 'cut'; error: Error };

/** A client that keeps its connection, as agents do. */
export interface KeepAliveClient {
  post(path: string, body: object): Promise<Fate>;
  close(): void;
}

export function createKeepAliveClient(baseUrl: string, token: string): KeepAliveClient {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    post: (path, body) =>
      new Promise((resolve) => {
        const text = JSON.stringify(body);
        const post = request(`${baseUrl}/control-plane/v1/${path}`, {
          agent,
          method: 'POST',
          headers: {
            authorization: `Bearer ${token}`,
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(text),
          },
        });
        post.on('error', (error: NodeJS.ErrnoException) => {
          resolve(error.code === 'ECONNREFUSED' ? { kind: 'refused' } : { kind: 'dropped', error });
        });
        post.on('response', (response) => {
          readAnswer(response).then(resolve, (error: Error) => resolve({ kind: 'cut', error }));
        });
        post.end(text);
      }),
    close: () => agent.destroy(),
  };
}

async function readAnswer(response: IncomingMessage): Promise<Fate> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk;
  if (!response.complete) throw new Error('The answer ended early.');
  return {
    kind: 'answered',
    status: response.statusCode ?? 0,
    answer: JSON.parse(text) as Record<string, unknown>,
  };
}
