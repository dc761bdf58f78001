import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import { idsOf, startContextWorld } from '../../support/context-world.ts';

const { contextItems } = endpoints;

/** Tables that grow with every item and pack. */
const growing = /context_items|context_packs|context_pack_items|context_search/;
/** Full scans that are allowed: lists in pages, the word index, and ids from the request. */
const allowed = /VIRTUAL TABLE|^SCAN (?:json_each|f$|\(subquery|CONSTANT)/;

test('every statement on items and packs finds its rows by an index', async (t) => {
  const statements = new Set<string>();
  const prepare = DatabaseSync.prototype.prepare;
  t.mock.method(DatabaseSync.prototype, 'prepare', function (this: DatabaseSync, sql: string) {
    statements.add(sql);
    return prepare.call(this, sql);
  });
  const { add, build, resolve, call, workspaceId, dataDir } = await startContextWorld(t);
  const item = await add({ text: 'One.', source: 'wiki', sourceRef: 'p1', pinned: true });
  await add({ text: 'Billing.', itemId: item, threadRef: 'thread' });
  const old = await add({ text: 'Two.', supersededBy: item });
  await call(contextItems.get, { workspaceId, itemId: item });
  const { nextCursor } = await call(contextItems.list, {
    workspaceId,
    limit: 1,
    includeSuperseded: true,
  });
  await call(contextItems.list, { workspaceId, cursor: nextCursor ?? '', includeSuperseded: true });
  await call(contextItems.list, { workspaceId, kind: 'note' });
  await call(contextItems.list, { workspaceId, threadRef: 'thread' });
  await call(contextItems.search, { workspaceId, query: 'billing', kinds: ['note'] });
  const { packId } = await build({ requestedContextItemIds: [old] });
  await resolve();
  await resolve({ packId });

  const db = new DatabaseSync(join(dataDir, 'signalbox.db'));
  t.after(() => db.close());
  const looked = [...statements].filter((sql) => growing.test(sql) && !/^CREATE/i.test(sql));
  assert.ok(looked.length > 20, `${looked.length} statements were looked at`);
  for (const sql of looked) {
    const plan = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[];
    for (const { detail } of plan) {
      if (detail.startsWith('SCAN')) assert.match(detail, allowed, `${sql}\n${detail}`);
      assert.doesNotMatch(detail, /TEMP B-TREE FOR ORDER BY/, `sorts what may be many: ${sql}`);
    }
  }
});

test('items are copied into a pack by one statement, in the order of their selection', async (t) => {
  const { add, build, resolve } = await startContextWorld(t);
  for (let number = 1; number <= 12; number++) await add({ text: `Item ${number}.` });
  const copies: string[] = [];
  const run = StatementSync.prototype.run;
  type Values = Parameters<typeof run>;
  t.mock.method(StatementSync.prototype, 'run', function (this: StatementSync, ...values: Values) {
    if (/INTO context_pack_items/.test(this.sourceSQL)) copies.push(this.sourceSQL);
    return run.apply(this, values);
  });
  const { items } = await build();
  assert.equal(items.length, 12);
  assert.equal(copies.length, 1);
  assert.deepEqual(idsOf((await resolve()).sections), idsOf(items));
});
