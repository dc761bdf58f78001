import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { findFreePort, findFreePorts } from '../src/index.ts';

async function listen(t: TestContext, port: number): Promise<void> {
  const server = createServer().listen(port, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
}

test('ports found together are distinct and usable', async (t) => {
  const ports = await findFreePorts(200);
  assert.equal(new Set(ports).size, 200);
  for (const port of ports) await listen(t, port);
});

test('no port is in the ephemeral range of the system', async () => {
  const ports = [await findFreePort(), ...(await findFreePorts(50))];
  const given = ports.filter((port) => port < 10_000 || port >= 32_768);
  assert.deepEqual(given, []);
});

test('a port in use is not returned', async (t) => {
  const taken = await findFreePorts(1_000);
  for (const port of taken) await listen(t, port);
  // There are about twenty thousand ports, so several of these would be in use by chance.
  const found = await findFreePorts(300);
  assert.deepEqual(
    found.filter((port) => taken.includes(port)),
    [],
  );
});
