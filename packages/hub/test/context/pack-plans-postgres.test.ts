import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { startContextWorld } from '../support/context-world.ts';
import { databaseUrlOf } from '../support/test-engine.ts';

/** Copies of the items that are there. */
const moreItems = `INSERT INTO context_items (workspace_id, item_id, kind, title, source, trust,
    pinned, truncated, content_hash, tokens, occurred_at, created_by, created_at, updated_at, text)
  SELECT workspace_id, item_id || n, kind, title, source, trust, pinned, truncated, content_hash,
    tokens, occurred_at - n, created_by, created_at, updated_at, text
  FROM context_items, generate_series(1, 5000) AS n`;

test('a pack finds each of its items by its key, also without statistics of PostgreSQL', async (t) => {
  const { add, build, dataDir } = await startContextWorld(t, { newDatabase: true });
  await add({ text: 'The first item.' });
  const copies: string[] = [];
  const query = pg.Client.prototype.query;
  t.mock.method(pg.Client.prototype, 'query', function (this: pg.Client, ...args: unknown[]) {
    const [first] = args as [string | { text: string }];
    const text = typeof first === 'string' ? first : first.text;
    if (/INTO context_pack_items/.test(text)) copies.push(text);
    return Reflect.apply(query, this, args);
  });
  await build();
  assert.equal(copies.length, 1);

  const plan = await explainCopy(await databaseUrlOf(dataDir), copies[0] ?? '');
  assert.match(plan, /Index Scan using context_items_pkey/);
  assert.doesNotMatch(plan, /Hash Join|Seq Scan on context_items|context_items_current/);
});

async function explainCopy(connectionString: string, sql: string): Promise<string> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await client.query(moreItems);
    // PostgreSQL knows how many items there are, and not that all are of one workspace.
    await client.query('ANALYZE context_items');
    await client.query(`DELETE FROM pg_statistic WHERE starelid = 'context_items'::regclass`);
    await client.query('SET plan_cache_mode = force_generic_plan');
    await client.query(`PREPARE copy AS ${sql}`);
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN EXECUTE copy ('pack', '[]', 'workspace')`,
    );
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  } finally {
    await client.end();
  }
}
