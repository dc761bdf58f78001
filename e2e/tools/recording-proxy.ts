import { createServer } from 'node:http';

/** Refuses everything that a tool sends anywhere but to loopback, and records it. */
export interface RecordingProxy {
  /** Makes tools send their requests here, but for those to loopback. */
  readonly env: Readonly<Record<string, string>>;
  /** `METHOD target`, oldest first. */
  readonly requests: readonly string[];
  close(): Promise<void>;
}

export async function startRecordingProxy(): Promise<RecordingProxy> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    response.writeHead(403).end('Only loopback is reachable here.\n');
  });
  server.on('connect', (request, socket) => {
    requests.push(`CONNECT ${request.url}`);
    // A tool may hang up before it has read the refusal.
    socket.on('error', () => {});
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no TCP address');
  const url = `http://127.0.0.1:${address.port}`;
  const settings = { HTTP_PROXY: url, HTTPS_PROXY: url, ALL_PROXY: url, NO_PROXY: '127.0.0.1' };
  // Programs differ in which spelling they read.
  const small = Object.entries(settings).map(([name, value]) => [name.toLowerCase(), value]);
  return {
    env: { ...settings, ...Object.fromEntries(small) },
    requests,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}
