import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { createBareServer, openBarePort } from '../support/bare-server.ts';

const CONNECTIONS = 400;
const silent = { level: 'silent' };
/** A socket accepts one connection in a turn, and the system spreads them over sixteen. */
const TURNS_MAX = 100;

/** Opens connections on another thread, and counts them in shared memory. */
const opener = `
  const { workerData: { port, count, open } } = require('node:worker_threads');
  const { connect } = require('node:net');
  const opened = new Int32Array(open);
  for (let n = 0; n < count; n++) {
    connect({ port, host: '127.0.0.1' })
      .on('error', () => {})
      .once('connect', () => { Atomics.add(opened, 0, 1); Atomics.notify(opened, 0); });
  }
`;

async function openConnections(t: TestContext, port: number): Promise<void> {
  const open = new SharedArrayBuffer(4);
  const opened = new Int32Array(open);
  const workerData = { port, count: CONNECTIONS, open };
  const worker = new Worker(opener, { eval: true, workerData });
  t.after(() => worker.terminate());
  await once(worker, 'online');
  // Keeps this thread from accepting any before all wait.
  for (;;) {
    const count = Atomics.load(opened, 0);
    if (count === CONNECTIONS) return;
    assert.notEqual(Atomics.wait(opened, 0, count, 30_000), 'timed-out');
  }
}

test('a busy hub accepts many new connections in each turn', {
  skip: process.platform !== 'linux' && 'other systems have one socket',
}, async (t) => {
  const hubPort = await openBarePort();
  const { server } = createBareServer(silent, hubPort);
  t.after(() => server.close());
  let accepted = 0;
  server.server.on('connection', () => {
    accepted += 1;
  });
  const { port } = await hubPort.place();
  await openConnections(t, port);
  let turns = 0;
  while (accepted < CONNECTIONS && turns < TURNS_MAX) {
    await nextTurn();
    turns += 1;
  }
  assert.equal(accepted, CONNECTIONS, `accepted in ${turns} turns`);
});

test('a second server on the port is refused', async (t) => {
  const first = await openBarePort();
  t.after(() => first.close());
  const { port } = await first.place();
  await assert.rejects(openBarePort(port), { code: 'EADDRINUSE' });
});

test('a server that closes waits for the requests of all its sockets', async (t) => {
  // The first socket gets a sixteenth of the connections, and waited for them anyway.
  for (let round = 0; round < 3; round++) {
    const hubPort = await openBarePort();
    const { server } = createBareServer(silent, hubPort);
    const released = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    server.get('/slow', async () => {
      asked.resolve();
      await released.promise;
      return { ok: true };
    });
    const { address } = await hubPort.place();
    await server.ready();
    hubPort.serve();
    const agent = new Agent();
    t.after(() => agent.destroy());
    const status = statusOf(`${address}/slow`, agent);
    await asked.promise;
    let hasClosed = false;
    const closed = server.close().then(() => {
      hasClosed = true;
    });
    for (let turn = 0; turn < TURNS_MAX; turn++) await nextTurn();
    assert.equal(hasClosed, false);
    released.resolve();
    assert.equal(await status, 200);
    await closed;
  }
});

async function statusOf(url: string, agent: Agent): Promise<number | undefined> {
  const [answer] = (await once(get(url, { agent }), 'response')) as [IncomingMessage];
  answer.resume();
  return answer.statusCode;
}
