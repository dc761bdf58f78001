import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { consolePathOf, endpoints } from '@signalbox/contract';
import pg from 'pg';
import { openStream } from '../support/change-stream.ts';
import { makeOwner } from '../support/people.ts';
import { databaseUrlOf } from '../support/test-engine.ts';
import { startTestHub } from '../support/test-hub.ts';
import { until } from '../support/until.ts';

const { changes } = endpoints;
const STREAMS_MAX = 16;

test('a browser that leaves before its stream begins takes no place for streams', async (t) => {
  const world = await startTestHub(t);
  const { browser, workspaceId } = await makeOwner(world);
  const url = `${world.address}${consolePathOf(changes.stream)}?workspaceId=${workspaceId}`;
  const headers = {
    cookie: [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
  };
  const blocker = new pg.Client({ connectionString: await databaseUrlOf(world.dataDir) });
  // The server ends it if the test fails.
  blocker.on('error', () => undefined);
  await blocker.connect();

  // The hub reads the role of the person while the browser leaves.
  await blocker.query('BEGIN; LOCK TABLE memberships IN ACCESS EXCLUSIVE MODE');
  const connected = once(world.hub.server.server, 'connection') as Promise<[Socket]>;
  const leaving = request(url, { agent: false, headers });
  // Its answer never comes.
  leaving.on('error', () => undefined);
  leaving.end();
  const [socket] = await connected;
  const closed = once(socket, 'close');
  await until('the hub reads the role', async () => (await waitingFor(blocker)) > 0);
  leaving.destroy();
  await closed;
  await blocker.query('COMMIT');
  await until('the hub has read the role', async () => (await waitingFor(blocker)) === 0);
  await blocker.end();

  const opened = await Promise.allSettled(
    Array.from({ length: STREAMS_MAX }, () => openStream(url, headers)),
  );
  // The hub does not stop before they have left.
  for (const each of opened) if (each.status === 'fulfilled') each.value.leave();
  const refused = opened.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  assert.deepEqual(refused.map(String), []);
});

/** How many sessions wait for a table. */
async function waitingFor(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ waiting: string }>(
    `SELECT COUNT(*) AS waiting FROM pg_locks
     WHERE NOT granted AND relation = 'memberships'::regclass`,
  );
  return Number(rows[0]?.waiting);
}
