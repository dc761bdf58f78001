import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { openTestDatabase } from '../support/test-engine.ts';

test('the two tables of a job share only the workspace column, so one row holds both', async (t) => {
  const { engine, reader } = await openTestDatabase(t, systemClock);
  const columnsOf = async (table: string) => {
    const rows = await reader.allSql<{ name: string }>(
      engine === 'sqlite'
        ? 'SELECT name FROM pragma_table_info(?)'
        : 'SELECT column_name AS name FROM information_schema.columns WHERE table_name = ?',
      [table],
    );
    return rows.map(({ name }) => name);
  };
  const ofEntries = await columnsOf('queue_entries');
  assert.ok(ofEntries.length > 20);
  for (const table of ['jobs', 'cloud_ai_jobs']) {
    const columns = await columnsOf(table);
    const shared = columns.filter((name) => ofEntries.includes(name));
    assert.deepEqual(shared, ['workspace_id'], table);
  }
});
