import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

/** Gives each connection to the next hub that takes it, as a load balancer of TCP does. */
export async function startLoadBalancer(
  t: Pick<TestContext, 'after'>,
  ports: readonly number[],
): Promise<{ baseUrl: string }> {
  const sockets = new Set<Socket>();
  let turn = 0;
  const server = createServer((client) => {
    track(client);
    turn += 1;
    void pass(client, turn);
  });
  function track(socket: Socket): void {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  }
  async function pass(client: Socket, first: number): Promise<void> {
    for (let at = 0; at < ports.length; at++) {
      const upstream = connect(ports[(first + at) % ports.length] ?? 0, '127.0.0.1');
      track(upstream);
      const taken = await once(upstream, 'connect').catch(() => null);
      if (taken === null) continue;
      client.pipe(upstream).pipe(client);
      client.on('close', () => upstream.destroy());
      upstream.on('close', () => client.destroy());
      return;
    }
    client.destroy();
  }
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a port is listened on');
  return { baseUrl: `http://127.0.0.1:${address.port}` };
}
