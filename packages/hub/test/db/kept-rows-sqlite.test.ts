import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import type { KeptRead, Tx } from '../../src/db/engine.ts';
import { allKept } from '../../src/db/kept-reads.ts';
import { sourcesWritten } from '../../src/db/sqlite/kept-rows.ts';
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

/** A database with one row, which both statements have read. */
async function setup(t: TestContext) {
  const path = join(makeTempDir(t), 'test.db');
  let elapsedMs = 0;
  const database = openSqlite(path, createManualClock(), { elapsedMs: () => elapsedMs });
  t.after(() => database.close());
  const write = (text: string) => database.write(null, (tx) => tx.runSql(text, []));
  await write(
    'CREATE TABLE agents (workspace_id TEXT, name TEXT, display_name TEXT, seen INTEGER)',
  );
  await write("INSERT INTO agents VALUES ('w', 'first', 'First', 1)");
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
  return { database, write, read, readNow, setBehind, pass };
}

const seenOf = (rows: readonly Row[]) => rows.map(({ seen }) => seen);

test('rows are read once, until their table or one of their columns is written', async (t) => {
  const { write, readNow } = await setup(t);
  assert.equal(await readNow(byName), await readNow(byName));
  await write('UPDATE agents SET seen = 2');
  assert.deepEqual(seenOf(await readNow(byName)), [1], 'the column is not one that it depends on');
  assert.deepEqual(seenOf(await readNow(byTable)), [2]);
  await write("UPDATE agents SET seen = 3, display_name = 'Other'");
  assert.deepEqual(seenOf(await readNow(byName)), [3]);
  await write("INSERT INTO agents VALUES ('w', 'second', 'Second', 4)");
  assert.deepEqual(seenOf(await readNow(byName)), [3, 4]);
  assert.deepEqual(seenOf(await readNow(byTable)), [3, 4]);
  await write("DELETE FROM agents WHERE name = 'first'");
  assert.deepEqual(seenOf(await readNow(byName)), [4]);
  assert.deepEqual(seenOf(await readNow(byTable)), [4]);
});

test('what a failed action has written and read is not kept', async (t) => {
  const { database, read, readNow } = await setup(t);
  for (const kind of ['in a savepoint', 'run again']) {
    const failed = async (tx: Tx) => {
      await tx.runSql('UPDATE agents SET seen = 9', []);
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
  await write('UPDATE agents SET seen = 2');
  await database.write(null, (tx) =>
    Promise.all([read(tx, byTable), tx.runSql('UPDATE agents SET seen = 3', [])]),
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

test('a statement tells what it writes', () => {
  const cases: [string, readonly string[] | 'any'][] = [
    ['SELECT * FROM a WHERE b = ?', []],
    ['WITH few AS (SELECT 1) SELECT * FROM few', []],
    ['INSERT INTO a (b) VALUES (?) ON CONFLICT DO UPDATE SET b = ?', ['a', 'a.*']],
    ['INSERT OR REPLACE INTO a (b) SELECT c FROM d', ['a', 'a.*']],
    ['DELETE FROM "a" WHERE b = ?', ['a', 'a.*']],
    ['UPDATE a SET b = (SELECT c FROM d), "e" = ?', ['a', 'a.b', 'a.e']],
    ['WITH few AS (SELECT 1) UPDATE a AS x SET b = 1', ['a', 'a.b']],
    ['ALTER TABLE a ADD COLUMN b TEXT', 'any'],
  ];
  for (const [text, sources] of cases) assert.deepEqual(sourcesWritten(text), sources, text);
});
