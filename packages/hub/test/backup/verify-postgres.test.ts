import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import pg from 'pg';
import { checkTransactions } from '../../src/diagnosis/check-transactions.ts';
import { readConfig } from '../../src/start/config.ts';
import { diagnoseHub, verifyHub } from '../../src/start/operate.ts';
import { startHomeWorld } from '../support/home-world.ts';
import { databaseUrlOf } from '../support/test-engine.ts';
import { until } from '../support/until.ts';
import { upload } from '../support/upload-setup.ts';

test('verify and doctor read a hub on PostgreSQL while it runs', async (t) => {
  const h = await startHomeWorld(t);
  const { workspaceId, repoId } = h.home;
  const body = { workspaceId, repoId, kind: 'work', prompt: 'Do it.' } as const;
  const { jobId } = await h.call(endpoints.jobs.enqueue, body);
  await upload(h, 'the plan');
  const databaseUrl = await databaseUrlOf(h.dataDir);
  const config = { ...readConfig({}), dataDir: h.dataDir, databaseUrl, databaseSessions: 3 };
  const problems = async () =>
    (await verifyHub(config, null)).flatMap((part) => part.problems).join(' ');
  assert.equal(await problems(), '');
  const findings = await diagnoseHub(config);
  const states = Object.fromEntries(findings.map(({ name, state }) => [name, state]));
  const whole = { Disk: 'ok', Clock: 'ok', Transactions: 'ok', Key: 'ok', Mail: 'ok' } as const;
  assert.partialDeepStrictEqual(states, whole);
  // The server of the tests is faster than safe, which a hub's operator should know.
  const warnings = findings.filter(({ name, state }) => name === 'Database' && state === 'warning');
  assert.ok(warnings.some(({ message }) => /PostgreSQL has synchronous_commit off/.test(message)));
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query("UPDATE audit_entries SET actor = 'eve' WHERE seq = 1");
    await client.query('DELETE FROM queue_entries');
  } finally {
    await client.end();
  }
  const found = await problems();
  assert.match(found, /audit log of the workspace \S+ is broken at entry 1 \(altered-entry\)/);
  assert.match(found, new RegExp(`job ${jobId} has no entry`));
});

test('doctor says what is wrong with a database that does not answer', async (t) => {
  const { dataDir } = await startHomeWorld(t);
  const databaseUrl = 'postgres://nobody:x@127.0.0.1:1/none';
  const findings = await diagnoseHub({ ...readConfig({}), dataDir, databaseUrl });
  const [database] = findings.filter(({ name }) => name === 'Database');
  assert.equal(database?.state, 'wrong');
  assert.match(database?.message ?? '', /127\.0\.0\.1:1\/none cannot be used .*ECONNREFUSED/);
});

test('doctor names a transaction that was left open, and how to end it', async (t) => {
  const h = await startHomeWorld(t, { newDatabase: true });
  const client = new pg.Client({ connectionString: await databaseUrlOf(h.dataDir) });
  await client.connect();
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT txid_current()');
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const remedy = `SELECT pg_terminate_backend(${rows[0]?.pid})`;
    const open = /^Session .* idle in transaction\) has a transaction that has been open for \d+ s/;
    // The hub may have one that is older, for some milliseconds.
    await until('the transaction is the oldest', async () => {
      const { state, message } = await checkTransactions(h.hub.database.reader, 0);
      return state === 'warning' && open.test(message) && message.includes(remedy);
    });
    await client.query('COMMIT');
  } finally {
    await client.end();
  }
});
