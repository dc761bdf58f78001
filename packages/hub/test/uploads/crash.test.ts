import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import { type HubChild, startHubChild } from '../support/hub-child.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { makeBytes, putBytes, sha256Of } from '../support/upload-setup.ts';

const { uploads, workspaces } = endpoints;
const MB = 1024 * 1024;
const KIB_PER_MB = 1024;

async function post(hub: HubChild, path: string, body: unknown) {
  const response = await fetch(hub.baseUrl + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return (await response.json()) as Record<string, string>;
}

async function announce(hub: HubChild, sizeBytes: number) {
  const { workspaceId } = await post(hub, workspaces.resolve.path, { slug: 'dev' });
  const draft = { workspaceId, fileName: 'a.bin', contentType: 'application/octet-stream' };
  const { uploadId, uploadUrl } = await post(hub, uploads.create.path, { ...draft, sizeBytes });
  assert.ok(uploadId !== undefined && uploadUrl !== undefined);
  return { workspaceId, uploadId, uploadUrl };
}

function listFiles(dataDir: string): string[] {
  const root = join(dataDir, 'uploads');
  if (!existsSync(root)) return [];
  const found = readdirSync(root, { recursive: true, withFileTypes: true });
  return found.filter((entry) => entry.isFile()).map(({ name }) => name);
}

test('a hub killed during an upload shows no part of it after the restart', async (t) => {
  const dataDir = makeTempDir(t);
  const first = await startHubChild(t, dataDir);
  const kept = await announce(first, 5);
  assert.equal((await putBytes(kept.uploadUrl, 'hello')).status, 200);
  const { workspaceId, uploadId, uploadUrl } = await announce(first, 4 * MB);
  const sent = request(uploadUrl, { method: 'PUT', headers: { 'content-length': 4 * MB } });
  const broken = once(sent, 'error');
  sent.write(makeBytes(2 * MB));
  while (listFiles(dataDir).length < 2) await new Promise((resolve) => setImmediate(resolve));
  await first.kill();
  await broken;
  assert.equal(listFiles(dataDir).length, 2, 'the partial file exists after the kill');

  const second = await startHubChild(t, dataDir);
  assert.equal(listFiles(dataDir).length, 1, 'and is deleted before the hub answers');
  const ask = (id: string) =>
    post(second, uploads.getDownloadUrl.path, { workspaceId, uploadId: id });
  assert.equal((await ask(uploadId)).error, 'UPLOAD_NOT_FOUND');
  assert.equal((await ask(kept.uploadId)).sha256, sha256Of('hello'));
  // The URL is still valid, because the key is in the data directory.
  const again = uploadUrl.replace(first.baseUrl, second.baseUrl);
  assert.equal((await putBytes(again, makeBytes(4 * MB))).status, 200);
  assert.equal((await ask(uploadId)).sha256, sha256Of(makeBytes(4 * MB)));
});

test('a full disk is a 503, leaves nothing, and the hub continues', async (t) => {
  const dataDir = makeTempDir(t);
  const hub = await startHubChild(t, dataDir, { fileKibMax: 8 * KIB_PER_MB });
  const { workspaceId, uploadId, uploadUrl } = await announce(hub, 12 * MB);
  const answer = await putBytes(uploadUrl, makeBytes(12 * MB));
  assert.equal(answer.status, 503);
  assert.equal(answer.body.error, 'UNAVAILABLE');
  assert.deepEqual(listFiles(dataDir), []);
  const asked = await post(hub, uploads.getDownloadUrl.path, { workspaceId, uploadId });
  assert.equal(asked.error, 'UPLOAD_NOT_FOUND');
  const small = await announce(hub, MB);
  assert.equal((await putBytes(small.uploadUrl, makeBytes(MB))).status, 200);
});
