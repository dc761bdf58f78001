import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RowWrite } from '../../src/db/engine.ts';
import { deleteOf, insertOf, plus, sql, toStatement, updateOf } from '../../src/db/row-write.ts';

const ref = { workspace_id: 'ws_1', run_id: 'run_1' };

/** Each write, the text that both engines make of it, and its values. */
const writes: readonly [RowWrite, string, readonly unknown[]][] = [
  [
    insertOf('run_milestones', { ...ref, seq: 1, milestone: 'm', status: 'started', at: 5 }),
    'INSERT INTO run_milestones (workspace_id, run_id, seq, milestone, status, at) ' +
      'VALUES (?, ?, ?, ?, ?, ?)',
    ['ws_1', 'run_1', 1, 'm', 'started', 5],
  ],
  [
    updateOf('runs', { ...ref, goal: null }, { title: 't', goal: 'g' }),
    'UPDATE runs SET title = ?, goal = ? WHERE workspace_id = ? AND run_id = ? AND goal IS NULL',
    ['t', 'g', 'ws_1', 'run_1'],
  ],
  [
    updateOf(
      'job_logs',
      { job_id: 'job_1', also: sql('log_seq < ? OR log_seq > ?', 3, 9) },
      { size_bytes: plus('size_bytes', 7), last_at: 5 },
    ),
    'UPDATE job_logs SET size_bytes = size_bytes + ?, last_at = ? ' +
      'WHERE job_id = ? AND (log_seq < ? OR log_seq > ?)',
    [7, 5, 'job_1', 3, 9],
  ],
  [
    { ...deleteOf('runs', { workspace_id: 'ws_1', run_id: ['a', 'b'] }), returning: 'run_id' },
    'DELETE FROM runs WHERE workspace_id = ? AND run_id IN (SELECT value FROM json_each(?)) ' +
      'RETURNING run_id',
    ['ws_1', '["a","b"]'],
  ],
  [
    {
      ...insertOf('hub_settings', { name: 'n', value: 'v' }),
      conflict: { columns: ['name'], set: { value: sql('excluded.value') } },
    },
    'INSERT INTO hub_settings (name, value) VALUES (?, ?) ' +
      'ON CONFLICT (name) DO UPDATE SET value = excluded.value',
    ['n', 'v'],
  ],
  [
    {
      ...insertOf('hub_settings', { name: 'n', value: 'v' }),
      conflict: { columns: ['name'], set: {} },
    },
    'INSERT INTO hub_settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING',
    ['n', 'v'],
  ],
];

test('the text of a write has its columns, conditions and values in their order', () => {
  for (const [write, text, values] of writes) {
    assert.deepEqual(toStatement(write), { text, values });
  }
});

test('a write that could choose more rows than it should is refused', () => {
  assert.throws(() => deleteOf('runs', {}), /chooses its rows/);
  const missing = { workspace_id: 'ws_1', run_id: undefined } as unknown as typeof ref;
  assert.throws(() => updateOf('runs', missing, { title: 't' }), /has a value/);
});
