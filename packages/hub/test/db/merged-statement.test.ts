import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  isMergeable,
  mergeReads,
  mergeWrites,
  numberPlaceholders,
} from '../../src/db/postgres/merged-statement.ts';
import { deleteOf, insertOf, plus, sql, updateOf } from '../../src/db/row-write.ts';

test('placeholders are numbered, but not within literals', () => {
  assert.equal(
    numberPlaceholders(`SELECT '?', 'it''s ?' WHERE a = ? AND b = ?`),
    `SELECT '?', 'it''s ?' WHERE a = $1 AND b = $2`,
  );
  assert.equal(numberPlaceholders('SELECT $1'), 'SELECT $1');
});

test('a write whose answer does not number the rows of values is not merged', () => {
  const update = updateOf('runs', { run_id: 'r' }, { title: 't' });
  assert.equal(isMergeable(update), true);
  const unmerged = [
    insertOf('hub_settings', { name: 'n', value: 'v' }),
    { ...update, returning: 'title' },
    deleteOf('runs', { run_id: 'r' }),
  ];
  for (const write of unmerged) assert.equal(isMergeable(write), false, write.verb);
});

test('a merged read takes an array for each value, with the type of the values', () => {
  const merged = mergeReads('SELECT a FROM notes WHERE a = $1 AND b > $2 AND c = $3 FOR UPDATE', [
    ['x', 1, null],
    ['y', 2.5, null],
  ]);
  assert.deepEqual(merged, {
    text:
      'SELECT v."~", q.* FROM unnest($1::text[], $2::double precision[]) WITH ORDINALITY ' +
      'AS v(p1, p2, "~") CROSS JOIN LATERAL ' +
      '(SELECT a FROM notes WHERE a = v.p1 AND b > v.p2 AND c = NULL FOR UPDATE) AS q',
    arrays: [
      ['x', 'y'],
      [1, 2.5],
    ],
  });
  assert.equal(mergeReads('SELECT 1', [[], []]), null);
  assert.equal(mergeReads('SELECT $1', [[null], [null]]), null);
});

test('a merged insert has a row for each row of values, and an update joins them', () => {
  const row = { name: sql("'?' || (SELECT ?)", 'x'), value: 'v' };
  assert.equal(
    mergeWrites(insertOf('hub_settings', row), [
      ['x', null],
      ['y', 'v'],
    ])?.text,
    "INSERT INTO hub_settings (name, value) SELECT '?' || (SELECT v.p1), v.p2 " +
      'FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS v(p1, p2, "~")',
  );
  const update = updateOf(
    'job_logs',
    { job_id: 'j', also: sql('log_seq < ?', 2) },
    { size_bytes: plus('size_bytes', 1), last_at: 0 },
  );
  assert.equal(
    mergeWrites(update, [
      [1, null, 'j', 2],
      [3, null, 'k', 4],
    ])?.text,
    'UPDATE job_logs SET size_bytes = size_bytes + v.p1, last_at = NULL ' +
      'FROM unnest($1::bigint[], $2::text[], $3::bigint[]) WITH ORDINALITY ' +
      'AS v(p1, p2, p3, "~") WHERE job_id = v.p2 AND (log_seq < v.p3) RETURNING v."~"',
  );
});
