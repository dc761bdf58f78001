import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { endpoints, SIGNED_URL_MS } from '@signalbox/contract';
import { checkObjectStore } from '../../src/diagnosis/check-network.ts';
import type { S3Config } from '../../src/start/setting-values.ts';
import { createS3Store } from '../../src/uploads/bytes/s3-store.ts';
import { holdToPromises } from '../support/byte-store-promises.ts';
import { startHomeWorld } from '../support/home-world.ts';
import { startSwift, whyNoSwift } from '../support/swift-server.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { testEngine } from '../support/test-engine.ts';
import { announce, getDownload, makeBytes, sha256Of } from '../support/upload-setup.ts';

const { uploads } = endpoints;
const HOUR_MS = 60 * 60 * 1_000;
const whyNot = whyNoSwift();
const skip = whyNot === undefined ? {} : { skip: whyNot };
/** One store for all tests of the file: its processes take seconds to start. */
let s3: S3Config;
const ends: (() => Promise<void>)[] = [];
before(async () => {
  if (whyNot === undefined) s3 = await startSwift({ after: (end) => ends.push(end) });
});
after(async () => {
  for (const end of ends) await end();
});

/** The store itself uses no database, so its tests run beside one engine. */
if (testEngine === 'sqlite') {
  holdToPromises(
    'an S3-compatible store',
    async (t) => createS3Store(s3, join(makeTempDir(t), 'lent')),
    skip,
  );

  // Of `signalbox doctor`; here, because the processes of a store take seconds to start.
  test('an object store is tried with an object, and a refusal names settings', skip, async (t) => {
    const dataDir = makeTempDir(t);
    const found = await checkObjectStore({ s3, dataDir });
    assert.deepEqual(found, { state: 'ok', message: `${s3.bucket} at ${s3.endpoint}` });
    for (const wrong of [{ bucket: 'no-such-bucket' }, { secretAccessKey: 'wrong' }]) {
      await assert.rejects(
        checkObjectStore({ s3: { ...s3, ...wrong }, dataDir }),
        /does not take, give or delete an object \(.+\): check the SVC_S3_ settings/,
      );
    }
  });
}

/** Sends bytes directly to the store. */
async function putThere(url: string, bytes: Uint8Array | string): Promise<number> {
  const body = typeof bytes === 'string' ? bytes : new Uint8Array(bytes);
  const response = await fetch(url, { method: 'PUT', body });
  await response.arrayBuffer();
  return response.status;
}

test('with an object store, bytes are sent and read by the store’s own URLs', skip, async (t) => {
  // A manual clock would sign URLs with a time other than the store's.
  const harness = await startHomeWorld(t, { config: { s3 } });
  const store = createS3Store(s3, harness.dataDir);
  const { workspaceId } = harness.home;

  await t.test('a file is uploaded and downloaded', async () => {
    const bytes = makeBytes(2_000_000);
    const { uploadId, uploadUrl } = await announce(harness, bytes.length, {
      fileName: 'Plan „B“ (1).pdf',
      contentType: 'application/pdf',
    });
    assert.equal(new URL(uploadUrl).origin, s3.endpoint);
    await harness.refuse(uploads.getDownloadUrl, { workspaceId, uploadId }, 'UPLOAD_NOT_FOUND');
    assert.equal(await putThere(uploadUrl, bytes), 200);
    const download = await getDownload(harness, uploadId);
    assert.equal(download.sha256, sha256Of(bytes));
    assert.equal(new URL(download.downloadUrl).origin, s3.endpoint);
    const response = await fetch(download.downloadUrl);
    assert.equal(response.status, 200);
    assert.deepEqual(Buffer.from(await response.arrayBuffer()), bytes);
    assert.equal(response.headers.get('content-type'), 'application/pdf');
    assert.equal(
      response.headers.get('content-disposition'),
      'attachment; filename="Plan _B_ (1).pdf"; ' +
        "filename*=UTF-8''Plan%20%E2%80%9EB%E2%80%9C%20%281%29.pdf",
    );
    const part = await fetch(download.downloadUrl, { headers: { range: 'bytes=10-19' } });
    assert.equal(part.status, 206);
    assert.deepEqual(Buffer.from(await part.arrayBuffer()), bytes.subarray(10, 20));
  });

  await t.test('a later PUT to the same URL changes nothing', async () => {
    const { uploadId, uploadUrl } = await announce(harness, 5);
    await putThere(uploadUrl, 'hello');
    await getDownload(harness, uploadId);
    await putThere(uploadUrl, 'jello');
    const { downloadUrl, sha256 } = await getDownload(harness, uploadId);
    assert.equal(sha256, sha256Of('hello'));
    assert.equal(await (await fetch(downloadUrl)).text(), 'hello');
  });

  await t.test('the store refuses another length, and altered URLs', async () => {
    const { uploadUrl } = await announce(harness, 5);
    assert.equal(await putThere(uploadUrl, 'hello!'), 403);
    assert.equal(await putThere(uploadUrl.replace('.incoming', '.elsewhere'), 'hello'), 403);
    assert.equal((await fetch(uploadUrl)).status, 403);
  });

  await t.test('bytes with a wrong hash are deleted and may be sent again', async () => {
    const { uploadId, uploadUrl } = await announce(harness, 5, { sha256: sha256Of('hello') });
    assert.equal(await putThere(uploadUrl, 'jello'), 200);
    await harness.refuse(uploads.getDownloadUrl, { workspaceId, uploadId }, 'UPLOAD_NOT_FOUND');
    assert.equal(await store.read(`${workspaceId}.${uploadId}.incoming`, null), null);
    assert.equal(await putThere(uploadUrl, 'hello'), 200);
    assert.equal((await getDownload(harness, uploadId)).sha256, sha256Of('hello'));
  });

  await t.test('the loop completes arrived uploads and extracts their text', async () => {
    const text = 'the requirement is a red button';
    const { uploadId, uploadUrl } = await announce(harness, text.length);
    assert.equal(await putThere(uploadUrl, text), 200);
    // The hub's own loop may do it as well.
    for (let status = ''; status !== 'done'; ) {
      await harness.hub.loops.extraction.runOnce();
      const row = await harness.hub.database.reader.firstSql<{ status: string }>(
        'SELECT status FROM upload_extracts WHERE workspace_id = ? AND upload_id = ?',
        [workspaceId, uploadId],
      );
      assert.notEqual(row?.status, 'failed');
      status = row?.status ?? '';
    }
  });
});

test('unfinished uploads are deleted from the object store', skip, async (t) => {
  let aheadMs = 0;
  const clock = {
    nowMs: () => Date.now() + aheadMs,
    schedule: (delayMs: number, call: () => void) => {
      const timer = setTimeout(call, delayMs);
      return () => clearTimeout(timer);
    },
  };
  const harness = await startHomeWorld(t, { config: { s3 }, clock });
  const store = createS3Store(s3, harness.dataDir);
  const { workspaceId } = harness.home;
  const { uploadId, uploadUrl } = await announce(harness, 5, { sha256: sha256Of('other') });
  assert.equal(await putThere(uploadUrl, 'hello'), 200);
  const key = `${workspaceId}.${uploadId}.incoming`;
  assert.notEqual(await store.read(key, null), null);
  aheadMs = SIGNED_URL_MS + HOUR_MS + 1;
  const result = await harness.hub.loops.uploadRetention.runOnce();
  assert.deepEqual(result, { expired: 0, unfinished: 1, objects: 1, hasMore: false });
  assert.equal(await store.read(key, null), null);
});
