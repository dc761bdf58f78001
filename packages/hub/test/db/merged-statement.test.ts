import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mergeStatement, numberPlaceholders } from '../../src/db/postgres/merged-statement.ts';

test('placeholders are numbered, but not within literals', () => {
  assert.equal(
    numberPlaceholders(`SELECT '?', 'it''s ?' WHERE a = ? AND b = ?`),
    `SELECT '?', 'it''s ?' WHERE a = $1 AND b = $2`,
  );
  assert.equal(numberPlaceholders('SELECT $1'), 'SELECT $1');
});

test('a statement whose answer does not number the rows of values is not merged', () => {
  const unmerged = [
    'INSERT INTO notes (a) VALUES ($1) ON CONFLICT DO NOTHING',
    'INSERT INTO notes (a) VALUES ($1) RETURNING a',
    'INSERT INTO notes (a) SELECT $1',
    'UPDATE notes SET b = 1 WHERE a = $1 RETURNING b',
    'DELETE FROM notes WHERE a = $1',
    'WITH x AS (SELECT $1) SELECT * FROM x',
    'UPDATE notes AS n SET a = 1 WHERE n.a = $1',
  ];
  for (const text of unmerged) assert.equal(mergeStatement(text, ['text']), null, text);
  assert.equal(mergeStatement('SELECT 1', []), null);
});

test('a merged statement takes an array for each parameter', () => {
  const merged = mergeStatement('SELECT a FROM notes WHERE a = $1 AND b > $2 FOR UPDATE', [
    'text',
    'bigint',
  ]);
  assert.equal(
    merged?.text,
    'SELECT v."~", q.* FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS v(p1, p2, "~") ' +
      'CROSS JOIN LATERAL (SELECT a FROM notes WHERE a = v.p1 AND b > v.p2 FOR UPDATE) AS q',
  );
  assert.equal(merged.numbersRows, true);
});
