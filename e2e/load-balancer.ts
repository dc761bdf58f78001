import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

const CHECK_INTERVAL_MS = 250;

/**
 * Gives each connection to the next hub that takes it, as a load balancer of TCP does.
 *
 * @param checkPath asked for on each hub; one that does not answer with 200 comes last.
 */
export async function startLoadBalancer(
  t: Pick<TestContext, 'after'>,
  ports: readonly number[],
  checkPath?: string,
): Promise<{ baseUrl: string }> {
  const unready = new Set<number>();
  if (checkPath !== undefined) checkAll(t, ports, checkPath, unready);
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
    const inTurn = ports.map((_port, at) => ports[(first + at) % ports.length] ?? 0);
    for (const port of inTurn.toSorted((a, b) => Number(unready.has(a)) - Number(unready.has(b)))) {
      const upstream = connect(port, '127.0.0.1');
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

/** Keeps the set of hubs that are not ready up to date. */
function checkAll(
  t: Pick<TestContext, 'after'>,
  ports: readonly number[],
  path: string,
  unready: Set<number>,
): void {
  const check = async (port: number) => {
    const signal = AbortSignal.timeout(2_000);
    const isReady = await fetch(`http://127.0.0.1:${port}${path}`, { signal }).then(
      async (answer) => {
        await answer.body?.cancel();
        return answer.ok;
      },
      () => false,
    );
    if (isReady) unready.delete(port);
    else unready.add(port);
  };
  const timer = setInterval(() => {
    for (const port of ports) void check(port);
  }, CHECK_INTERVAL_MS);
  t.after(() => clearInterval(timer));
}
