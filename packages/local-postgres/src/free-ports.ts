import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/**
 * Below the ranges of ephemeral ports of Linux (32768 and up), macOS and Windows. A port in such a
 * range may be taken between check and use. A client that reconnects repeatedly to a stopped server
 * may even get the server's own port as its local one, and so connect to itself.
 */
const portMin = 10_000;
const portMax = 32_768;
/** Limit of attempts per port; high enough for any realistic number of used ports. */
const triesMax = 50;

/**
 * Finds distinct free ports of 127.0.0.1, for servers that need a port number, or that are stopped
 * and restarted at the same address.
 */
export async function findFreePorts(count: number): Promise<number[]> {
  const held: Server[] = [];
  try {
    while (held.length < count) held.push(await holdFreePort());
    return held.map(portOf);
  } finally {
    await Promise.all(held.map(release));
  }
}

/** Like `findFreePorts`, for one port. */
export async function findFreePort(): Promise<number> {
  const server = await holdFreePort();
  const port = portOf(server);
  await release(server);
  return port;
}

async function holdFreePort(): Promise<Server> {
  for (let tries = 1; ; tries += 1) {
    const server = createServer().listen(randomInt(portMin, portMax), '127.0.0.1');
    try {
      await once(server, 'listening');
      return server;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'EADDRINUSE' || tries === triesMax) throw error;
    }
  }
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string')
    throw new Error('the server must be listening');
  return address.port;
}

async function release(server: Server): Promise<void> {
  server.close();
  await once(server, 'close');
}
