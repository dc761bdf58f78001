import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import { startHomeWorld } from '../support/home-world.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { upload } from '../support/upload-setup.ts';

/*
 * PostgreSQL cannot store NUL in a text, SQLite can. No NUL reaches either of them: request bodies
 * with NUL are refused (`hostile-bodies-sqlite.test.ts` sends one to every endpoint), cursors too
 * (`list-pages.test.ts`), and the test here covers documents.
 */

test('a NUL in a document is removed from its text, and its words are found', async (t) => {
  const harness = await startHomeWorld(t, {
    clock: { ...createManualClock(), schedule: () => () => undefined },
  });
  const { call, hub, home } = harness;
  const { workspaceId } = home;
  const bytes = Buffer.from('\uFEFFAn orange\0 falcon.\0', 'utf16le');
  await upload(harness, bytes, { fileName: 'notes.txt', contentType: 'text/plain' });
  await hub.loops.extraction.runOnce();
  const { items } = await call(endpoints.contextItems.search, { workspaceId, query: 'falcon' });
  const [found] = items;
  assert.ok(found !== undefined && items.length === 1);
  const { item } = await call(endpoints.contextItems.get, { workspaceId, itemId: found.itemId });
  assert.equal(item.text, 'An orange falcon.');
});
