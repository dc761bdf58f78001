import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createTestDatabase } from '@signalbox/local-postgres';
import type { Database, KeptRead, Tx } from '../../src/db/engine.ts';
import { allKept } from '../../src/db/kept-reads.ts';
import { openPostgres } from '../../src/db/postgres/postgres-database.ts';

/* What actions of a kind asked for late, the next transaction reads early. */

const limits = {
  connectMs: 30_000,
  statementMs: 30_000,
  lockMs: 30_000,
  idleInTransactionMs: 30_000,
};

const template = {
  fingerprint: 'early reads 1',
  async prepare(url: string) {
    const database = openPostgres({ url, sessionsMax: 3, limits, isPooled: false });
    await database.write(null, async (tx) => {
      await tx.runSql('CREATE TABLE notes (note TEXT NOT NULL PRIMARY KEY, amount BIGINT)', []);
      await tx.runSql("INSERT INTO notes VALUES ('first', 1), ('second', 2)", []);
    });
    await database.close();
  },
};

async function openHubs(t: TestContext): Promise<[Database, Database]> {
  const { url, drop } = await createTestDatabase(template);
  const open = () => openPostgres({ url, sessionsMax: 9, limits, isPooled: false });
  const hubs: [Database, Database] = [open(), open()];
  t.after(async () => {
    for (const hub of hubs) await hub.close();
    await drop();
  });
  return hubs;
}

// The table is of this test only.
const byNote = {
  sql: 'SELECT amount FROM notes WHERE note = ?',
  sources: ['notes'],
} as unknown as KeptRead;

/** Reads a note after another read, so that the transaction has begun. */
async function readLate(tx: Tx, note: string): Promise<number | undefined> {
  await tx.firstSql('SELECT 1 AS one', []);
  const [row] = await allKept<{ amount: number }>(tx, byNote, [note]);
  return row?.amount;
}

const act = <T>(hub: Database, action: (tx: Tx) => Promise<T>) =>
  hub.writeConcurrent({ workspaceId: 'home', keys: [], kind: 'note' }, action);

const setAmount = (hub: Database, note: string, amount: number) =>
  hub.write('home', (tx) =>
    tx.runSql('UPDATE notes SET amount = ? WHERE note = ?', [amount, note]),
  );

test('a row that was read early is that of its own transaction', async (t) => {
  const [hub, other] = await openHubs(t);
  assert.equal(await act(hub, (tx) => readLate(tx, 'first')), 1);
  await setAmount(other, 'first', 10);
  assert.equal(await act(hub, (tx) => readLate(tx, 'first')), 10);
  await setAmount(hub, 'first', 11);
  const read = () => act(hub, (tx) => readLate(tx, 'first'));
  assert.deepEqual(await Promise.all([read(), read(), read()]), [11, 11, 11]);
});

test('an action that asks for other values than those before gets their rows', async (t) => {
  const [hub] = await openHubs(t);
  const notes = ['first', 'second', 'none', 'second', 'first'];
  const amounts: (number | undefined)[] = [];
  for (const note of notes) amounts.push(await act(hub, (tx) => readLate(tx, note)));
  assert.deepEqual(amounts, [1, 2, undefined, 2, 1]);
  const many = Array.from({ length: 40 }, (_none, at) => (at % 2 === 0 ? 'first' : `no ${at}`));
  const read = () => Promise.all(many.map((note) => act(hub, (tx) => readLate(tx, note))));
  const expected = many.map((note) => (note === 'first' ? 1 : undefined));
  assert.deepEqual([await read(), await read()], [expected, expected]);
});

test('a statement that fails when it is made early fails no second transaction', async (t) => {
  const [hub] = await openHubs(t);
  await act(hub, (tx) => readLate(tx, 'first'));
  await hub.write(null, (tx) => tx.runSql('ALTER TABLE notes RENAME TO renamed', []));
  let runs = 0;
  const actOnce = () =>
    act(hub, async (tx) => {
      runs += 1;
      return tx.firstSql('SELECT 1 AS one', []);
    });
  await actOnce();
  runs = 0;
  await actOnce();
  assert.equal(runs, 1);
});
