import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints, PATCH_BYTES_MAX, type RequestOf } from '@signalbox/contract';
import { startQueueWorld } from '../support/queue-world.ts';
import { putBytes, upload } from '../support/upload-setup.ts';

const { jobs, uploads } = endpoints;
const PATCH = 'diff --git a/é.txt b/é.txt\n--- a/é.txt\n+++ b/é.txt\n@@ -1 +1 @@\n-a\n+ü\n';
const facts = { baseSha: 'a'.repeat(40), commitSha: 'b'.repeat(40) };

const draft = { fileName: 'job.patch', contentType: 'text/x-diff' };
type UploadedFor = NonNullable<RequestOf<typeof uploads.create>['job']>;

async function startWorld(t: Parameters<typeof startQueueWorld>[0]) {
  const world = await startQueueWorld(t);
  const { workspaceId } = world;
  const { agentId } = world;
  const start = async () => {
    const { jobId } = await world.enqueue();
    const { claimGeneration, jobToken = '' } = await world.claim();
    return { job: { jobId, agentId, claimGeneration: claimGeneration ?? 0 }, jobToken };
  };
  /** Completes a job with this evidence, or with evidence that names a patch of these bytes. */
  const finish = async (evidence: Record<string, unknown>, bytes?: string | Uint8Array) => {
    const { job } = await start();
    const patch =
      bytes === undefined ? {} : { patch: { uploadId: await share(bytes, job), sizeBytes: 80 } };
    await world.complete(job.jobId, { evidence: { ...facts, ...evidence, ...patch } });
    return job.jobId;
  };
  const read = (jobId: string) => world.call(jobs.patch, { workspaceId, jobId });
  const share = (bytes: string | Uint8Array, job?: UploadedFor) =>
    upload(world, bytes, { ...draft, ...(job === undefined ? {} : { job }) });
  return { ...world, start, finish, read, share };
}

test('the patch of a job is returned as its agent has uploaded it', async (t) => {
  const world = await startWorld(t);
  const { job } = await world.start();
  const uploadId = await world.share(PATCH, job);
  const patch = { uploadId, sizeBytes: 80, filesOmitted: 2 };
  await world.complete(job.jobId, { evidence: { ...facts, patch } });
  const expected = { ok: true, patch: PATCH, absence: null, ...facts, filesOmitted: 2 };
  assert.deepEqual(await world.read(job.jobId), expected);
});

test('a later round has a patch of its own, from the commit that it began with', async (t) => {
  const world = await startWorld(t);
  const { workspaceId } = world;
  const roundBaseSha = 'c'.repeat(40);
  const { job } = await world.start();
  const [whole, own] = [await world.share(PATCH, job), await world.share('of the round', job)];
  const patch = { uploadId: whole, sizeBytes: 80, filesOmitted: 2 };
  const roundPatch = { uploadId: own, sizeBytes: 12 };
  const evidence = { ...facts, patch, roundBaseSha, roundPatch };
  await world.complete(job.jobId, { evidence });
  const of = (jobId: string) => world.call(jobs.patch, { workspaceId, jobId, since: 'round' });
  const expected = { ok: true, patch: 'of the round', absence: null, filesOmitted: 0 };
  assert.deepEqual(await of(job.jobId), { ...expected, ...facts, baseSha: roundBaseSha });
  assert.equal((await world.read(job.jobId)).patch, PATCH, 'the default is the work');
  const first = await world.finish({}, PATCH);
  assert.deepEqual(await of(first), await world.read(first), 'a first round is the work');
  const older = await of(await world.finish({ roundBaseSha }, PATCH));
  assert.deepEqual([older.patch, older.absence], [null, 'not_shared'], 'of an older agent');
});

test('an answer without a patch says why', async (t) => {
  const world = await startWorld(t);
  const { workspaceId } = world;
  const absent = async (evidence: Record<string, unknown>, bytes?: string | Uint8Array) => {
    const { patch, absence } = await world.read(await world.finish(evidence, bytes));
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
  assert.equal(await absent({}, Buffer.from([0xff, 0xfe])), 'unusable');
  assert.equal(await absent({}, 'x'.repeat(PATCH_BYTES_MAX + 1)), 'unusable');
  const { jobId } = await world.enqueue();
  assert.equal((await world.read(jobId)).absence, 'not_shared', 'a job without evidence');
});

test('the evidence of a job shows uploads of this job only', async (t) => {
  const world = await startWorld(t);
  const { workspaceId } = world;
  const { job, jobToken } = await world.start();
  const announced = await world.call(
    uploads.create,
    { workspaceId, ...draft, sizeBytes: 6 },
    jobToken,
  );
  assert.equal((await putBytes(announced.uploadUrl, 'secret')).status, 200);
  const foreign = {
    'of no job': await world.share('a requirements document'),
    'of the agent of another job': await world.share('secret', job),
    'of the tool of another job': announced.uploadId,
  };
  for (const [whose, uploadId] of Object.entries(foreign)) {
    const jobId = await world.finish({ patch: { uploadId, sizeBytes: 6 } });
    const { patch, absence } = await world.read(jobId);
    assert.deepEqual([patch, absence], [null, 'unusable'], whose);
    const ref = { workspaceId, jobId, uploadId };
    await world.refuse(uploads.getDownloadUrl, ref, 'UPLOAD_NOT_FOUND');
  }
  const own = { workspaceId, jobId: job.jobId, uploadId: announced.uploadId };
  assert.equal((await world.call(uploads.getDownloadUrl, own)).sizeBytes, 6);
});

test('only the agent that holds a job, and its tool, upload for it', async (t) => {
  const world = await startWorld(t);
  const { workspaceId } = world;
  const { job, jobToken } = await world.start();
  const other = await world.start();
  const create = { workspaceId, ...draft, sizeBytes: 1, job };
  await world.call(uploads.create, create);
  await world.call(uploads.create, create, jobToken);
  await world.refuse(uploads.create, create, 'NOT_ALLOWED', other.jobToken);
  const stranger = await world.mintToken(workspaceId, 'stranger');
  await world.refuse(uploads.create, create, 'AGENT_NOT_FOUND', stranger);
  const late = { ...create, job: { ...job, claimGeneration: 7 } };
  await world.refuse(uploads.create, late, 'CLAIM_GENERATION_MISMATCH');
  await world.complete(job.jobId);
  await world.refuse(uploads.create, create, 'JOB_ALREADY_FINISHED');
});

test('the patch of an unknown or foreign job is not found', async (t) => {
  const world = await startWorld(t);
  const jobId = await world.finish({});
  const other = await world.addWorkspace('other');
  const { workspaceId } = other;
  await world.refuse(jobs.patch, { workspaceId, jobId }, 'JOB_NOT_FOUND', other.token);
});
