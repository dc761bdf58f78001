import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints, PATCH_BYTES_MAX } from '@signalbox/contract';
import { startQueueWorld } from '../support/queue-world.ts';
import { putBytes, upload } from '../support/upload-setup.ts';

const { jobs, uploads } = endpoints;
const PATCH = 'diff --git a/é.txt b/é.txt\n--- a/é.txt\n+++ b/é.txt\n@@ -1 +1 @@\n-a\n+ü\n';
const facts = { baseSha: 'a'.repeat(40), commitSha: 'b'.repeat(40) };

async function startWorld(t: Parameters<typeof startQueueWorld>[0]) {
  const world = await startQueueWorld(t);
  const { workspaceId } = world;
  /** Completes a job with this evidence. */
  const finish = async (evidence: Record<string, unknown>) => {
    const { jobId } = await world.enqueue();
    await world.claim();
    await world.complete(jobId, { evidence: { ...facts, ...evidence } });
    return jobId;
  };
  const read = (jobId: string) => world.call(jobs.patch, { workspaceId, jobId });
  const share = (bytes: string | Uint8Array) =>
    upload(world, bytes, { fileName: 'job.patch', contentType: 'text/x-diff' });
  return { ...world, finish, read, share };
}

test('the patch of a job is returned as its agent has uploaded it', async (t) => {
  const world = await startWorld(t);
  const uploadId = await world.share(PATCH);
  const jobId = await world.finish({ patch: { uploadId, sizeBytes: 80, filesOmitted: 2 } });
  const expected = { ok: true, patch: PATCH, absence: null, ...facts, filesOmitted: 2 };
  assert.deepEqual(await world.read(jobId), expected);
});

test('an answer without a patch says why', async (t) => {
  const world = await startWorld(t);
  const { workspaceId } = world;
  const absent = async (evidence: Record<string, unknown>) => {
    const { patch, absence } = await world.read(await world.finish(evidence));
    assert.equal(patch, null);
    return absence;
  };
  const naming = (uploadId: unknown) => ({ patch: { uploadId, sizeBytes: 1 } });
  for (const patch of [undefined, null, 'text', [], { uploadId: 7 }]) {
    assert.equal(await absent({ patch }), 'not_shared', JSON.stringify(patch));
  }
  assert.equal(await absent(naming('upl_unknown')), 'deleted');
  const deleted = await world.share(PATCH);
  await world.call(uploads.delete, { workspaceId, uploadId: deleted });
  assert.equal(await absent(naming(deleted)), 'deleted');
  assert.equal(await absent(naming(await world.share(Buffer.from([0xff, 0xfe])))), 'unusable');
  const large = await world.share('x'.repeat(PATCH_BYTES_MAX + 1));
  assert.equal(await absent(naming(large)), 'unusable');
  const { jobId } = await world.enqueue();
  assert.equal((await world.read(jobId)).absence, 'not_shared', 'a job without evidence');
});

test('the evidence of a job cannot show the upload of another job', async (t) => {
  const world = await startWorld(t);
  const { workspaceId } = world;
  await world.enqueue();
  const { jobToken } = await world.claim();
  const draft = { workspaceId, fileName: 'secret.txt', contentType: 'text/plain', sizeBytes: 6 };
  const announced = await world.call(uploads.create, draft, jobToken ?? '');
  assert.equal((await putBytes(announced.uploadUrl, 'secret')).status, 200);
  const jobId = await world.finish({ patch: { uploadId: announced.uploadId, sizeBytes: 6 } });
  const { patch, absence } = await world.read(jobId);
  assert.deepEqual([patch, absence], [null, 'unusable']);
});

test('the patch of an unknown or foreign job is not found', async (t) => {
  const world = await startWorld(t);
  const jobId = await world.finish({});
  const other = await world.addWorkspace('other');
  const { workspaceId } = other;
  await world.refuse(jobs.patch, { workspaceId, jobId }, 'JOB_NOT_FOUND', other.token);
});
