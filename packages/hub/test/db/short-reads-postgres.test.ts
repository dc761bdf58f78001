import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createTestDatabase } from '@signalbox/local-postgres';
import pg from 'pg';
import { actFor } from '../../src/db/acting-caller.ts';
import { openPostgres } from '../../src/db/postgres/postgres-database.ts';
import { JOINED_MS } from '../../src/db/postgres/short-reads.ts';

/* How reads share the connections for reads: a third of those that a hub may have. */

const limits = { connectMs: 3_000, statementMs: 5_000, lockMs: 4_000, idleInTransactionMs: 5_000 };
const OWN_PID = 'SELECT pg_backend_pid() AS pid';

const template = { fingerprint: 'postgres-short-reads 1', prepare: async () => undefined };

async function openHub(t: TestContext, sessionsMax: number) {
  const { url, drop } = await createTestDatabase(template);
  const hub = openPostgres({ url, sessionsMax, limits, isPooled: false });
  t.after(async () => {
    await hub.close();
    await drop();
  });
  const read = (key: string, sql: string, isLongRead = false) =>
    actFor({ key, workspaceId: key, guard: null, isLongRead }, () =>
      hub.reader.allSql<{ pid: number }>(sql, []),
    );
  return { url, read };
}

test('reads of one turn share half of the connections for reads', async (t) => {
  const { read } = await openHub(t, 12);
  const readAll = async () => {
    const beganMs = performance.now();
    const reads = Array.from({ length: 16 }, () => read('agent', OWN_PID));
    const tookMs = performance.now() - beganMs;
    return { answers: await Promise.all(reads), tookMs };
  };
  let { answers, tookMs } = await readAll();
  // On a busy machine a turn may be interrupted for longer than reads join a connection.
  while (tookMs >= JOINED_MS) ({ answers, tookMs } = await readAll());
  const pids = Map.groupBy(answers, ([row]) => row?.pid);
  assert.deepEqual(
    [...pids.values()].map((reads) => reads.length),
    [8, 8],
  );
});

test('a read waits for no more than its share, however many reads of another caller wait', async (t) => {
  const { read } = await openHub(t, 3);
  const ended: string[] = [];
  const note = (key: string) => read(key, OWN_PID).then(() => ended.push(key));
  const flood = Array.from({ length: 200 }, () => note('attacker'));
  await Promise.all([...flood, note('agent')]);
  const place = ended.indexOf('agent');
  assert.ok(place <= 2 * 16, `${place} reads ended before it`);
});

test('a long read gets the only connection although short reads never end', async (t) => {
  const { read } = await openHub(t, 3);
  let isOver = false;
  // Long enough that their answers arrive one by one, so that one is always under way.
  const readOn = async () => {
    while (!isOver) await read('agent', 'SELECT pg_sleep(0.01)');
  };
  const short = Array.from({ length: 4 }, readOn);
  await read('console', OWN_PID, true);
  isOver = true;
  await Promise.all(short);
});

test('reads whose connection breaks are asked again on another one', async (t) => {
  const { url, read } = await openHub(t, 3);
  const [first] = await read('agent', OWN_PID);
  const sleep = 'SELECT pg_backend_pid() AS pid, pg_sleep(0.5)';
  const reads = [read('agent', sleep), read('agent', OWN_PID), read('agent', OWN_PID)];
  const operator = new pg.Client({ connectionString: url });
  await operator.connect();
  for (let ended = 0; ended === 0; ) {
    const { rows } = await operator.query<{ ended: number }>(
      `SELECT COUNT(*) FILTER (WHERE pg_terminate_backend(pid))::int AS ended
       FROM pg_stat_activity WHERE query = $1`,
      [sleep],
    );
    ended = rows[0]?.ended ?? 0;
  }
  await operator.end();
  const pids = (await Promise.all(reads)).map(([row]) => row?.pid);
  assert.equal(new Set(pids).size, 1, 'all of them on one connection again');
  assert.notEqual(pids[0], first?.pid);
});
