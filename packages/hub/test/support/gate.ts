import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** Stands between a hub and its database, and lets nothing through when it is told to. */
export interface Gate {
  url: string;
  /** Nothing passes any more, neither way; connections stay open, new ones are taken. */
  block(): void;
  /** All passes again, also what was held back. */
  open(): void;
  close(): void;
}

/** @param url of the database behind it. */
export async function startGate(url: string): Promise<Gate> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let isBlocked = false;
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    client.pipe(upstream).pipe(client);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
      if (isBlocked) socket.pause();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a port is listened on');
  const gated = new URL(url);
  gated.port = String(address.port);
  return {
    url: gated.href,
    block() {
      isBlocked = true;
      for (const socket of sockets) socket.pause();
    },
    open() {
      isBlocked = false;
      for (const socket of sockets) socket.resume();
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
