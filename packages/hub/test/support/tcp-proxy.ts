import { EventEmitter, once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

/** Stands between a client and a server, counts, and stalls when told to. */
export interface TcpProxy {
  port: number;
  /** Emits `connection` for each client and `gone` when one has left. */
  events: EventEmitter<{ connection: []; gone: [] }>;
  connections: number;
  /** The bytes that the server has sent to clients. */
  bytesFromServer: number;
  /**
   * Of what the server sends to each later client, this much goes through and no more; the
   * connection stays open.
   */
  stallAfterBytes: number;
}

/** @param target the server's port on loopback. */
export async function startTcpProxy(
  t: Pick<TestContext, 'after'>,
  target: number,
  stallAfterBytes = Number.POSITIVE_INFINITY,
): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  const proxy: TcpProxy = {
    port: 0,
    events: new EventEmitter(),
    connections: 0,
    bytesFromServer: 0,
    stallAfterBytes,
  };
  const server = createServer((client) => {
    proxy.connections += 1;
    const upstream = connect(target, '127.0.0.1');
    let left = proxy.stallAfterBytes;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
    }
    client.on('data', (bytes) => upstream.write(bytes));
    upstream.on('data', (bytes: Buffer) => {
      const part = bytes.subarray(0, left);
      left -= part.length;
      proxy.bytesFromServer += part.length;
      if (part.length > 0) client.write(part);
    });
    client.on('close', () => {
      upstream.destroy();
      proxy.events.emit('gone');
    });
    upstream.on('close', () => client.destroy());
    proxy.events.emit('connection');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(async () => {
    server.close();
    for (const socket of sockets) socket.destroy();
    await once(server, 'close');
  });
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  proxy.port = address.port;
  return proxy;
}
