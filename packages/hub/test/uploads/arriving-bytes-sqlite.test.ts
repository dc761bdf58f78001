import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { endpoints } from '@signalbox/contract';
import { type HomeWorld, startHomeWorld } from '../support/home-world.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { announce, getDownload, listFiles, makeBytes, putBytes } from '../support/upload-setup.ts';

/* How bytes arrive: the database has no part in it, so that one engine is enough. */

const { uploads } = endpoints;
const MB = 1024 * 1024;

test('a body beyond its announced size is cut off', async (t) => {
  const harness = await startHomeWorld(t);
  const { uploadUrl } = await announce(harness, MB);
  const sent = request(uploadUrl, { method: 'PUT' });
  const piece = makeBytes(256 * 1024);
  sent.on('error', () => undefined);
  let writtenBytes = 0;
  const answered = once(sent, 'response');
  const feed = setInterval(() => {
    if (sent.writableNeedDrain || writtenBytes > 8 * MB) return;
    writtenBytes += piece.length;
    sent.write(piece);
  }, 1);
  const [answer] = await answered.finally(() => clearInterval(feed));
  assert.equal(answer.statusCode, 400);
  sent.destroy();
  assert.deepEqual(listFiles(harness), []);
});

/** Counts only referenced memory: Node keeps tens of megabytes of old buffers. */
function exposeGarbageCollection(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}

function heldBytes(collectGarbage: () => void): number {
  collectGarbage();
  return process.memoryUsage().arrayBuffers;
}

test('a hundred megabytes are streamed in little memory, and one byte more is refused', async (t) => {
  const harness = await startHomeWorld(t);
  const { workspaceId } = harness.home;
  const tooLarge = { workspaceId, fileName: 'a', contentType: 'a/b', sizeBytes: 100 * MB + 1 };
  await harness.refuse(uploads.create, tooLarge, 'INVALID_REQUEST');
  const piece = makeBytes(MB);
  const { uploadId, uploadUrl } = await announce(harness, 100 * MB);
  const collectGarbage = exposeGarbageCollection();
  const before = heldBytes(collectGarbage);
  let most = 0;
  const sent = request(uploadUrl, { method: 'PUT', headers: { 'content-length': 100 * MB } });
  const answered = once(sent, 'response');
  for (let count = 0; count < 100; count++) {
    if (!sent.write(piece)) await once(sent, 'drain');
    if (count % 25 === 24) most = Math.max(most, heldBytes(collectGarbage));
  }
  sent.end();
  const [answer] = await answered;
  assert.equal(answer.statusCode, 200);
  answer.resume();
  assert.ok(most - before < 40 * MB, `${Math.round((most - before) / MB)} MB in buffers`);
  assert.equal((await getDownload(harness, uploadId)).sizeBytes, 100 * MB);
});

test('a connection lost during the transfer leaves nothing', async (t) => {
  const harness = await startHomeWorld(t);
  const { uploadId, uploadUrl } = await announce(harness, 2 * MB);
  const arrived = once(harness.hub.server.server, 'request');
  const sent = request(uploadUrl, { method: 'PUT', headers: { 'content-length': 2 * MB } });
  sent.on('error', () => undefined);
  sent.write(makeBytes(MB));
  const [received, response] = await arrived;
  await until(() => listFilesOrNone(harness).length === 1);
  sent.destroy();
  await once(response, 'close');
  assert.equal(received.complete, false);
  await until(() => listFiles(harness).length === 0);
  const { workspaceId } = harness.home;
  await harness.refuse(uploads.getDownloadUrl, { workspaceId, uploadId }, 'UPLOAD_NOT_FOUND');
  assert.equal((await putBytes(uploadUrl, makeBytes(2 * MB))).status, 200);
});

test('a client that stops sending is disconnected', async (t) => {
  const clock = createManualClock();
  const harness = await startHomeWorld(t, { clock });
  const { uploadUrl } = await announce(harness, 2 * MB);
  const sent = request(uploadUrl, { method: 'PUT', headers: { 'content-length': 2 * MB } });
  sent.on('error', () => undefined);
  const answered = once(sent, 'response');
  sent.write(makeBytes(MB));
  await until(() => listFilesOrNone(harness).length === 1);
  // Chunks may still arrive from the socket, and each restarts the timeout.
  const turning = setInterval(() => clock.advance(30_000), 5);
  const [answer] = await answered.finally(() => clearInterval(turning));
  assert.equal(answer.statusCode, 400);
  sent.destroy();
  await until(() => listFiles(harness).length === 0);
});

function listFilesOrNone(harness: HomeWorld): string[] {
  try {
    return listFiles(harness);
  } catch {
    return [];
  }
}

/** Polls in each turn of the event loop; the test's own time limit ends it. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}
