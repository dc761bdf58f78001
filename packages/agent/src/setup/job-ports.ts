import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below those that systems give to outgoing connections (Linux from 32768, others from 49152). */
const PORT_MIN = 20_000;
const PORT_MAX = 29_999;
const TRIES_MAX = 1_000;

/** The ports of all jobs of this process. */
const taken = new Set<number>();

/**
 * Takes ports on which nothing listens on this machine, and which no other job of this agent has.
 *
 * @returns null: there are not so many.
 */
export async function takePorts(count: number): Promise<number[] | null> {
  const ports: number[] = [];
  for (let tries = 0; ports.length < count; tries++) {
    if (tries === TRIES_MAX) {
      returnPorts(ports);
      return null;
    }
    const port = randomInt(PORT_MIN, PORT_MAX + 1);
    if (taken.has(port)) continue;
    // Before the wait, so that no other job takes it meanwhile.
    taken.add(port);
    if (await isFree(port)) ports.push(port);
    else taken.delete(port);
  }
  return ports;
}

export function returnPorts(ports: readonly number[]): void {
  for (const port of ports) taken.delete(port);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  server.listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
