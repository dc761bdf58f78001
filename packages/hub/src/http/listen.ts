import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import type { FastifyInstance, FastifyListenOptions } from 'fastify';
import { assert } from '../errors.ts';

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

/**
 * Starts to accept requests.
 * @returns the address.
 * @throws the error of listening, such as EADDRINUSE.
 */
export async function listen(server: FastifyInstance, place: Place): Promise<string> {
  if (process.platform === 'linux') {
    // The system chooses a port that is not shared.
    const port = place.port === 0 ? 0 : await findPort(place);
    return listenShared(server, { host: place.host, port });
  }
  server.server.maxConnections = CONNECTIONS_MAX;
  return server.listen({ ...place, backlog: BACKLOG });
}

/**
 * Listens for a moment without sharing the port: sockets that share theirs would not notice another
 * hub of this user on it.
 * @returns the port.
 */
export async function findPort(place: Place): Promise<number> {
  const server = createServer();
  server.listen(place);
  await once(server, 'listening');
  const { port } = addressOf(server);
  server.close();
  await once(server, 'close');
  return port;
}

/** Listens on a place that other sockets of this process may share. Returns the address. */
export async function listenShared(
  server: FastifyInstance,
  { host, port }: Place,
): Promise<string> {
  const http = server.server;
  const maxConnections = Math.ceil(CONNECTIONS_MAX / SOCKETS);
  http.maxConnections = maxConnections;
  const others = Array.from({ length: SOCKETS - 1 }, () =>
    // As Node's HTTP server makes its own.
    createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      http.emit('connection', socket);
    }),
  );
  let othersClosed: Promise<unknown> = Promise.resolve();
  server.addHook('preClose', (done) => {
    othersClosed = Promise.all(others.map(closeServer));
    done();
  });
  // The HTTP server waits for the connections of its own socket only.
  server.addHook('onClose', async () => {
    await othersClosed;
  });
  const sharing = { backlog: BACKLOG, reusePort: true };
  // Fastify hands its options on to Node; its types do not have all of them.
  const options: FastifyListenOptions & typeof sharing = { host, port, ...sharing };
  const address = await server.listen(options);
  const bound = addressOf(http);
  await Promise.all(
    others.map(async (other) => {
      other.maxConnections = maxConnections;
      other.listen({ host: bound.address, port: bound.port, ...sharing });
      await once(other, 'listening');
    }),
  );
  return address;
}

function addressOf(server: Server): AddressInfo {
  const address = server.address();
  assert(address !== null && typeof address === 'object', 'a TCP server has an address');
  return address;
}

/** Accepts no more connections. Resolves when the others have ended. */
function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}
