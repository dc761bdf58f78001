import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { test } from 'node:test';
import { endpoints, SIGNED_URL_MS } from '@signalbox/contract';
import { type HomeWorld, startHomeWorld } from '../support/home-world.ts';
import { createManualClock } from '../support/manual-clock.ts';
import {
  announce,
  getDownload,
  listFiles,
  makeBytes,
  putBytes,
  sha256Of,
  upload,
} from '../support/upload-setup.ts';

const { uploads } = endpoints;
const MB = 1024 * 1024;
const HOUR_MS = 60 * 60 * 1_000;

test('bytes are returned unchanged, with the announced name, type and hash', async (t) => {
  const harness = await startHomeWorld(t);
  const bytes = makeBytes(3 * MB + 17);
  const uploadId = await upload(harness, bytes, {
    fileName: 'Anforderungen „Bär“ 100%.pdf',
    contentType: 'application/pdf',
    sha256: sha256Of(bytes),
  });
  const download = await getDownload(harness, uploadId);
  assert.equal(download.sha256, sha256Of(bytes));
  assert.equal(download.sizeBytes, bytes.length);
  const response = await fetch(download.downloadUrl);
  assert.equal(response.status, 200);
  assert.deepEqual(Buffer.from(await response.arrayBuffer()), bytes);
  assert.deepEqual(
    [
      'content-type',
      'content-length',
      'content-disposition',
      'x-content-type-options',
      'content-security-policy',
      'accept-ranges',
      'etag',
    ].map((name) => response.headers.get(name)),
    [
      'application/pdf',
      String(bytes.length),
      'attachment; filename="Anforderungen _B_r_ 100_.pdf"; ' +
        "filename*=UTF-8''Anforderungen%20%E2%80%9EB%C3%A4r%E2%80%9C%20100%25.pdf",
      'nosniff',
      "sandbox; default-src 'none'; frame-ancestors 'none'",
      'bytes',
      `"${sha256Of(bytes)}"`,
    ],
  );
  assert.equal(listFiles(harness).length, 1);
});

test('an empty file can be uploaded', async (t) => {
  const harness = await startHomeWorld(t);
  const uploadId = await upload(harness, '');
  const { downloadUrl, sha256 } = await getDownload(harness, uploadId);
  assert.equal(sha256, sha256Of(''));
  const response = await fetch(downloadUrl);
  assert.equal(response.headers.get('content-length'), '0');
  assert.equal(await response.text(), '');
  const ranged = await fetch(downloadUrl, { headers: { range: 'bytes=0-' } });
  assert.equal(ranged.status, 416);
});

test('an upload without its bytes is found by no caller', async (t) => {
  const harness = await startHomeWorld(t);
  const { uploadId } = await announce(harness, 5);
  const { workspaceId } = harness.home;
  await harness.refuse(uploads.getDownloadUrl, { workspaceId, uploadId }, 'UPLOAD_NOT_FOUND');
});

test('the content type of the body may be any text', async (t) => {
  const harness = await startHomeWorld(t);
  for (const type of ['application/json', 'no type at all', 'application/x-www-form-urlencoded']) {
    const { uploadUrl } = await announce(harness, 5);
    const answer = await putBytes(uploadUrl, 'hello', { 'content-type': type });
    assert.equal(answer.status, 200, `${type}: ${JSON.stringify(answer.body)}`);
  }
});

test('bytes other than announced are refused and leave nothing', async (t) => {
  const harness = await startHomeWorld(t);
  const sha256 = sha256Of('hello');
  const { uploadId, uploadUrl } = await announce(harness, 5, { sha256 });
  for (const [what, body] of [
    ['shorter', 'hell'],
    ['longer', 'hello!'],
    ['of another hash', 'jello'],
    ['absent', ''],
  ] as const) {
    const answer = await putBytes(uploadUrl, body);
    assert.equal(answer.body.error, 'UPLOAD_MISMATCH', what);
    assert.equal(answer.status, 400);
  }
  for (const pieces of [['hell'], ['hello', '!'], ['j', 'ello']]) {
    const answer = await putChunked(uploadUrl, pieces);
    assert.match(answer, /UPLOAD_MISMATCH/);
  }
  assert.deepEqual(listFiles(harness), []);
  const { workspaceId } = harness.home;
  await harness.refuse(uploads.getDownloadUrl, { workspaceId, uploadId }, 'UPLOAD_NOT_FOUND');
  // The right bytes are still accepted.
  assert.equal((await putBytes(uploadUrl, 'hello')).status, 200);
});

/** A body of unknown length. */
async function putChunked(url: string, pieces: readonly string[]): Promise<string> {
  const sent = request(url, { method: 'PUT' });
  for (const piece of pieces) sent.write(piece);
  sent.end();
  const [answer] = await once(sent, 'response');
  let text = '';
  for await (const piece of answer) text += String(piece);
  return text;
}

test('the same bytes sent again get the same answer, and others are refused', async (t) => {
  const harness = await startHomeWorld(t);
  const { uploadId, uploadUrl } = await announce(harness, 5);
  const first = await putBytes(uploadUrl, 'hello');
  assert.deepEqual(first.body, { ok: true, uploadId, sizeBytes: 5, sha256: sha256Of('hello') });
  assert.deepEqual(await putBytes(uploadUrl, 'hello'), first);
  const other = await putBytes(uploadUrl, 'jello');
  assert.equal(other.body.error, 'UPLOAD_MISMATCH');
  const { downloadUrl } = await getDownload(harness, uploadId);
  assert.equal(await (await fetch(downloadUrl)).text(), 'hello');
  assert.equal(listFiles(harness).length, 1);
});

test('of different bytes sent at once, one upload wins completely', async (t) => {
  const clock = createManualClock();
  const harness = await startHomeWorld(t, { clock });
  const bodies = [1, 2, 3, 4, 5, 6, 7, 8].map((seed) => makeBytes(MB, seed));
  const { uploadId, uploadUrl } = await announce(harness, MB);
  const answers = await Promise.all(bodies.map((body) => putBytes(uploadUrl, body)));
  const winners = bodies.filter((_body, index) => answers[index]?.status === 200);
  assert.equal(winners.length, 1);
  assert.equal(answers.filter(({ body }) => body.error === 'UPLOAD_MISMATCH').length, 7);
  const { downloadUrl, sha256 } = await getDownload(harness, uploadId);
  const kept = Buffer.from(await (await fetch(downloadUrl)).arrayBuffer());
  assert.deepEqual(kept, winners[0]);
  assert.equal(sha256Of(kept), sha256);
  // The files of the losing requests are recorded and deleted within the hour.
  clock.advance(HOUR_MS + 1);
  await retentionOf(harness).runOnce();
  assert.equal(listFiles(harness).length, 1);
});

test('fifty concurrent uploads all arrive complete', async (t) => {
  const harness = await startHomeWorld(t);
  // Of several chunks each.
  const bodies = Array.from({ length: 50 }, (_, index) => makeBytes(160 * 1024 + index, index + 1));
  const ids = await Promise.all(bodies.map((body) => upload(harness, body)));
  for (const [index, uploadId] of ids.entries()) {
    const { downloadUrl } = await getDownload(harness, uploadId);
    const answer = await fetch(downloadUrl);
    const bytes = Buffer.from(await answer.arrayBuffer());
    assert.equal(answer.status, 200, bytes.subarray(0, 1_000).toString());
    assert.equal(sha256Of(bytes), sha256Of(bodies[index] as Buffer));
  }
  assert.equal(listFiles(harness).length, 50);
});

const retentionOf = ({ hub }: HomeWorld) => hub.loops.uploadRetention;

test('uploads that were never completed are deleted, others are not', async (t) => {
  const clock = createManualClock();
  const harness = await startHomeWorld(t, { clock });
  const kept = await upload(harness, 'kept');
  await announce(harness, 5);
  const loop = retentionOf(harness);
  // The test runs it, not an advance of the clock.
  await loop.stop();
  clock.advance(SIGNED_URL_MS);
  assert.deepEqual(await loop.runOnce(), { expired: 0, unfinished: 0, objects: 0, hasMore: false });
  clock.advance(HOUR_MS + 1);
  assert.deepEqual(await loop.runOnce(), { expired: 0, unfinished: 1, objects: 0, hasMore: false });
  assert.equal((await getDownload(harness, kept)).sizeBytes, 4);
});

test('the list is newest first, in pages, with the state and the creator of each upload', async (t) => {
  const harness = await startHomeWorld(t);
  const { workspaceId } = harness.home;
  const other = await harness.addWorkspace('other');
  await upload(harness, 'of another workspace', {}, other);
  const ids: string[] = [];
  for (let n = 0; n < 4; n++) ids.unshift(await upload(harness, `Note ${n}.`));
  ids.unshift((await announce(harness, 5, { fileName: 'announced.txt' })).uploadId);
  const first = await harness.call(uploads.list, { workspaceId, limit: 2 });
  const cursor = first.nextCursor ?? '';
  const second = await harness.call(uploads.list, { workspaceId, limit: 3, cursor });
  assert.equal(second.nextCursor, null);
  const listed = [...first.uploads, ...second.uploads];
  assert.deepEqual(
    listed.map(({ uploadId }) => uploadId),
    ids,
  );
  const [announced, stored] = listed;
  assert.deepEqual(
    [announced?.fileName, announced?.status, announced?.storedAt],
    ['announced.txt', 'pending', null],
  );
  assert.deepEqual([stored?.status, stored?.sizeBytes, stored?.jobId], ['stored', 7, null]);
  const { principalId } = await harness.call(endpoints.tokens.whoami, {});
  assert.deepEqual(stored?.createdBy, { id: principalId, name: null });
});
