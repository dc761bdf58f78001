import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/**
 * Below those that Linux (32768 and up), macOS and Windows give to whoever connects somewhere. A
 * port among theirs may be taken between the look and the use; and who connects again and again to
 * a server that is away may be given the server's own port, and so talk to himself on it.
 */
const portMin = 10_000;
const portMax = 32_768;
/** Tries of each port; nobody has so many taken. */
const triesMax = 50;

/**
 * Ports of 127.0.0.1 for servers that must be told theirs, or that are ended and started again at
 * the same address: all different, and free just now.
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

/** As `findFreePorts`, for one. */
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
  if (address === null || typeof address === 'string') throw new Error('the server listens');
  return address.port;
}

async function release(server: Server): Promise<void> {
  server.close();
  await once(server, 'close');
}
