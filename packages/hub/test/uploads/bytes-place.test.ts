import assert from 'node:assert/strict';
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import { startHomeWorld } from '../support/home-world.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { startTestHub } from '../support/test-hub.ts';
import { announce, putBytes } from '../support/upload-setup.ts';

const { uploads } = endpoints;

/** A hub with one stored upload. */
async function setup(t: TestContext) {
  const dataDir = makeTempDir(t);
  const world = await startHomeWorld(t, { dataDir });
  const { uploadId, uploadUrl } = await announce(world, 5);
  assert.equal((await putBytes(uploadUrl, 'bytes')).status, 200);
  return { ...world, dataDir, uploadId };
}

test('a hub that does not find the bytes of its uploads does not start', async (t) => {
  const { hub, dataDir, uploadId } = await setup(t);
  await hub.stop();
  const directory = join(dataDir, 'uploads');
  // A restored copy has the bytes and another id.
  rmSync(join(dataDir, 'directory.id'));
  const restored = await startTestHub(t, { dataDir });
  await restored.hub.stop();
  renameSync(directory, join(makeTempDir(t), 'uploads'));
  rmSync(join(dataDir, 'directory.id'));
  await assert.rejects(startTestHub(t, { dataDir }), (error: Error) => {
    assert.equal(error.constructor.name, 'StartError');
    assert.ok(error.message.includes(directory), error.message);
    assert.ok(error.message.includes(uploadId), error.message);
    return true;
  });
});

test('bytes that are missing are an error of their own', async (t) => {
  const { call, send, home, dataDir, uploadId } = await setup(t);
  const { workspaceId } = home;
  const { downloadUrl } = await call(uploads.getDownloadUrl, { workspaceId, uploadId });
  rmSync(join(dataDir, 'uploads'), { recursive: true });
  const answer = await fetch(downloadUrl);
  assert.equal(answer.status, 400);
  const body = (await answer.json()) as Record<string, unknown>;
  assert.equal(body.error, 'UPLOAD_BYTES_MISSING');
  assert.match(String(body.message), /operator/);
  assert.equal((await send(endpoints.tokens.whoami.path, {})).status, 200);
});
