import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listRunningOfAgents } from '../../src/queue/store-held.ts';
import { startQueueWorld } from '../support/queue-world.ts';

test('of the entries that an agent holds, the newest twenty are listed, with the number of all', async (t) => {
  const h = await startQueueWorld(t);
  const claimed: (string | null)[] = [];
  for (let count = 0; count < 21; count++) {
    await h.enqueue();
    claimed.push((await h.claim()).jobId);
  }
  const held = await listRunningOfAgents(h.hub.database.reader, h.workspaceId, [h.agentId]);
  assert.deepEqual(
    held.map(({ entry_id }) => entry_id),
    claimed.reverse().slice(0, 20),
  );
  assert.ok(held.every((entry) => entry.held === 21));
});
