import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createTestDatabase } from '@signalbox/local-postgres';
import type { Database, Reader, Tx } from '../../src/db/engine.ts';
import { openPostgres } from '../../src/db/postgres/postgres-database.ts';

/*
 * Writes that leave without an answer, together with those of other actions, and actions that begin
 * before their transaction has.
 */

const limits = {
  connectMs: 30_000,
  statementMs: 30_000,
  lockMs: 30_000,
  idleInTransactionMs: 30_000,
};

const template = {
  fingerprint: 'sent writes 1',
  async prepare(url: string) {
    const database = openPostgres({ url, sessionsMax: 3, limits, isPooled: false });
    await database.write(null, (tx) =>
      tx.runSql(
        `CREATE TABLE notes (workspace_id TEXT NOT NULL, note TEXT NOT NULL, amount BIGINT,
           PRIMARY KEY (workspace_id, note))`,
        [],
      ),
    );
    await database.close();
  },
};

async function openHub(t: TestContext): Promise<Database> {
  const { url, drop } = await createTestDatabase(template);
  const hub = openPostgres({ url, sessionsMax: 9, limits, isPooled: false });
  t.after(async () => {
    await hub.close();
    await drop();
  });
  return hub;
}

const readNote = (reader: Reader, note: string) =>
  reader.firstSql<{ note: string; amount: number }>(
    'SELECT note, amount FROM notes WHERE workspace_id = ? AND note = ?',
    ['home', note],
  );

async function listNotes(database: Database): Promise<string[]> {
  const rows = await database.reader.allSql<{ note: string }>(
    'SELECT note FROM notes ORDER BY note',
    [],
  );
  return rows.map((row) => row.note);
}

const act = (
  database: Database,
  names: readonly string[],
  action: (tx: Tx, name: string, at: number) => Promise<void>,
) =>
  Promise.allSettled(
    names.map((name, at) =>
      database.writeConcurrent({ workspaceId: 'home', keys: [name] }, (tx) => action(tx, name, at)),
    ),
  );

/** A lone action merges nothing. */
const sets = [
  ['lone', 1],
  ['first', 20],
  ['second', 20],
  ['third', 20],
] as const;
const namesOf = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, at) => `${prefix} ${String(at).padStart(3, '0')}`);

const insertNote = (tx: Tx, note: string) =>
  tx.runSql('INSERT INTO notes (workspace_id, note) VALUES (?, ?)', ['home', note]);

const sendNote = (tx: Tx, note: string, amount: number) =>
  tx.send({
    verb: 'insert',
    table: 'notes',
    set: { workspace_id: 'home', note, amount },
    where: {},
  });

const sendAmount = (tx: Tx, note: string, amount: number) =>
  tx.send({
    verb: 'update',
    table: 'notes',
    set: { amount },
    where: { workspace_id: 'home', note },
  });

test('writes that are sent are there for the next read and at the end, in their order', async (t) => {
  const database = await openHub(t);
  for (const [prefix, count] of sets) {
    const names = namesOf(prefix, count);
    const ends = await act(database, names, async (tx, name, at) => {
      assert.equal(await readNote(tx, name), undefined);
      sendNote(tx, name, 1);
      sendAmount(tx, name, 2);
      assert.deepEqual(await readNote(tx, name), { note: name, amount: 2 });
      // Every second action sends the same texts in another order.
      if (at % 2 === 0) sendNote(tx, `${name} child`, 3);
      sendAmount(tx, name, 4);
      if (at % 2 === 1) sendNote(tx, `${name} child`, 3);
      sendAmount(tx, `${name} child`, 5);
      sendAmount(tx, name, 6);
    });
    assert.ok(ends.every((end) => end.status === 'fulfilled'));
    for (const name of names) {
      assert.deepEqual(await database.write('home', (tx) => readNote(tx, name)), {
        note: name,
        amount: 6,
      });
      const child = await database.write('home', (tx) => readNote(tx, `${name} child`));
      assert.equal(child?.amount, 5);
    }
  }
});

test('an action whose sent write finds no row fails after it returned, and the others commit', async (t) => {
  const database = await openHub(t);
  const calls: string[] = [];
  for (const [prefix, count] of sets) {
    const names = namesOf(prefix, count);
    const ends = await act(database, names, async (tx, name, at) => {
      await readNote(tx, name);
      tx.afterCommit(() => calls.push(name));
      sendNote(tx, name, at);
      sendAmount(tx, at === 0 ? 'missing' : name, at);
    });
    assert.deepEqual(
      ends.map((end) => end.status),
      names.map((_name, at) => (at === 0 ? 'rejected' : 'fulfilled')),
    );
    const kept = (await listNotes(database)).filter((note) => note.startsWith(prefix));
    assert.deepEqual(kept, names.slice(1));
    assert.deepEqual(
      calls.filter((name) => name.startsWith(prefix)),
      names.slice(1),
    );
  }
  await assert.rejects(
    database.write('home', async (tx) => sendAmount(tx, 'missing', 1)),
    /changed 0 rows instead of one/,
  );
});

test('an action that writes or takes the time before it reads has its effects once', async (t) => {
  const database = await openHub(t);
  const calls: string[] = [];
  const began: string[] = [];
  await act(database, ['sends', 'writes', 'times'], async (tx, name) => {
    began.push(name);
    tx.afterCommit(() => calls.push(name));
    if (name === 'sends') sendNote(tx, name, 1);
    if (name === 'writes') await insertNote(tx, name);
    if (name === 'times') assert.ok(Math.abs(tx.nowMs - Date.now()) < 600_000);
  });
  assert.deepEqual(calls.toSorted(), ['sends', 'times', 'writes']);
  assert.deepEqual(await listNotes(database), ['sends', 'writes']);
  // It does not wait for the clock: it runs again when the transaction has begun.
  assert.equal(began.length, 6);
});
