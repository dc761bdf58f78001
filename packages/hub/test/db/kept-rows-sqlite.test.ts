import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import type { KeptRead, RowWrite, TextWrite, Tx } from '../../src/db/engine.ts';
import { allKept } from '../../src/db/kept-reads.ts';
import { openSqlite } from '../../src/db/sqlite/sqlite-database.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { makeTempDir } from '../support/temp-dir.ts';

interface Row {
  name: string;
  seen: number;
}

const sql = 'SELECT name, seen FROM agents WHERE workspace_id = ?';
/** The names and times of a table; `name` is what its rows depend on. */
const byName: KeptRead = { sql, sources: ['agents.display_name'] };
const byTable: KeptRead = { sql, sources: ['agents'] };

const table = 'agents';
const insertOf = (name: string, display_name: string, seen: number): RowWrite => ({
  verb: 'insert',
  table,
  set: { workspace_id: 'w', name, display_name, seen },
  where: {},
});
const updateOf = (set: RowWrite['set']): RowWrite => ({
  verb: 'update',
  table,
  set,
  where: { workspace_id: 'w' },
});

/** A database with one row, which both statements have read. */
async function setup(t: TestContext) {
  const path = join(makeTempDir(t), 'test.db');
  let elapsedMs = 0;
  const database = openSqlite(path, createManualClock(), { elapsedMs: () => elapsedMs });
  t.after(() => database.close());
  const write = (change: RowWrite) => database.write(null, (tx) => tx.write(change));
  const run = (text: string, about?: TextWrite) =>
    database.write(null, (tx) => tx.runSql(text, [], about));
  await run('CREATE TABLE agents (workspace_id TEXT, name TEXT, display_name TEXT, seen INTEGER)');
  await write(insertOf('first', 'First', 1));
  const read = (tx: Tx, kept: KeptRead) => allKept<Row>(tx, kept, ['w']);
  const readNow = (kept: KeptRead) => database.write(null, (tx) => read(tx, kept));
  const setBehind = (seen: number) => {
    const other = new DatabaseSync(path);
    other.exec(`UPDATE agents SET seen = ${seen}`);
    other.close();
  };
  await readNow(byName);
  await readNow(byTable);
  const pass = (ms: number) => {
    elapsedMs += ms;
  };
  return { database, write, run, read, readNow, setBehind, pass };
}

const seenOf = (rows: readonly Row[]) => rows.map(({ seen }) => seen);

test('rows are read once, until their table or one of their columns is written', async (t) => {
  const { write, readNow } = await setup(t);
  assert.equal(await readNow(byName), await readNow(byName));
  await write(updateOf({ seen: 2 }));
  assert.deepEqual(seenOf(await readNow(byName)), [1], 'the column is not one that it depends on');
  assert.deepEqual(seenOf(await readNow(byTable)), [2]);
  await write(updateOf({ seen: 3, display_name: 'Other' }));
  assert.deepEqual(seenOf(await readNow(byName)), [3]);
  await write(insertOf('second', 'Second', 4));
  assert.deepEqual(seenOf(await readNow(byName)), [3, 4]);
  assert.deepEqual(seenOf(await readNow(byTable)), [3, 4]);
  await write({ verb: 'delete', table, set: {}, where: { name: 'first' } });
  assert.deepEqual(seenOf(await readNow(byName)), [4]);
  assert.deepEqual(seenOf(await readNow(byTable)), [4]);
});

test('what a failed action has written and read is not kept', async (t) => {
  const { database, read, readNow } = await setup(t);
  for (const kind of ['in a savepoint', 'run again']) {
    const failed = async (tx: Tx) => {
      await tx.write(updateOf({ seen: 9 }));
      assert.deepEqual(seenOf(await read(tx, byTable)), [9], kind);
      throw new Error('refused');
    };
    const scope = { workspaceId: 'w', keys: [] };
    const action =
      kind === 'run again' ? database.writeConcurrent(scope, failed) : database.write(null, failed);
    await assert.rejects(action, /refused/);
    assert.deepEqual(seenOf(await readNow(byTable)), [1], kind);
  }
});

test('rows that are written by a statement sent together with the read are not kept', async (t) => {
  const { database, write, read, readNow } = await setup(t);
  await write(updateOf({ seen: 2 }));
  await database.write(null, (tx) =>
    Promise.all([read(tx, byTable), tx.write(updateOf({ seen: 3 }))]),
  );
  assert.deepEqual(seenOf(await readNow(byTable)), [3]);
});

test('what another process writes is seen after a second', async (t) => {
  const { setBehind, pass, readNow } = await setup(t);
  setBehind(5);
  pass(999);
  assert.deepEqual(seenOf(await readNow(byTable)), [1]);
  pass(1);
  assert.deepEqual(seenOf(await readNow(byTable)), [5]);
});

test('a text that writes drops the rows of the table that it names, or all', async (t) => {
  const { run, readNow } = await setup(t);
  await run('UPDATE agents SET seen = 2', { verb: 'update', table: 'other' });
  assert.deepEqual(seenOf(await readNow(byName)), [1]);
  await run('UPDATE agents SET seen = 3', { verb: 'update', table });
  assert.deepEqual(seenOf(await readNow(byName)), [3], 'its columns are not known');
  await run('UPDATE agents SET seen = 4');
  assert.deepEqual(seenOf(await readNow(byTable)), [4]);
});
