import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type TestContext, test } from 'node:test';
import { openConnections } from '../load/connection.ts';
import { formatPost } from '../load/hub-calls.ts';
import { ConnectionPool, sendAtRate } from '../load/paced-sender.ts';
import { Span } from '../load/span.ts';

/** A server whose answers wait for a promise, and a pool of connections to it. */
async function setup(t: TestContext, answers: Promise<void>, connectionCount: number) {
  const server = createServer(async (request, response) => {
    request.resume();
    await answers;
    response.setHeader('content-length', 2).end('{}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  t.after(() => server.closeAllConnections());
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  const target = { host: '127.0.0.1', port: address.port };
  const connections = await openConnections([target], connectionCount);
  t.after(() => {
    for (const connection of connections) connection.close();
  });
  return { pool: new ConnectionPool(connections), request: formatPost(target, '/', 'token', '{}') };
}

test('requests are sent at the given rate while answers arrive', async (t) => {
  const { pool, request } = await setup(t, Promise.resolve(), 100);
  const span = new Span({ warmUpMs: 1, measureMs: 300 }, () => undefined);
  const numbers: number[] = [];
  const beganMs = performance.now();
  await sendAtRate(pool, 200, span, async (connection, number) => {
    numbers.push(number);
    await connection.send(request);
  });
  // Never more than are due; the delay of the last one depends on the machine.
  const dueMost = ((performance.now() - beganMs) * 200) / 1_000 + 1;
  assert.ok(numbers.length > 10 && numbers.length <= dueMost, `${numbers.length} were sent`);
  assert.deepEqual(numbers, [...numbers.keys()]);
});

test('a server that cannot keep up fails the load instead of reducing it', async (t) => {
  const gate = Promise.withResolvers<void>();
  const { pool, request } = await setup(t, gate.promise, 2);
  const span = new Span({ warmUpMs: 1, measureMs: 200 }, () => undefined);
  const sending = sendAtRate(pool, 200, span, async (connection) => {
    await connection.send(request);
  });
  await assert.rejects(sending, /only 2 of \d+ requests could be sent on time/);
  gate.resolve();
});
