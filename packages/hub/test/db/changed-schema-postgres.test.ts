import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createTestDatabase } from '@signalbox/local-postgres';
import pg from 'pg';
import { actFor } from '../../src/db/acting-caller.ts';
import type { BatchedWork, Database, KeptRead, Tx } from '../../src/db/engine.ts';
import { allKept } from '../../src/db/kept-reads.ts';
import { openPostgres } from '../../src/db/postgres/postgres-database.ts';

/*
 * The schema changes while a hub runs, as when a newer hub migrates. PostgreSQL then refuses the
 * prepared statements of each session whose rows would have other columns (0A000).
 */

const limits = {
  connectMs: 30_000,
  statementMs: 30_000,
  lockMs: 30_000,
  idleInTransactionMs: 30_000,
};

const template = {
  fingerprint: 'changed schema 1',
  async prepare(url: string) {
    const database = openPostgres({ url, sessionsMax: 3, limits, isPooled: false });
    await database.write(null, async (tx) => {
      await tx.runSql('CREATE TABLE notes (note TEXT NOT NULL PRIMARY KEY, amount BIGINT)', []);
      await tx.runSql("INSERT INTO notes VALUES ('first', 1)", []);
    });
    await database.close();
  },
};

const SELECT = 'SELECT * FROM notes WHERE note = ?';
// The table is of this test only.
const byNote = { sql: SELECT, sources: ['notes'] } as unknown as KeptRead;

const batchedRead: BatchedWork<string, object | undefined> = {
  run: (reader, notes) => Promise.all(notes.map((note) => reader.firstSql<object>(SELECT, [note]))),
};

const hot = { workspaceId: 'home', keys: [] };
const read = (tx: Tx) => tx.firstSql<object>(SELECT, ['first']);
const readKept = async (tx: Tx) => (await allKept(tx, byNote, ['first']))[0];

/** The ways to the database, each of which gives a row of the table with all its columns. */
const paths: Record<string, (hub: Database, at: number) => Promise<object | undefined>> = {
  'short read': (hub) => hub.reader.firstSql(SELECT, ['first']),
  'long read': (hub, at) => {
    const caller = { key: `person ${at}`, workspaceId: 'home', guard: null, isLongRead: true };
    return actFor(caller, () => hub.reader.firstSql(SELECT, ['first']));
  },
  'exclusive action': (hub) => hub.write('home', read),
  'exclusive action of a workspace each': (hub, at) => hub.write(`home ${at}`, read),
  'exclusive action that writes': (hub) =>
    hub.write('home', async (tx) => {
      const { rows } = await tx.runSql('UPDATE notes SET amount = 2 RETURNING *', []);
      return rows[0];
    }),
  'action of the whole database': (hub) => hub.write(null, read),
  'concurrent action': (hub) => hub.writeConcurrent(hot, read),
  'concurrent action of a workspace each': (hub, at) =>
    hub.writeConcurrent({ workspaceId: `home ${at}`, keys: [] }, read),
  'concurrent action that has written': (hub, at) =>
    hub.writeConcurrent({ workspaceId: 'home', keys: [`${at}`] }, async (tx) => {
      await tx.runSql('INSERT INTO notes (note) VALUES (?) ON CONFLICT DO NOTHING', [`note ${at}`]);
      return read(tx);
    }),
  'batched read': (hub) =>
    hub.writeConcurrent(hot, async (tx) => {
      await tx.firstSql('SELECT 1 AS one', []);
      return tx.runBatched(batchedRead, 'first');
    }),
  'early read': (hub) =>
    hub.writeConcurrent({ ...hot, kind: 'note' }, async (tx) => {
      await tx.firstSql('SELECT 1 AS one', []);
      return readKept(tx);
    }),
};

async function openWorld(t: TestContext) {
  const { url, drop } = await createTestDatabase(template);
  const hub = openPostgres({ url, sessionsMax: 9, limits, isPooled: false });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  t.after(async () => {
    await hub.close();
    await client.end();
    await drop();
  });
  let columns = 0;
  const addColumn = async () => {
    columns += 1;
    await client.query(`ALTER TABLE notes ADD COLUMN later_${columns} TEXT DEFAULT 'x'`);
    return `later_${columns}`;
  };
  return { hub, addColumn };
}

const AT_ONCE = 40;

for (const [name, take] of Object.entries(paths)) {
  test(`a schema that changes under a hub fails no ${name}`, async (t) => {
    const { hub, addColumn } = await openWorld(t);
    const takeMany = () =>
      Promise.all(Array.from({ length: AT_ONCE }, (_none, at) => take(hub, at)));
    for (let change = 0; change < 3; change++) {
      await takeMany();
      await takeMany();
      const column = await addColumn();
      for (const row of await takeMany()) {
        assert.ok(row !== undefined && column in row, `a row without ${column}`);
      }
    }
  });
}

test('an early read whose result is not used fails no action', async (t) => {
  const { hub, addColumn } = await openWorld(t);
  const act = <T>(action: (tx: Tx) => Promise<T>) =>
    hub.writeConcurrent({ ...hot, kind: 'note' }, action);
  await act(async (tx) => {
    await tx.firstSql('SELECT 1 AS one', []);
    return readKept(tx);
  });
  // On the same session as the next one.
  await act(readKept);
  await addColumn();
  assert.equal(await act(async () => 'done'), 'done');
});

test('a statement that every new session refuses too is 503, and no fault', async (t) => {
  const { hub } = await openWorld(t);
  // The error by which PostgreSQL refuses such a statement.
  const refused = Object.assign(new Error('cached plan must not change result type'), {
    code: '0A000',
    routine: 'RevalidateCachedQuery',
  });
  const refuse = () => Promise.reject(refused);
  const unavailable = { code: 'UNAVAILABLE', retryAfterMs: 1_000 };
  await assert.rejects(hub.write('home', refuse), unavailable);
  await assert.rejects(hub.writeConcurrent(hot, refuse), unavailable);
});
