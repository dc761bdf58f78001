import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { consolePathOf, endpoints } from '@signalbox/contract';
import { startHomeWorld } from '../support/home-world.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { startQueueWorld } from '../support/queue-world.ts';
import { until } from '../support/until.ts';
import { announce, getDownload, makeBytes, putBytes, upload } from '../support/upload-setup.ts';

const { uploads } = endpoints;
const HOUR_MS = 60 * 60 * 1_000;
const file = { fileName: 'a.bin', contentType: 'application/octet-stream' };

test('the uploads of a workspace have a quota, which deleting and expiry give back', async (t) => {
  const clock = createManualClock();
  const config = { uploadWorkspaceBytes: 100_000 };
  const h = await startHomeWorld(t, { clock, config });
  const { workspaceId } = h.home;
  const create = { workspaceId, ...file, sizeBytes: 50_000 };
  const first = await upload(h, makeBytes(60_000));
  const { message } = await h.refuse(uploads.create, create, 'LIMIT_REACHED');
  assert.match(message, /workspace have 60000 of 100000 bytes/);
  const other = await h.addWorkspace('other');
  await announce(h, 90_000, {}, other);
  await h.call(uploads.delete, { workspaceId, uploadId: first });
  await h.call(uploads.create, create);
  await h.refuse(uploads.create, { ...create, sizeBytes: 60_000 }, 'LIMIT_REACHED');
  // An upload that was announced and never sent expires.
  clock.advance(2 * HOUR_MS);
  await h.hub.loops.uploadRetention.runOnce();
  await h.call(uploads.create, { ...create, sizeBytes: 100_000 });
  for (let n = 0; n < 3; n++) {
    await h.refuse(uploads.create, { ...create, sizeBytes: 0 }, 'LIMIT_REACHED');
  }
});

test('usage says what the quota counts, and follows each upload and deletion', async (t) => {
  const clock = createManualClock();
  const h = await startHomeWorld(t, { clock, config: { uploadWorkspaceBytes: 100_000 } });
  const { workspaceId } = h.home;
  const other = await h.addWorkspace('other');
  await upload(h, makeBytes(9_000), {}, other);
  const readUsage = async () => {
    const { usedBytes, uploadCount, quotaBytes } = await h.call(uploads.usage, { workspaceId });
    assert.equal(quotaBytes, 100_000);
    return [usedBytes, uploadCount];
  };
  assert.deepEqual(await readUsage(), [0, 0]);
  const uploadId = await upload(h, makeBytes(60_000));
  await announce(h, 10);
  assert.deepEqual(await readUsage(), [64_096, 2]);
  await h.call(uploads.delete, { workspaceId, uploadId });
  assert.deepEqual(await readUsage(), [4_096, 1]);
  clock.advance(2 * HOUR_MS);
  await h.hub.loops.uploadRetention.runOnce();
  assert.deepEqual(await readUsage(), [0, 0]);
});

test('the uploads of a job have a quota, and the tool may delete its own', async (t) => {
  const h = await startQueueWorld(t, { config: { uploadJobBytes: 20_000 } });
  const { workspaceId } = h;
  await h.enqueue();
  const { jobToken = '' } = await h.claim();
  const create = { workspaceId, ...file, sizeBytes: 4_096 };
  const made: string[] = [];
  for (let n = 0; n < 4; n++) {
    made.push((await h.call(uploads.create, create, jobToken)).uploadId);
  }
  const refused = await h.refuse(uploads.create, create, 'LIMIT_REACHED', jobToken);
  assert.match(refused.message, /of the job/);
  await h.call(uploads.create, create);
  const [own = ''] = made;
  await h.call(uploads.delete, { workspaceId, uploadId: own }, jobToken);
  await h.call(uploads.create, create, jobToken);
  const foreign = await upload(h, 'of the person');
  const ref = { workspaceId, uploadId: foreign };
  await h.refuse(uploads.delete, ref, 'UPLOAD_NOT_FOUND', jobToken);
});

test('a deleted upload is gone: bytes, extracted text and URLs', async (t) => {
  const h = await startHomeWorld(t);
  const { workspaceId } = h.home;
  const uploadId = await upload(h, 'The text of a note.');
  const { downloadUrl } = await getDownload(h, uploadId);
  const ref = { workspaceId, uploadId };
  assert.deepEqual(await h.call(uploads.delete, ref), { ok: true, deleted: true });
  await h.refuse(uploads.delete, ref, 'UPLOAD_NOT_FOUND');
  assert.equal((await fetch(downloadUrl)).status, 400);
  const objects = join(h.dataDir, 'uploads', 'objects');
  const left = readdirSync(objects, { recursive: true, withFileTypes: true });
  assert.deepEqual(
    left.filter((entry) => entry.isFile()),
    [],
  );
  const audit = await h.hub.database.reader.allSql<{ action: string }>(
    'SELECT action FROM audit_entries WHERE workspace_id = ? ORDER BY seq DESC LIMIT 1',
    [workspaceId],
  );
  assert.deepEqual(audit, [{ action: 'upload.delete' }]);
  assert.ok(consolePathOf(uploads.delete));
});

test('of the requests that send one upload, one writes at a time and ten wait', async (t) => {
  const h = await startHomeWorld(t);
  const bytes = makeBytes(200_000);
  const { uploadUrl } = await announce(h, bytes.length);
  const incoming = join(h.dataDir, 'uploads', 'incoming');
  const drafts = () => (existsSync(incoming) ? readdirSync(incoming).length : 0);
  const open = () => {
    const put = request(uploadUrl, { method: 'PUT', headers: { 'content-length': bytes.length } });
    const status = new Promise<number>((resolve, reject) => {
      put.on('response', (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      });
      put.on('error', reject);
    });
    put.write(bytes.subarray(0, 100_000));
    return { put, status };
  };
  const first = open();
  await until('the first request has a draft', () => drafts() === 1);
  // Ten may wait, so the refusal of one shows that all others have arrived.
  const others = Array.from({ length: 11 }, open);
  assert.equal(await Promise.race(others.map(({ status }) => status)), 429);
  assert.equal(drafts(), 1, 'those that wait write nothing');
  for (const { put } of [first, ...others]) put.end(bytes.subarray(100_000));
  assert.equal(await first.status, 200);
  const statuses = await Promise.all(others.map(({ status }) => status));
  assert.equal(statuses.filter((status) => status === 200).length, 10, `${statuses}`);
  assert.equal(drafts(), 0);
});

test('uploads leave a reserve of the disk to the database', async (t) => {
  let free = 10_000_000;
  const config = { diskReserveBytes: 5_000_000 };
  const h = await startHomeWorld(t, { config, readFreeSpace: async () => free });
  const { workspaceId } = h.home;
  const create = { workspaceId, ...file, sizeBytes: 6_000_000 };
  const refused = await h.refuse(uploads.create, create, 'UNAVAILABLE');
  assert.match(refused.message, /free space/);
  const { uploadUrl } = await announce(h, 4_000_000);
  free = 8_000_000;
  const bytes = makeBytes(4_000_000);
  const late = await putBytes(uploadUrl, bytes);
  assert.equal(late.status, 503);
  assert.match(String(late.body.message), /free space/);
  free = 10_000_000;
  const stored = await putBytes(uploadUrl, bytes);
  assert.equal(stored.status, 200, JSON.stringify(stored.body));
});
