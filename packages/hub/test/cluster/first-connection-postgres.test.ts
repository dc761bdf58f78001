import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { before, type TestContext, test } from 'node:test';
import { type LocalPostgres, startLocalPostgres } from '@signalbox/local-postgres';
import pg from 'pg';
import { systemClock } from '../../src/base/clock.ts';
import { StartError } from '../../src/db/data-directory.ts';
import { openDatabase } from '../../src/db/open-database.ts';
import { readConfig } from '../../src/start/config.ts';
import { startHubChild } from '../support/hub-child.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { makeTempDir } from '../support/temp-dir.ts';

let server: LocalPostgres;
const options = { timeout: 60_000 };

before(async () => {
  server = await startLocalPostgres();
});

/** The address of the server, over another port. */
function urlOver(port: number): string {
  const url = new URL(server.url);
  url.host = `127.0.0.1:${port}`;
  return url.href;
}

/**
 * A port where nothing listens. It is below those that systems hand out, so that no other test gets
 * it meanwhile.
 */
async function findClosedPort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 30_000);
    const listener = createServer().listen(port, '127.0.0.1');
    // Rejected by the error of a port that is taken.
    const isFree = await once(listener, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    listener.close();
    await once(listener, 'close');
    return port;
  }
}

/** Lets the port lead to the server from now on. */
async function forward(t: TestContext, port: number): Promise<void> {
  const sockets: Socket[] = [];
  const listener = createServer((client) => {
    const upstream = connect(Number(new URL(server.url).port), '127.0.0.1');
    sockets.push(client, upstream);
    // A hub that is killed resets its connections.
    for (const socket of [client, upstream]) socket.on('error', () => socket.destroy());
    client.pipe(upstream).pipe(client);
  });
  listener.listen(port, '127.0.0.1');
  await once(listener, 'listening');
  t.after(() => {
    listener.close();
    // The server may take long to notice that a hub was killed.
    for (const socket of sockets) socket.destroy();
  });
}

/** Starts a hub whose database cannot be reached; resolves once it says what it waits for. */
async function startWaitingHub(t: TestContext, port: number) {
  const said = Promise.withResolvers<string>();
  const spawned = Promise.withResolvers<ChildProcess>();
  const listening = startHubChild(t, makeTempDir(t), {
    env: { SVC_DATABASE_URL: urlOver(port) },
    onErrorText: said.resolve,
    onSpawn: spawned.resolve,
  });
  return { listening, child: await spawned.promise, text: await said.promise };
}

test('a hub waits for a database that starts later, and says so', options, async (t) => {
  const port = await findClosedPort();
  const { listening, text } = await startWaitingHub(t, port);
  assert.match(text, /^signalbox: waiting up to 30 s for the database at 127\.0\.0\.1:\d+\//);
  assert.match(text, /ECONNREFUSED/);
  await forward(t, port);
  const { baseUrl } = await listening;
  assert.equal((await fetch(`${baseUrl}/control-plane/ready`)).status, 200);
});

test('a signal ends a hub that waits for its database', options, async (t) => {
  const { listening, child } = await startWaitingHub(t, await findClosedPort());
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await assert.rejects(listening, /the hub ended before it listened/);
  assert.deepEqual(await ended, [143, null], 'by itself: a container has no default for signals');
});

test('the wait for a server that does not answer ends', options, async (t) => {
  const { port } = await startTcpProxy(t, Number(new URL(server.url).port), 0);
  const said: string[] = [];
  const config = { ...readConfig({}), databaseUrl: urlOver(port) };
  const wait = { waitMs: 1_500, onWait: (text: string) => said.push(text) };
  await assert.rejects(openDatabase(config, '', systemClock, { wait }), (error: Error) => {
    assert.ok(error instanceof StartError);
    assert.match(error.message, /^The database at .* cannot be used \(no answer\): check/);
    return true;
  });
  assert.equal(said.length, 1);
  assert.match(said[0] ?? '', /\(no answer yet\)/);
});

test('the last refusal is told when the last try gets no answer', options, async (t) => {
  const role = 'without_connections';
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  await client.query(`CREATE ROLE ${role} LOGIN PASSWORD 'pw' CONNECTION LIMIT 0`);
  await client.end();
  const proxy = await startTcpProxy(t, Number(new URL(server.url).port));
  const url = new URL(urlOver(proxy.port));
  Object.assign(url, { username: role, password: 'pw' });
  const config = { ...readConfig({}), databaseUrl: url.href };
  const onWait = (text: string) => {
    if (text.includes('too many connections')) proxy.stallAfterBytes = 0;
  };
  const wait = { waitMs: 5_000, onWait };
  await assert.rejects(
    openDatabase(config, '', systemClock, { wait }),
    /too many connections.*raise max_connections.*SVC_DATABASE_SESSIONS/,
  );
});

test('what waiting cannot mend is refused at once', options, async () => {
  const unknown = new URL(server.url);
  unknown.pathname = '/nowhere';
  const said: string[] = [];
  const config = { ...readConfig({}), databaseUrl: unknown.href };
  const wait = { waitMs: 60_000, onWait: (text: string) => said.push(text) };
  await assert.rejects(
    openDatabase(config, '', systemClock, { wait }),
    /create it with CREATE DATABASE nowhere/,
  );
  assert.deepEqual(said, []);
});
