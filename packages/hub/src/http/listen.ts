import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { assert } from '../base/errors.ts';

/** Where a server listens; port 0: any free port. */
export interface Place {
  readonly host: string;
  readonly port: number;
}

/**
 * Connections that may wait to be accepted. The system drops those beyond, and the client tries
 * again after 1 s, 3 s and 7 s. Linux takes 4,096 at most, unless told otherwise.
 */
const BACKLOG = 4_096;
/**
 * Sockets on one port. A socket accepts one connection in a turn of the event loop (libuv since
 * 1.45). With a single one, new connections to a busy hub waited for seconds behind a burst.
 */
const SOCKETS = 16;
const CONNECTIONS_MAX = 50_000;

/** The sockets on which an HTTP server accepts connections. */
export interface Sockets {
  /** The URL on this machine. */
  readonly address: string;
  readonly port: number;
  /** Accepts no more connections. Resolves when the others have ended. */
  close(): Promise<void>;
}

/**
 * Starts to accept connections.
 * @throws the error of listening, such as EADDRINUSE.
 */
export async function openSockets(http: HttpServer, place: Place): Promise<Sockets> {
  if (process.platform !== 'linux') return openAll(http, place, { count: 1 });
  // Sockets that share their port would not notice another hub of this user on it. Of the ports
  // that the system chooses, none is shared.
  if (place.port !== 0) await requireFree(place);
  return openAll(http, place, { count: SOCKETS, reusePort: true });
}

/** Has sockets that a server does not know close with it. */
export function closeTogether(server: FastifyInstance, close: () => Promise<void>): void {
  let closed: Promise<void> = Promise.resolve();
  server.addHook('preClose', (done) => {
    closed = close();
    done();
  });
  server.addHook('onClose', () => closed);
}

async function requireFree(place: Place): Promise<void> {
  const server = createServer();
  server.listen(place);
  await once(server, 'listening');
  await closeServer(server);
}

/** @param sharing how many sockets share the port. */
async function openAll(
  http: HttpServer,
  { host, port }: Place,
  { count, ...options }: { count: number; reusePort?: true },
): Promise<Sockets> {
  const maxConnections = Math.ceil(CONNECTIONS_MAX / count);
  const open = async (server: Server, address: string, at: number) => {
    server.maxConnections = maxConnections;
    server.listen({ host: address, port: at, backlog: BACKLOG, ...options });
    await once(server, 'listening');
    return server;
  };
  await open(http, host, port);
  const bound = addressOf(http);
  const addOne = (address: string) => {
    // As Node's HTTP server makes its own.
    const other = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      http.emit('connection', socket);
    });
    return open(other, address, bound.port);
  };
  const others = await Promise.all([
    ...Array.from({ length: count - 1 }, () => addOne(bound.address)),
    ...(await otherAddresses(host, bound)).map((address) => addOne(address).catch(ignoreMissing)),
  ]);
  let closed: Promise<unknown> | null = null;
  return {
    address: urlOf(bound),
    port: bound.port,
    async close() {
      // The HTTP server waits for the connections of its own socket only.
      closed ??= Promise.all([http, ...others.filter((other) => other !== null)].map(closeServer));
      await closed;
    },
  };
}

/** `localhost` may have an address of each version of IP, and clients use either. */
async function otherAddresses(host: string, bound: AddressInfo): Promise<string[]> {
  if (host !== 'localhost') return [];
  const addresses = (await lookup(host, { all: true })).map(({ address }) => address);
  return addresses.filter((address) => address !== bound.address);
}

/** The name of a machine may have an address of a version of IP that the machine does not use. */
function ignoreMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'EAFNOSUPPORT') return null;
  throw error;
}

function urlOf({ address, family, port }: AddressInfo): string {
  if (family === 'IPv6') return `http://[${address}]:${port}`;
  return `http://${address === '0.0.0.0' ? '127.0.0.1' : address}:${port}`;
}

function addressOf(server: Server): AddressInfo {
  const address = server.address();
  assert(address !== null && typeof address === 'object', 'a TCP server has an address');
  return address;
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}
