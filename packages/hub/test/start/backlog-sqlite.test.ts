import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { startHubChild } from '../support/hub-child.ts';
import { makeTempDir } from '../support/temp-dir.ts';

const CONNECTIONS = 1_000;

/** Other systems have limits of their own. */
const systemMax = () => Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8'));

test('a hub that is busy keeps a burst of connections waiting', {
  skip: process.platform !== 'linux' && 'the limit is read as on Linux',
  // A dropped connection is tried again, but a hub that is stopped accepts none.
  timeout: 60_000,
}, async (t) => {
  const { baseUrl, child } = await startHubChild(t, makeTempDir(t));
  child.kill('SIGSTOP');
  t.after(() => child.kill('SIGCONT'));
  const expected = Math.min(CONNECTIONS, systemMax());
  await Promise.all(Array.from({ length: expected }, () => openSocket(t, baseUrl)));
});

/** Resolves when the system has made the connection, whether or not the hub has accepted it. */
async function openSocket(t: TestContext, baseUrl: string): Promise<Socket> {
  const { hostname: host, port } = new URL(baseUrl);
  const socket = connect({ host, port: Number(port) });
  t.after(() => socket.destroy());
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  socket.once('connect', () => resolve(socket)).once('error', reject);
  return promise;
}
