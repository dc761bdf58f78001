import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import pg from 'pg';
import { keysOf } from '../../../src/context/search/postgres-keys.ts';
import { searchItemIds, splitText } from '../../../src/context/search/search.ts';
import { startContextWorld } from '../../support/context-world.ts';
import { databaseUrlOf } from '../../support/test-engine.ts';

/** Enough for several eras, and for words that are estimated to be common. */
const ITEMS = 25_000;
const PIECE = 5_000;
const OLD_ITEMS = 3_000;

const idOf = (at: number) => `ctx_${String(at).padStart(32, '0')}`;

/** Every item says "every", every second one "deploy"; the oldest ones "legacy", few "rare". */
function textOf(at: number): string {
  const said = ['every', at % 2 === 0 ? 'deploy' : 'build'];
  if (at < OLD_ITEMS) said.push('legacy');
  if (at % 5_000 === 7) said.push('rare');
  return said.join(' ');
}

/** Writes the words of many items into the index; through the API this would take minutes. */
async function setupGrown(t: TestContext) {
  const h = await startContextWorld(t);
  const { workspaceId } = h;
  await h.hub.database.write(workspaceId, async (tx) => {
    const { rows: scopes } = await tx.runSql(
      `INSERT INTO context_search_workspaces (workspace_id, rows_written, items, terms)
       VALUES (?, ?, ?, ?) RETURNING workspace_no`,
      [workspaceId, ITEMS - 1, ITEMS, ITEMS * 2],
    );
    const { workspace_no: workspaceNo } = scopes[0] as { workspace_no: number };
    for (let from = 0; from < ITEMS; from += PIECE) {
      const rows = Array.from({ length: PIECE }, (_none, n) => {
        const title = splitText('postgres', '');
        const text = splitText('postgres', textOf(from + n));
        const item = { workspaceId, itemId: idOf(from + n), title, text };
        const keys = keysOf({ ...item, isCurrent: true }, workspaceNo, from + n);
        return { item_id: item.itemId, row_no: from + n, keys };
      });
      await tx.runSql(
        `INSERT INTO context_search (workspace_id, item_id, row_no, terms, keys)
         SELECT ?, item_id, row_no, 2, keys
         FROM jsonb_to_recordset(?::jsonb) AS r(item_id text, row_no bigint, keys text)`,
        [workspaceId, JSON.stringify(rows)],
      );
    }
  });
  const find = (words: string, limit = 5) =>
    searchItemIds(h.hub.database.reader, {
      workspaceId,
      terms: words.split(' '),
      includeSuperseded: false,
      limit,
    });
  return { ...h, find };
}

const absent = Array.from({ length: 11 }, (_none, n) => `absent${n}`).join(' ');
const lastOf = (positions: number[]) => positions.map(idOf);

test('common words are recognized from the latest items and searched era by era', async (t) => {
  const { find } = await setupGrown(t);
  assert.deepEqual(await find('every'), lastOf([24_999, 24_998, 24_997, 24_996, 24_995]));
  assert.deepEqual(await find('every deploy', 3), lastOf([24_998, 24_996, 24_994]));
  const all = await find('every', ITEMS);
  assert.equal(all.length, ITEMS, 'through all eras');
  assert.equal(new Set(all).size, ITEMS, 'each once');
  assert.deepEqual(all.slice(-2), lastOf([1, 0]));
  // With so many words each has a small share, so even this one counts as common.
  assert.deepEqual(await find(`legacy ${absent}`, 2), lastOf([2_999, 2_998]));
  assert.deepEqual(await find(`deploy legacy ${absent}`, 2), lastOf([2_998, 2_996]));
  assert.deepEqual(
    await find('every rare deploy'),
    lastOf([20_007, 15_007, 10_007, 5_007, 7]),
    'a rare word alone decides',
  );
});

test('every statement of a search reads the word index, in a small workspace as well', async (t) => {
  const h = await setupGrown(t);
  const statements = new Map<string, unknown[]>();
  const query = pg.Client.prototype.query;
  t.mock.method(pg.Client.prototype, 'query', function (this: pg.Client, ...args: unknown[]) {
    const [first] = args as [string | { text: string; values: unknown[] }];
    if (typeof first === 'object') statements.set(first.text, first.values);
    return Reflect.apply(query, this, args);
  });
  await h.find('every deploy');
  await h.find('rare every');
  const other = await h.addWorkspace('small');
  const searches = [...statements].filter(([text]) => /\bcontext_search s\b/.test(text));
  assert.ok(searches.length >= 4, `${searches.length} statements`);
  const plans = await explainAll(h.dataDir, searches, (value) =>
    value === h.workspaceId ? other.workspaceId : value,
  );
  for (const { text, plan } of plans) {
    assert.match(plan, /Bitmap Index Scan on context_search_by_key/, text);
    assert.doesNotMatch(plan, /Seq Scan on context_search|context_search_pkey/, text);
  }
});

/** Plans for the given values, for swapped values, and the generic plan. */
async function explainAll(
  dataDir: string,
  statements: readonly [text: string, values: unknown[]][],
  exchange: (value: unknown) => unknown,
): Promise<{ text: string; plan: string }[]> {
  const client = new pg.Client({ connectionString: await databaseUrlOf(dataDir) });
  await client.connect();
  try {
    const plans: { text: string; plan: string }[] = [];
    await client.query('ANALYZE context_search');
    for (const mode of ['force_generic_plan', 'force_custom_plan']) {
      await client.query(`SET plan_cache_mode = ${mode}`);
      for (const [text, values] of statements) {
        await client.query(`PREPARE explained AS ${text}`);
        for (const given of [values, values.map(exchange)]) {
          const list = given.map((value) => pg.escapeLiteral(String(value))).join(', ');
          const { rows } = await client.query<Record<string, string>>(
            `EXPLAIN EXECUTE explained (${list})`,
          );
          plans.push({ text, plan: rows.map((row) => row['QUERY PLAN']).join('\n') });
        }
        await client.query('DEALLOCATE explained');
      }
    }
    return plans;
  } finally {
    await client.end();
  }
}
