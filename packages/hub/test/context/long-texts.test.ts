import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import { SHORT_TEXT_CHARS } from '../../src/context/prepare-text.ts';
import { idsOf, startContextWorld } from '../support/context-world.ts';
import { startIntegrationWorld } from '../support/integration-world.ts';
import { watchMainThreadTexts } from '../support/main-thread-texts.ts';

const { contextItems } = endpoints;

/** Composed at run time, so that no scanner reports this file as a leak. */
const secret = ['AKIA', 'IOSFODNN7EXAMPLE'].join('');
const longText = `${'word '.repeat(30_000)}lighthouse ${secret}`;

test('a long item is redacted and split into words in another thread', async (t) => {
  const { add, call, workspaceId } = await startContextWorld(t);
  const main = watchMainThreadTexts(t);
  const itemId = await add({ text: longText });
  assert.ok(main.longest <= SHORT_TEXT_CHARS, `a text of ${main.longest} in the main thread`);
  const { item } = await call(contextItems.get, { workspaceId, itemId });
  assert.equal(item.text, longText.replace(secret, '[redacted]'));
  const found = await call(contextItems.search, { workspaceId, query: 'lighthouse' });
  assert.deepEqual(idsOf(found.items), [itemId]);
});

test('a long event is redacted and split into words in another thread', async (t) => {
  const h = await startIntegrationWorld(t);
  const main = watchMainThreadTexts(t);
  const { contextItemId, eventId } = await h.ingest({
    content: longText,
    data: [longText.slice(-99)],
  });
  assert.ok(main.longest <= SHORT_TEXT_CHARS, `a text of ${main.longest} in the main thread`);
  const event = await h.readEvent(eventId);
  assert.doesNotMatch(JSON.stringify(event), /AKIA/);
  const { workspaceId, token } = h.home;
  const search = { workspaceId, query: 'lighthouse' };
  const found = await h.call(contextItems.search, search, token);
  assert.deepEqual(idsOf(found.items), [contextItemId]);
});

test('the data policy of the transaction counts for a text that was prepared under another', async (t) => {
  const h = await startContextWorld(t);
  const { workspaceId } = h;
  // The text is prepared outside of the transaction; the policy changes in between.
  const { database } = h.hub;
  const { write } = database;
  const change = `UPDATE workspaces SET content_storage = 'metadata' WHERE workspace_id = ?`;
  t.mock.method(database, 'write', async (...[scope, action]: Parameters<typeof write>) => {
    t.mock.restoreAll();
    await database.write(workspaceId, (tx) => tx.runSql(change, [workspaceId]));
    return database.write(scope, action);
  });
  const itemId = await h.add({ text: longText });
  const { item } = await h.call(contextItems.get, { workspaceId, itemId });
  assert.equal(item.text, '');
});
