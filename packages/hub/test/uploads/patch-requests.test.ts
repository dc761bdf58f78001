import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { AGENT_OFFLINE_AFTER_MS, endpoints, type RequestOf } from '@signalbox/contract';
import { listAudit } from '../support/people.ts';
import { startQueueWorld } from '../support/queue-world.ts';
import { upload } from '../support/upload-setup.ts';

const { agents, jobs, uploads } = endpoints;
const PATCH = 'diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+b\n';
const facts = { baseSha: 'a'.repeat(40), commitSha: 'b'.repeat(40), branch: 'signalbox/job_1-1' };
const draft = { fileName: 'job.patch', contentType: 'text/x-diff' };

/** A job that is done with a commit, and its agent. */
async function setup(t: TestContext) {
  const world = await startQueueWorld(t);
  const { workspaceId, agentId, repoId, home } = world;
  const { jobId } = await world.enqueue();
  const { jobToken = '' } = await world.claim();
  const beat = (changesOnRequest: string[] = [repoId]) =>
    world.call(agents.heartbeat, {
      workspaceId,
      displayName: 'first',
      machineFingerprint: 'first',
      capabilities: { canWrite: true, changesOnRequest },
    });
  const job = { workspaceId, jobId };
  const ofAgent = { ...job, agentId };
  const share = (body: Partial<RequestOf<typeof jobs.sharePatch>>) =>
    world.call(jobs.sharePatch, { ...ofAgent, ...body });
  const refusedShare = async (body: object, says: RegExp) => {
    const error = await world.refuse(jobs.sharePatch, { ...ofAgent, ...body }, 'INVALID_REQUEST');
    assert.match(JSON.stringify(error), says);
  };
  const refusedAsk = async (says: RegExp) =>
    assert.match(
      JSON.stringify(await world.refuse(jobs.requestPatch, job, 'INVALID_REQUEST')),
      says,
    );
  return {
    ...world,
    home,
    jobId,
    jobToken,
    beat,
    job,
    share,
    refusedShare,
    refusedAsk,
    end: (evidence: object = facts) => world.complete(jobId, { evidence }),
    ask: () => world.call(jobs.requestPatch, job),
    put: (text = PATCH) => upload(world, text, { ...draft, job: { jobId, agentId } }),
    place: async () => (await world.get(jobId)).changesPlace,
  };
}

test('a member asks for the patch of a job, and its agent shares it', async (t) => {
  const h = await setup(t);
  await h.beat();
  assert.equal(await h.place(), undefined, 'the job has not ended');
  await h.end();
  const before = await h.place();
  assert.deepEqual(
    [before?.agent.displayName, before?.onRequest, before?.request],
    ['first', true, null],
  );
  assert.deepEqual((await h.beat()).commands, []);
  const { place } = await h.ask();
  assert.deepEqual(
    [place.request?.askedBy.name, place.request?.answeredAt, place.request?.refusal],
    ['test', null, null],
  );
  assert.deepEqual(await h.place(), place);
  assert.deepEqual((await h.ask()).place, place, 'a request that waits stays');
  const asked = { command: 'share-patch', jobId: h.jobId, askedByName: 'test' };
  assert.deepEqual((await h.beat()).commands, [asked]);
  assert.deepEqual((await h.beat()).commands, [asked], 'until the agent has answered');
  const patch = { uploadId: await h.put(), sizeBytes: PATCH.length, filesOmitted: 1 };
  const roundPatch = { uploadId: await h.put('round'), sizeBytes: 5 };
  const { request } = await h.share({ commitSha: facts.commitSha, patch, roundPatch });
  assert.notEqual(request.answeredAt, null);
  assert.deepEqual((await h.beat()).commands, []);
  const read = await h.call(jobs.patch, h.job);
  assert.deepEqual([read.patch, read.filesOmitted], [PATCH, 1]);
  const { job, changesPlace } = await h.get(h.jobId);
  assert.deepEqual(job.evidence, { ...facts, patch, roundPatch });
  assert.deepEqual(changesPlace?.request, request);
  await h.refusedAsk(/shared already/);
  const entries = (await listAudit(h.hub, h.workspaceId)).filter(
    ({ action }) => action === 'job.request-patch',
  );
  assert.deepEqual(
    entries.map(({ subject, data }) => [subject, JSON.parse(data)]),
    [[h.jobId, { agentId: h.agentId }]],
  );
});

test('an agent says why it does not share, and can be asked again', async (t) => {
  const h = await setup(t);
  await h.beat();
  await h.end();
  await h.ask();
  const refusal = 'The commit is not in the clone any more.';
  await h.share({ refusal });
  assert.equal((await h.place())?.request?.refusal, refusal);
  assert.deepEqual((await h.beat()).commands, []);
  await h.refusedShare({ refusal }, /No request waits/);
  assert.equal((await h.ask()).place.request?.refusal, null);
  assert.equal((await h.beat()).commands.length, 1);
});

test('a request waits for an agent that is offline', async (t) => {
  const h = await setup(t);
  await h.beat();
  await h.end();
  h.clock.advance(AGENT_OFFLINE_AFTER_MS);
  const { place } = await h.ask();
  assert.equal(place.agent.status, 'offline');
  assert.equal((await h.beat()).commands.length, 1);
});

test('what cannot be shared is not asked for', async (t) => {
  const h = await setup(t);
  await h.beat();
  await h.refusedAsk(/has not ended/);
  await h.end();
  await h.beat([]);
  assert.equal((await h.place())?.onRequest, false);
  await h.refusedAsk(/The agent first shares no changes on request: who runs it can set share/);
  const bare = await h.enqueue();
  await h.claim();
  await h.complete(bare.jobId, { evidence: { changedFiles: [] } });
  const { workspaceId } = h;
  const none = { workspaceId, jobId: bare.jobId };
  assert.match(
    JSON.stringify(await h.refuse(jobs.requestPatch, none, 'INVALID_REQUEST')),
    /no commit/,
  );
});

test('a patch whose upload was deleted can be asked for again', async (t) => {
  const h = await setup(t);
  await h.beat();
  await h.end();
  await h.ask();
  const uploadId = await h.put();
  await h.share({ commitSha: facts.commitSha, patch: { uploadId, sizeBytes: PATCH.length } });
  await h.call(uploads.delete, { workspaceId: h.workspaceId, uploadId });
  assert.equal((await h.call(jobs.patch, h.job)).absence, 'deleted');
  assert.equal((await h.ask()).place.request?.answeredAt, null);
});

test('only the agent that is asked uploads and shares, and only what belongs to the job', async (t) => {
  const h = await setup(t);
  const { workspaceId, agentId, jobId } = h;
  await h.beat();
  await h.end();
  const create = { workspaceId, ...draft, sizeBytes: 1, job: { jobId, agentId } };
  const patch = { uploadId: 'upl_1j78s1e000305pubchr8', sizeBytes: 1 };
  const refusal = 'No.';
  await h.refuse(uploads.create, create, 'JOB_ALREADY_FINISHED');
  await h.refusedShare({ refusal }, /No request waits/);
  await h.ask();
  await h.call(uploads.create, create);
  const late = { ...create, job: { ...create.job, claimGeneration: 1 } };
  await h.refuse(uploads.create, late, 'JOB_ALREADY_FINISHED');
  await h.refuse(uploads.create, create, 'TOKEN_EXPIRED', h.jobToken);
  const stranger = await h.mintToken(workspaceId, 'stranger');
  await h.refuse(uploads.create, create, 'AGENT_NOT_FOUND', stranger);
  const mine = { workspaceId, jobId, agentId, refusal };
  await h.refuse(jobs.sharePatch, mine, 'AGENT_NOT_FOUND', stranger);
  const second = await h.addAgent(h.home, 'second');
  await h.refuse(jobs.sharePatch, { ...mine, agentId: second }, 'INVALID_REQUEST');
  const other = { ...create, job: { jobId, agentId: second } };
  await h.refuse(uploads.create, other, 'JOB_ALREADY_FINISHED');
  await h.refusedShare({}, /or refusal is needed/);
  await h.refusedShare({ patch, refusal }, /not both/);
  await h.refusedShare({ patch }, /must be the commit of the job: bbbbbbbbbbbb/);
  await h.refusedShare({ commitSha: 'c'.repeat(40), patch }, /must be the commit/);
  const { commitSha } = facts;
  await h.refusedShare({ commitSha, patch }, /completed upload for this job/);
  const foreign = { uploadId: await upload(h, 'a text', draft), sizeBytes: 6 };
  await h.refusedShare({ commitSha, patch: foreign }, /completed upload for this job/);
  const own = { uploadId: await h.put(), sizeBytes: PATCH.length };
  await h.refusedShare({ commitSha, patch: own, roundPatch: foreign }, /roundPatch/);
  assert.equal((await h.call(jobs.patch, h.job)).absence, 'not_shared');
  const { jobId: next } = await h.enqueue();
  const { jobToken = '' } = await h.claim();
  assert.notEqual(next, jobId);
  await h.refuse(uploads.create, create, 'NOT_ALLOWED', jobToken);
  await h.refuse(jobs.sharePatch, mine, 'NOT_ALLOWED', jobToken);
});
