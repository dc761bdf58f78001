import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import fc from 'fast-check';
import { addContextItem } from '../../src/context/add-item.ts';
import { expireContextItems } from '../../src/context/expire-items.ts';
import { putCloudAiSettingsRow } from '../../src/workspaces/store-cloud-ai-settings.ts';
import { idsOf, startContextWorld } from '../support/context-world.ts';

const { contextItems } = endpoints;
const DAY_MS = 86_400_000;

test('an item with the same source and reference replaces all but the id and the creation time', async (t) => {
  const { add, call, workspaceId } = await startContextWorld(t);
  const ref = { source: 'wiki', sourceRef: 'page/7' };
  const first = await add({ ...ref, text: 'The old way.', title: 'How', pinned: true });
  assert.equal(await add({ ...ref, text: 'The new way.' }), first);
  const { item } = await call(contextItems.get, { workspaceId, itemId: first });
  assert.equal(item.text, 'The new way.');
  assert.equal(item.title, '', 'a field that is not sent is cleared');
  assert.equal(item.pinned, false);
  assert.equal(item.contentHash, hash('sha256', 'The new way.'));
  const found = (query: string) => call(contextItems.search, { workspaceId, query });
  assert.deepEqual(idsOf((await found('new')).items), [first]);
  assert.deepEqual((await found('old')).items, [], 'its old words are not in the index');
});

test('lists are newest first, in pages, with a cursor for each', async (t) => {
  const { add, call, workspaceId } = await startContextWorld(t);
  const ids: string[] = [];
  for (let i = 0; i < 7; i++) ids.unshift(await add({ text: `Note ${i}.` }));
  // Two items of one time: the later id comes first, and no page loses or repeats either.
  const occurredAt = '2030-01-01T00:00:00.000Z';
  ids.unshift(await add({ text: 'Same time.', occurredAt }));
  ids.unshift(await add({ text: 'Same time, too.', occurredAt }));
  const seen: string[] = [];
  let cursor: string | null | undefined;
  do {
    const page = await call(contextItems.list, {
      workspaceId,
      limit: 2,
      ...(cursor == null ? {} : { cursor }),
    });
    seen.push(...idsOf(page.items));
    cursor = page.nextCursor;
  } while (cursor !== null);
  assert.deepEqual(seen, ids);
});

test('lists filter by kind, source and thread, and show superseded items on request', async (t) => {
  const { add, call, workspaceId } = await startContextWorld(t);
  const note = await add({ text: 'A note.' });
  const chat = await add({ text: 'Hi.', kind: 'chat_message', source: 'chat', threadRef: 't1' });
  const old = await add({ text: 'An old note.', supersededBy: note });
  const list = async (filter: object) =>
    idsOf((await call(contextItems.list, { workspaceId, ...filter })).items);
  assert.deepEqual(await list({}), [chat, note]);
  assert.deepEqual(await list({ includeSuperseded: true }), [old, chat, note]);
  assert.deepEqual(await list({ kind: 'chat_message' }), [chat]);
  assert.deepEqual(await list({ source: 'chat' }), [chat]);
  assert.deepEqual(await list({ threadRef: 't1' }), [chat]);
  assert.deepEqual(await list({ threadRef: 't2' }), []);
});

test('a search ranks the better match first and excerpts it', async (t) => {
  const { add, call, workspaceId } = await startContextWorld(t);
  await add({ text: `Nothing of the kind. ${'Filler. '.repeat(50)}` });
  const passing = await add({ text: `${'Long preface. '.repeat(40)}Invoices are rounded here.` });
  const titled = await add({ title: 'Rounding of invoices', text: 'Half to even.' });
  const { items } = await call(contextItems.search, { workspaceId, query: 'rounded invoice' });
  assert.deepEqual(idsOf(items), [titled, passing]);
  assert.match(items[1]?.excerpt ?? '', /^… .*Invoices are rounded here\.$/);
});

test('a search finds words by their stems, without accents and in unspaced scripts', async (t) => {
  const { add, call, workspaceId } = await startContextWorld(t);
  const french = await add({ text: 'Le café est fermé.' });
  const japanese = await add({ text: '請求書の丸め方を決める。' });
  const find = async (query: string) =>
    idsOf((await call(contextItems.search, { workspaceId, query })).items);
  assert.deepEqual(await find('CAFE'), [french]);
  assert.deepEqual(await find('請求書'), [japanese]);
  assert.deepEqual(await find('見積書の'), [japanese], 'a part is enough');
  assert.deepEqual(await find('zebra'), []);
});

test('a search filters by kind, omits superseded items and has pages', async (t) => {
  const { add, call, workspaceId } = await startContextWorld(t);
  const doc = await add({ text: 'The gateway times out.', kind: 'document' });
  const note = await add({ text: 'The gateway is slow.' });
  const old = await add({ text: 'The gateway was fast.', supersededBy: note });
  const find = (body: object) =>
    call(contextItems.search, { workspaceId, query: 'gateway', ...body });
  assert.deepEqual(new Set(idsOf((await find({})).items)), new Set([doc, note]));
  assert.deepEqual(idsOf((await find({ kinds: ['document'] })).items), [doc]);
  const all = await find({ includeSuperseded: true });
  assert.deepEqual(new Set(idsOf(all.items)), new Set([doc, note, old]));
  const first = await find({ limit: 1 });
  assert.ok(first.nextCursor !== null);
  const second = await find({ limit: 1, cursor: first.nextCursor });
  assert.deepEqual(new Set(idsOf([...first.items, ...second.items])), new Set([doc, note]));
  assert.equal(second.nextCursor, null);
});

test('a search finds only items of its workspace', async (t) => {
  const { add, call, addWorkspace, workspaceId } = await startContextWorld(t);
  await add({ text: 'The falcon has landed.' });
  const other = await addWorkspace('other');
  const body = { workspaceId: other.workspaceId, query: 'falcon' };
  assert.deepEqual((await call(contextItems.search, body, other.token)).items, []);
  const own = await call(contextItems.search, { workspaceId, query: 'falcon' });
  assert.equal(own.items.length, 1);
});

test('any text at all is a valid query', async (t) => {
  const { add, call, workspaceId } = await startContextWorld(t);
  await add({ text: 'Something to find: NEAR(a b) AND "quotes".' });
  const syntax = ['"', '""', 'a AND', 'NEAR(', 'title:x', '*', 'a*', '^a', '-', 'a NOT b', "'; --"];
  const query = fc.oneof(fc.constantFrom(...syntax), fc.string({ minLength: 1, unit: 'binary' }));
  await fc.assert(
    fc.asyncProperty(query, async (text) => {
      fc.pre(text.isWellFormed() && !text.includes('\0'));
      const { items } = await call(contextItems.search, {
        workspaceId,
        query: text.slice(0, 500),
      });
      assert.ok(items.length <= 1);
    }),
    { numRuns: 60 },
  );
});

test('a search for very common words finds the items that have all of them, latest first', async (t) => {
  const { hub, call, workspaceId } = await startContextWorld(t);
  const { database, deps } = hub;
  const draft = { workspaceId, kind: 'note', title: '', source: 'api', trust: 'member' } as const;
  await database.write(null, async (tx) => {
    for (let i = 0; i < 1_100; i++) {
      const text = i % 2 === 0 ? `Every deploy ${i}` : `Every ${i}`;
      await addContextItem(tx, deps, { ...draft, text, sourceRef: String(i), createdBy: 'test' });
    }
  });
  const find = async (words: string) => {
    // Words in no item take their share of the rows that a search may read, and leave 500 for each.
    const query = `${words} ${Array.from({ length: 10 }, (_, i) => `absent${i}`).join(' ')}`;
    const { items } = await call(contextItems.search, { workspaceId, query, limit: 2 });
    return items.map((item) => item.sourceRef);
  };
  assert.deepEqual(await find('every'), ['1099', '1098']);
  assert.deepEqual(await find('every deploy'), ['1098', '1096']);
  assert.deepEqual(await find('every deploy 77'), ['77'], 'a rare word alone decides');
});

test('the data policy is applied before anything is written, the index included', async (t) => {
  const { hub, add, call, workspaceId } = await startContextWorld(t);
  const secret = ['ghp_', 'aB3dE5gH7j'.repeat(4)].join('');
  const redacted = await add({ title: secret, text: `Use ${secret} for it.` });
  const { item } = await call(contextItems.get, { workspaceId, itemId: redacted });
  assert.equal(item.text, 'Use [redacted] for it.');
  assert.equal(item.title, '[redacted]');
  const find = async (query: string) =>
    (await call(contextItems.search, { workspaceId, query })).items.length;
  assert.equal(await find(secret), 0);
  await hub.database.write(null, (tx) =>
    tx.runSql(`UPDATE workspaces SET content_storage = 'metadata' WHERE workspace_id = ?`, [
      workspaceId,
    ]),
  );
  const bare = await add({ title: 'Quarterly figures', text: 'Revenue is confidential.' });
  const stored = await call(contextItems.get, { workspaceId, itemId: bare });
  assert.equal(stored.item.text, '');
  assert.equal(await find('confidential'), 0);
  assert.equal(await find('quarterly'), 1);
});

test('a long document gets a summary job in the action that writes it, once per text', async (t) => {
  const { hub, add, workspaceId } = await startContextWorld(t);
  const { database } = hub;
  await database.write(null, (tx) =>
    putCloudAiSettingsRow(tx, {
      workspace_id: workspaceId,
      summarize_sources: 1,
      draft_decision_answers: 0,
      model: null,
    }),
  );
  const text = 'The disk was full at nine. '.repeat(400);
  await add({ kind: 'document', text, sourceRef: 'page/1' });
  await add({ kind: 'document', text, sourceRef: 'page/1' });
  await add({ kind: 'note', text });
  const rows = await database.reader.allSql<{ kind: string }>(
    'SELECT kind FROM cloud_ai_jobs WHERE workspace_id = ?',
    [workspaceId],
  );
  assert.deepEqual(
    rows.map(({ kind }) => kind),
    ['summarize_source'],
  );
});

test('concurrent writes of one reference create one item', async (t) => {
  const { call, workspaceId } = await startContextWorld(t);
  const body = { workspaceId, kind: 'note' as const, source: 'wiki', sourceRef: 'page/1' };
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, i) =>
      call(contextItems.upsert, { ...body, text: `Text ${i}.` }),
    ),
  );
  assert.equal(new Set(answers.map(({ itemId }) => itemId)).size, 1);
  assert.equal(answers.filter(({ created }) => created).length, 1);
  const { items } = await call(contextItems.search, { workspaceId, query: 'text' });
  assert.equal(items.length, 1);
});

test('no item supersedes itself, directly or through others', async (t) => {
  const { add, refuse, workspaceId } = await startContextWorld(t);
  const a = await add({ text: 'A.' });
  const b = await add({ text: 'B.', supersededBy: a });
  const body = { workspaceId, kind: 'note' as const, text: 'A.', itemId: a };
  await refuse(contextItems.upsert, { ...body, supersededBy: a }, 'INVALID_REQUEST');
  await refuse(contextItems.upsert, { ...body, supersededBy: b }, 'INVALID_REQUEST');
  await refuse(
    contextItems.upsert,
    { ...body, supersededBy: 'ctx_none' },
    'CONTEXT_ITEM_NOT_FOUND',
  );
});

test('retention deletes external texts, in packs too, and keeps the texts that people wrote', async (t) => {
  const { hub, clock, add, build, resolve, call, workspaceId } = await startContextWorld(t);
  const note = await add({ text: 'A billing note.' });
  await add({ text: 'A billing chat.', kind: 'chat_message', trust: 'external' });
  assert.equal((await build()).items.length, 2);
  clock.advance(30 * DAY_MS);
  const mail = await add({ text: 'A billing mail.', kind: 'mail_message', trust: 'external' });
  const beforeMs = clock.nowMs() - 7 * DAY_MS;
  const forget = () =>
    hub.database.write(null, (tx) => expireContextItems(tx, { workspaceId, beforeMs, limit: 10 }));
  assert.equal(await forget(), 1);
  assert.equal(await forget(), 0);
  const { items } = await call(contextItems.list, { workspaceId });
  assert.deepEqual(idsOf(items), [mail, note]);
  assert.deepEqual(idsOf((await resolve()).sections), [note]);
});

test('a removed item is gone from lists, searches and packs, and the removal is audited', async (t) => {
  const { add, call, refuse, build, hub, workspaceId } = await startContextWorld(t);
  const itemId = await add({ text: 'Round half to even.', pinned: true });
  const { packId } = await build();
  const ref = { workspaceId, itemId };
  assert.deepEqual(await call(contextItems.remove, ref), { ok: true, removed: true });
  await refuse(contextItems.remove, ref, 'CONTEXT_ITEM_NOT_FOUND');
  await refuse(contextItems.get, ref, 'CONTEXT_ITEM_NOT_FOUND');
  const found = await call(contextItems.search, { workspaceId, query: 'round' });
  assert.deepEqual(idsOf(found.items), []);
  const copies = await hub.database.reader.allSql(
    'SELECT item_id FROM context_pack_items WHERE workspace_id = ? AND pack_id = ? AND item_id = ?',
    [workspaceId, packId, itemId],
  );
  assert.deepEqual(copies, []);
  const audit = await hub.database.reader.allSql(
    'SELECT action, subject FROM audit_entries WHERE workspace_id = ? ORDER BY seq DESC LIMIT 1',
    [workspaceId],
  );
  assert.deepEqual(audit, [{ action: 'context-item.remove', subject: itemId }]);
});

test('the text of an upload is removed with the upload only', async (t) => {
  const { add, refuse, workspaceId } = await startContextWorld(t);
  const itemId = await add({ text: 'Extracted.', kind: 'upload_extract' });
  const refused = await refuse(contextItems.remove, { workspaceId, itemId }, 'NOT_ALLOWED');
  assert.match(refused.message, /delete the upload/);
});
