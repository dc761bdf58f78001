import type { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** How long a client may take nothing of its answer. */
const DRAIN_MS_MAX = 30_000;
/** Shorter answers fit into the buffers of the operating system and are not watched. */
const WATCHED_BYTES_MIN = 65_536;

/**
 * Closes connections whose client does not read its answer, which would stay in memory otherwise. A
 * client that reads slowly is not cut.
 */
export function limitDrainTime(server: FastifyInstance, drainMs = DRAIN_MS_MAX): void {
  server.addHook('onSend', (_request, reply, payload, done) => {
    const hasLength = typeof payload === 'string' || Buffer.isBuffer(payload);
    const isShort = hasLength && payload.length < WATCHED_BYTES_MIN;
    if (payload !== null && !isShort) watchDrain(reply.raw, drainMs);
    done();
  });
}

/** Node closes a connection that neither reads nor writes a byte for the time of its timeout. */
function watchDrain(answer: ServerResponse, drainMs: number): void {
  const { socket } = answer;
  // A request that was injected without a connection has none.
  if (!(socket instanceof Socket)) return;
  socket.setTimeout(drainMs);
  // Before the listener of Node, which sets the timeout of an idle connection.
  answer.prependOnceListener('finish', () => socket.setTimeout(0));
}
