import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import { addContextItem } from '../../src/context/add-item.ts';
import { expireContextItems } from '../../src/context/expire-items.ts';
import { startHomeWorld } from '../support/home-world.ts';
import { createManualClock, type ManualClock } from '../support/manual-clock.ts';
import { getDownload, upload } from '../support/upload-setup.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;
const HOUR_MS = 60 * 60 * 1_000;
const RETENTION_DAYS = 30;

/** A workspace with a retention of a month; loops run only when a test runs them. */
async function setupRetaining(t: TestContext) {
  const turned = createManualClock();
  const clock: ManualClock = { ...turned, schedule: () => () => undefined };
  const harness = await startHomeWorld(t, { clock });
  const { database, loops } = harness.hub;
  const { workspaceId } = harness.home;
  await database.write(workspaceId, (tx) =>
    tx.runSql('UPDATE workspaces SET retention_days = ? WHERE workspace_id = ?', [
      RETENTION_DAYS,
      workspaceId,
    ]),
  );
  return {
    ...harness,
    clock,
    workspaceId,
    run: (name: 'extraction' | 'uploadRetention' | 'loginRetention') => loops[name].runOnce(),
    count: async (table: string) => {
      const row = await database.reader.firstSql<{ rows: number }>(
        `SELECT COUNT(*) AS rows FROM ${table}`,
        [],
      );
      return row?.rows;
    },
  };
}

test('an expired upload is deleted with its text, and then its bytes are', async (t) => {
  const h = await setupRetaining(t);
  const uploadId = await upload(h, 'What it says.');
  await h.run('extraction');
  assert.deepEqual([await h.count('context_items'), await h.count('upload_extracts')], [1, 1]);
  const { downloadUrl } = await getDownload(h, uploadId);
  h.clock.advance(RETENTION_DAYS * DAY_MS);
  await h.run('uploadRetention');
  assert.equal(await h.count('uploads'), 1);
  h.clock.advance(1);
  await h.run('uploadRetention');
  for (const table of ['uploads', 'upload_extracts', 'context_items']) {
    assert.equal(await h.count(table), 0, table);
  }
  const { workspaceId } = h;
  const body = { workspaceId, uploadId };
  await h.refuse(endpoints.uploads.getDownloadUrl, body, 'UPLOAD_NOT_FOUND');
  assert.notEqual((await fetch(downloadUrl)).status, 200);
  assert.equal(await h.count('upload_objects'), 1);
  h.clock.advance(HOUR_MS + 1);
  await h.run('uploadRetention');
  assert.equal(await h.count('upload_objects'), 0);
});

test('of two uploads of the same bytes the newer keeps the text', async (t) => {
  const h = await setupRetaining(t);
  await upload(h, 'What both say.');
  await h.run('extraction');
  h.clock.advance(DAY_MS);
  const young = await upload(h, 'What both say.');
  h.clock.advance((RETENTION_DAYS - 1) * DAY_MS + 1);
  await h.run('uploadRetention');
  assert.deepEqual([await h.count('uploads'), await h.count('context_items')], [1, 1]);
  const [extract] = await h.hub.database.reader.allSql<{ upload_id: string }>(
    'SELECT upload_id FROM upload_extracts',
    [],
  );
  assert.equal(extract?.upload_id, young);
});

test('a summary expires with its item, and the summary of a note is kept with the note', async (t) => {
  const h = await setupRetaining(t);
  const { database, deps } = h.hub;
  const { workspaceId } = h;
  const add = (kind: 'chat_message' | 'note' | 'knowledge_artifact', source: string, ref: string) =>
    database.write(workspaceId, (tx) =>
      addContextItem(tx, deps, {
        workspaceId,
        kind,
        title: kind,
        text: 'Text.',
        source,
        sourceRef: ref,
        trust: 'external',
        createdBy: 'test',
      }),
    );
  for (const kind of ['chat_message', 'note'] as const) {
    const { item } = await add(kind, 'somewhere', kind);
    await add('knowledge_artifact', 'cloud-ai', item.item_id);
  }
  const age = { workspaceId, beforeMs: h.clock.nowMs() + 1, limit: 10 };
  assert.equal(await database.write(workspaceId, (tx) => expireContextItems(tx, age)), 1);
  const rows = await database.reader.allSql<{ kind: string }>(
    'SELECT kind FROM context_items ORDER BY kind',
    [],
  );
  assert.deepEqual(
    rows.map(({ kind }) => kind),
    ['knowledge_artifact', 'note'],
  );
});

test('ended sessions and device logins are deleted, and active ones are kept', async (t) => {
  const h = await setupRetaining(t);
  const { database } = h.hub;
  const nowMs = h.clock.nowMs();
  await database.write(null, async (tx) => {
    for (const [id, expiresAtMs] of [
      ['ended', nowMs - 1],
      ['live', nowMs + 1],
    ] as const) {
      await tx.runSql(
        `INSERT INTO sessions (session_id, session_hash, person_id, created_at, last_seen_at,
           confirmed_at, expires_at, address, user_agent) VALUES (?, ?, 'usr', 1, 1, 1, ?, '', '')`,
        [id, id, expiresAtMs],
      );
    }
    for (const atMs of [nowMs - 2 * DAY_MS, nowMs]) {
      await tx.runSql('INSERT INTO device_code_failures (address, at) VALUES (?, ?)', ['a', atMs]);
    }
  });
  const { devices } = endpoints;
  await h.call(devices.start, { workspaceSlug: 'home', machineName: 'm' });
  assert.equal(await h.run('loginRetention'), 1);
  const rows = await database.reader.allSql<{ session_id: string }>('SELECT * FROM sessions', []);
  assert.deepEqual(
    rows.map((row) => row.session_id),
    ['live'],
  );
  assert.deepEqual(
    [await h.count('device_code_failures'), await h.count('device_sessions')],
    [1, 1],
  );
  h.clock.advance(2 * DAY_MS);
  await h.run('loginRetention');
  assert.equal(await h.count('device_sessions'), 0);
});
