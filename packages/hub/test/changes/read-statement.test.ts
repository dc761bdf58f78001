import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readStatement } from '../../src/changes/read-statement.ts';
import type { RowWrite } from '../../src/db/engine.ts';
import { toStatement } from '../../src/db/row-write.ts';

const read = (sql: string) => readStatement(sql, (table) => table === 'runs' || table === 'jobs');

test('an insert tells its columns and the place of each value', () => {
  const statement = read('INSERT INTO jobs (workspace_id, job_id, seq) VALUES (?, ?, 1)');
  assert.equal(statement?.verb, 'insert');
  assert.deepEqual(statement.columns, ['workspace_id', 'job_id', 'seq']);
  assert.deepEqual(Object.fromEntries(statement.where), { workspace_id: 0, job_id: 1 });
});

test('values within an expression belong to no column, and count', () => {
  const statement = read(
    `INSERT INTO jobs (workspace_id, seq, job_id)
     VALUES (?, (SELECT MAX(e.seq) FROM e WHERE e.a = ? AND e.b IN (?, ?)), ?)`,
  );
  assert.deepEqual(Object.fromEntries(statement?.where ?? []), { workspace_id: 0, job_id: 4 });
});

test('ids within an expression select the row that an insert refers to', () => {
  const statement = read(
    `INSERT INTO jobs (job_key, kind)
     VALUES ((SELECT j.job_key FROM j WHERE j.workspace_id = ? AND j.job_id = ?), ?)`,
  );
  const told = { workspace_id: 0, job_id: 1, kind: 2 };
  assert.deepEqual(Object.fromEntries(statement?.where ?? []), told);
});

test('an insert of several rows tells the workspace only', () => {
  const statement = read('INSERT INTO jobs (workspace_id, job_id) VALUES (?, ?), (?, ?)');
  assert.deepEqual(Object.fromEntries(statement?.where ?? []), { workspace_id: 0 });
});

test('an update tells what it sets and which row', () => {
  const statement = read(
    `UPDATE jobs SET outcome = ?, message = coalesce(?, message), seq = seq + 1
     WHERE workspace_id = ? AND job_id = ? AND attempt = ?`,
  );
  assert.deepEqual(statement?.columns, ['outcome', 'message', 'seq']);
  assert.deepEqual(Object.fromEntries(statement.set), { outcome: 0 });
  assert.equal(statement.where.get('workspace_id'), 2);
  assert.equal(statement.where.get('job_id'), 3);
});

test('a deletion of a list tells no id', () => {
  const statement = read('DELETE FROM jobs WHERE workspace_id = ? AND job_id IN (SELECT ?)');
  assert.equal(statement?.verb, 'delete');
  assert.deepEqual([...statement.where.keys()], ['workspace_id']);
});

test('row locks, other tables and upserts of other tables are no writes of a table', () => {
  assert.equal(read('WITH c AS (SELECT 1) SELECT * FROM jobs FOR NO KEY UPDATE OF e'), null);
  assert.equal(read('INSERT INTO other (job_id) VALUES (?) ON CONFLICT DO UPDATE SET a = 1'), null);
});

test('the text of a write tells what its data does', () => {
  const set = { title: 't', message: null };
  const row = { workspace_id: 'ws_1', run_id: 'run_1' };
  const [insert, update, remove] = [
    { verb: 'insert', set: { ...row, ...set }, where: {} },
    { verb: 'update', set, where: row },
    { verb: 'delete', set: {}, where: row },
  ].map((write) => toStatement({ ...write, table: 'runs', unless: [] } as RowWrite));
  const told = [insert, update, remove].map((text) => {
    const statement = read(text?.sql ?? '');
    const valuesOf = (places: ReadonlyMap<string, number> | undefined) =>
      Object.fromEntries([...(places ?? [])].map(([name, at]) => [name, text?.values[at]]));
    return [statement?.verb, valuesOf(statement?.set), valuesOf(statement?.where)];
  });
  assert.deepEqual(told, [
    ['insert', { ...row, ...set }, { ...row, ...set }],
    ['update', set, row],
    ['delete', {}, row],
  ]);
});

test('a column without a value is told apart, and a row that exists may stay', () => {
  const update = toStatement({
    verb: 'update',
    table: 'runs',
    set: { title: 't' },
    where: { workspace_id: 'ws_1', goal: null },
    unless: [],
  });
  assert.deepEqual(update, {
    sql: 'UPDATE runs SET title = ? WHERE workspace_id = ? AND goal IS NULL',
    values: ['t', 'ws_1'],
  });
  const insert = toStatement({
    verb: 'insert',
    table: 'runs',
    set: { workspace_id: 'ws_1', run_ref: 'r' },
    where: {},
    unless: ['workspace_id', 'run_ref'],
  });
  assert.equal(
    insert.sql,
    'INSERT INTO runs (workspace_id, run_ref) VALUES (?, ?) ' +
      'ON CONFLICT (workspace_id, run_ref) DO NOTHING',
  );
});
