import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpointList, endpoints, idPrefixes } from '@signalbox/contract';
import { startHomeWorld } from '../support/home-world.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { upload } from '../support/upload-setup.ts';

/*
 * PostgreSQL cannot store NUL in a text, SQLite can. No NUL reaches either of them: request bodies
 * with NUL are refused (`hostile-input.test.ts` sends one to every endpoint), and the tests here
 * cover the other inputs.
 */

test('every list refuses a cursor with a NUL', async (t) => {
  const { send, home } = await startHomeWorld(t);
  const lists = endpointList.filter(
    ({ path, request }) => path.startsWith('/control-plane') && 'cursor' in request.properties,
  );
  assert.ok(lists.length >= 5, `${lists.length} lists`);
  for (const { name, path, example } of lists) {
    for (const prefix of Object.values(idPrefixes)) {
      const cursor = Buffer.from(`${prefix}_\0`).toString('base64url');
      const body = { ...example.request, workspaceId: home.workspaceId, cursor };
      const reply = await send(path, body);
      assert.equal(reply.status, 400, `${name}: ${JSON.stringify(reply.body)}`);
    }
  }
});

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
