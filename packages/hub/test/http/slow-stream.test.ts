import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import Fastify from 'fastify';
import { type EventWriter, sendEvents } from '../../src/http/event-stream.ts';

const options = { timeout: 60_000 };
/** As in `http/event-stream.ts`. */
const WAITING_BYTES_MAX = 65_536;
const event = { event: 'changes', id: 'ab-1', data: { text: 'x'.repeat(10_000) } };
const EVENT_BYTES_MAX = 11_000;
/** Long enough for a busy machine to fill the buffers meanwhile. */
const DRAIN_MS = 5_000;

/** A stream whose client never reads, seen from the side that writes. */
async function setup(t: TestContext) {
  const server = Fastify({ forceCloseConnections: true });
  t.after(() => server.close());
  const opened = Promise.withResolvers<EventWriter>();
  let stops = 0;
  server.get('/', (_request, reply) => {
    const context = { signal: new AbortController().signal, unwatch: () => {} };
    const start = (writer: EventWriter) => {
      opened.resolve(writer);
      return () => {
        stops += 1;
      };
    };
    sendEvents(reply, context, start, DRAIN_MS);
  });
  const { hostname, port } = new URL(await server.listen({ host: '127.0.0.1', port: 0 }));
  const accepted = once(server.server, 'connection') as Promise<[Socket]>;
  const client = connect(Number(port), hostname);
  client.pause();
  t.after(() => client.destroy());
  client.write(`GET / HTTP/1.1\r\nhost: ${hostname}:${port}\r\n\r\n`);
  const [socket] = await accepted;
  const closed = once(socket, 'close');
  return { writer: await opened.promise, client, socket, closed, stops: () => stops };
}

/** Writes until the buffers of the operating system are full, and much more. */
async function fill(writer: EventWriter, socket: Socket): Promise<void> {
  while (socket.writableLength <= WAITING_BYTES_MAX / 2) {
    writer.write(event);
    await nextTurn();
  }
  for (let more = 0; more < 100; more++) writer.write(event);
}

test('a stream whose client never reads takes bounded memory, and is cut', options, async (t) => {
  const { writer, socket, closed, stops } = await setup(t);
  await fill(writer, socket);
  assert.ok(
    socket.writableLength <= WAITING_BYTES_MAX + EVENT_BYTES_MAX,
    `${socket.writableLength} bytes wait for the client`,
  );
  await closed;
  assert.equal(stops(), 1);
});

test(
  'nothing is written after the end of a stream whose client never reads',
  options,
  async (t) => {
    const { writer, socket, closed, stops } = await setup(t);
    while (socket.writableLength === 0) {
      writer.write(event);
      await nextTurn();
    }
    writer.end();
    assert.equal(stops(), 1, 'the source is told at once');
    const waitingBytes = socket.writableLength;
    // A write after the end would be an uncaught error.
    writer.write(event);
    await nextTurn();
    assert.equal(socket.writableLength, waitingBytes);
    await closed;
    assert.equal(stops(), 1);
  },
);

test('a client that reads again in time learns that events were dropped', options, async (t) => {
  const { writer, socket, client } = await setup(t);
  const drained = Promise.withResolvers<void>();
  writer.onDrained(drained.resolve);
  await fill(writer, socket);
  client.resume();
  await drained.promise;
  assert.equal(socket.destroyed, false);
});
