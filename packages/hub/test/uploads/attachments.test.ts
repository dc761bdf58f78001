import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import { type HomeWorld, startHomeWorld, type TestWorkspace } from '../support/home-world.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { announce, getDownload, upload } from '../support/upload-setup.ts';

const { jobs, uploads } = endpoints;
const DAY_MS = 24 * 60 * 60 * 1_000;

const draftOf = ({ workspaceId, repoId }: TestWorkspace, attachments: string[]) => ({
  workspaceId,
  repoId,
  kind: 'work' as const,
  prompt: 'Look at this.',
  attachments,
});

test('a job shows the files that are attached to it, once each and in order', async (t) => {
  const harness = await startHomeWorld(t);
  const { home } = harness;
  const log = await upload(harness, 'line', { fileName: 'b.log' });
  const picture = await upload(harness, 'png', { fileName: 'a.png', contentType: 'image/png' });
  const attachments = [
    { uploadId: log, fileName: 'b.log', sizeBytes: 4, contentType: 'text/plain' },
    { uploadId: picture, fileName: 'a.png', sizeBytes: 3, contentType: 'image/png' },
  ];
  const { jobId, job } = await harness.call(jobs.enqueue, draftOf(home, [log, picture, log]));
  assert.deepEqual(job.attachments, attachments);
  const { workspaceId } = home;
  const agentId = await harness.addAgent(home, 'builder');
  const claimed = await harness.call(jobs.claimNext, { workspaceId, agentId });
  assert.deepEqual(claimed.job?.attachments, attachments);
  const { job: read } = await harness.call(jobs.get, { workspaceId, jobId });
  assert.deepEqual(read.attachments, attachments);
  const { job: plain } = await harness.call(jobs.enqueue, draftOf(home, []));
  assert.equal(plain.attachments, undefined);
});

test('the tool of a job reads its attachments, and no others, with its job token', async (t) => {
  const harness = await startHomeWorld(t);
  const { home } = harness;
  const { workspaceId } = home;
  const mine = await upload(harness, 'mine');
  const other = await upload(harness, 'other');
  await harness.call(jobs.enqueue, draftOf(home, [mine]));
  const agentId = await harness.addAgent(home, 'builder');
  const { jobToken } = await harness.call(jobs.claimNext, { workspaceId, agentId });
  const read = (uploadId: string) => [uploads.getDownloadUrl, { workspaceId, uploadId }] as const;
  assert.equal((await harness.call(...read(mine), jobToken)).sizeBytes, 4);
  await harness.refuse(...read(other), 'UPLOAD_NOT_FOUND', jobToken);
});

test('a job without all of its files is not enqueued', async (t) => {
  const harness = await startHomeWorld(t);
  const { home } = harness;
  const stored = await upload(harness, 'stored');
  const away = await harness.addWorkspace('away');
  const foreign = await upload(harness, 'foreign', {}, away);
  const { uploadId: unfinished } = await announce(harness, 5);
  for (const wrong of [foreign, unfinished, 'upl_none']) {
    const draft = draftOf(home, [stored, wrong]);
    const { details } = await harness.refuse(jobs.enqueue, draft, 'INVALID_REQUEST');
    assert.deepEqual(
      details?.map(({ path }) => path),
      ['/attachments/1'],
    );
  }
  const eleven = draftOf(home, Array<string>(11).fill(stored));
  const { details } = await harness.refuse(jobs.enqueue, eleven, 'INVALID_REQUEST');
  assert.deepEqual(
    details?.map(({ path }) => path),
    ['/attachments'],
  );
  const { workspaceId } = home;
  assert.deepEqual((await harness.call(jobs.list, { workspaceId })).jobs, []);
  // Nothing is kept for the jobs that were refused.
  await harness.call(uploads.delete, { workspaceId, uploadId: stored });
});

async function keepForADay({ hub, home }: HomeWorld): Promise<void> {
  await hub.database.write(null, (tx) =>
    tx.runSql('UPDATE workspaces SET retention_days = 1 WHERE workspace_id = ?', [
      home.workspaceId,
    ]),
  );
  for (const loop of Object.values(hub.loops)) await loop.stop();
}

test('an attached upload lives as long as its job', async (t) => {
  const clock = createManualClock();
  const harness = await startHomeWorld(t, { clock });
  const { home, hub } = harness;
  const { workspaceId } = home;
  await keepForADay(harness);
  const uploadId = await upload(harness, 'kept');
  const { jobId } = await harness.call(jobs.enqueue, draftOf(home, [uploadId]));
  clock.advance(2 * DAY_MS);
  assert.equal((await hub.loops.uploadRetention.runOnce()).expired, 0);
  await harness.refuse(uploads.delete, { workspaceId, uploadId }, 'NOT_ALLOWED');
  assert.equal((await getDownload(harness, uploadId)).sizeBytes, 4);
  await harness.call(jobs.cancel, { workspaceId, jobId });
  clock.advance(40 * DAY_MS);
  let removed = 0;
  for (let piece = 0; removed === 0 && piece < 50; piece++) {
    removed += (await hub.loops.jobRetention.runOnce()).removed;
  }
  assert.equal(removed, 1);
  assert.equal((await hub.loops.uploadRetention.runOnce()).expired, 1);
  await harness.refuse(uploads.getDownloadUrl, { workspaceId, uploadId }, 'UPLOAD_NOT_FOUND');
});
