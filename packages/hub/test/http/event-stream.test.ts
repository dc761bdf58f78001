import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import type { FastifyReply } from 'fastify';
import { type EventWriter, sendEvents } from '../../src/http/event-stream.ts';
import { HttpContext } from '../../src/http/request-context.ts';
import { createBareServer } from '../support/bare-server.ts';
import { until } from '../support/until.ts';

const EVENT_BYTES = 60_000;

test('a slow reader holds little memory, and is told to read anew', {
  timeout: 60_000,
}, async (t) => {
  const { server } = createBareServer();
  const opened = Promise.withResolvers<{ writer: EventWriter; reply: FastifyReply }>();
  let stops = 0;
  server.get('/stream', (request, reply) => {
    const context = new HttpContext(request, reply, undefined as never, () => () => undefined);
    sendEvents(reply, context, (writer) => {
      writer.onDrained(() => writer.write({ event: 'reset', id: 'r', data: {} }));
      opened.resolve({ writer, reply });
      return () => {
        stops += 1;
      };
    });
  });
  const address = new URL(await server.listen({ host: '127.0.0.1', port: 0 }));
  const socket = connect(Number(address.port), address.hostname);
  t.after(() => {
    socket.destroy();
    return server.close();
  });
  socket.write('GET /stream HTTP/1.1\r\nhost: hub\r\n\r\n');
  socket.pause();
  const { writer, reply } = await opened.promise;

  const data = { text: 'x'.repeat(EVENT_BYTES) };
  let written = 0;
  // The operating system holds some megabytes; what exceeds that waits in the hub, up to its limit.
  while (reply.raw.writableLength < 65_536) {
    writer.write({ event: 'changes', id: `${written}`, data });
    written += 1;
    // The event loop hands what it can to the operating system.
    await new Promise((resolve) => setImmediate(resolve));
  }
  for (let more = 0; more < 100; more += 1) writer.write({ event: 'changes', id: 'dropped', data });
  assert.ok(reply.raw.writableLength < 65_536 + 2 * EVENT_BYTES, `${reply.raw.writableLength}`);

  let tail = '';
  socket.setEncoding('utf8');
  socket.on('data', (text: string) => {
    tail = (tail + text).slice(-10_000);
  });
  socket.resume();
  await until('the reader gets a reset', () => tail.includes('event: reset'));
  assert.doesNotMatch(tail, /id: dropped/);
  socket.destroy();
  await until('the stream has ended', () => stops === 1);
});
