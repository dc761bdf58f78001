import assert from 'node:assert/strict';
import { test } from 'node:test';
import { consolePathOf, endpoints } from '@signalbox/contract';
import { signInFirstOwner } from '../support/console-person.ts';
import { type Decisions, startDecisionWorld } from '../support/decision-world.ts';

const { jobs, uncertainties } = endpoints;
const LEASE_MS = 60_000;
const DAY_MS = 86_400_000;

/** A running job on its last attempt with a question of each kind, both in the inbox. */
async function askBoth(h: Decisions) {
  const { workspaceId, agentId } = h;
  const { jobId } = await h.enqueue({ runId: h.runId, maxAttempts: 1 });
  const { jobToken = '' } = await h.claim({ leaseMs: LEASE_MS });
  const ofTool = await h.ask({}, jobToken);
  const ofAction = await h.ask({ jobId, agentId, claimGeneration: 1, actionKey: 'run:x' });
  const ids = [ofTool.uncertaintyId, ofAction.uncertaintyId];
  return { ref: { workspaceId, jobId }, jobId, jobToken, ids };
}
type Asked = Awaited<ReturnType<typeof askBoth>>;

/** Each way in which a job ends without being done. */
const ends: Record<string, (h: Decisions, asked: Asked) => Promise<unknown>> = {
  'its completion as failed': (h, { jobId }) => h.complete(jobId, { outcome: 'failed' }),
  'its cancel while it is blocked': async (h, { jobId, ref }) => {
    await h.block(jobId);
    await h.call(jobs.cancel, ref);
  },
  'its cancel among others': async (h, { jobId, ref: { workspaceId } }) => {
    await h.block(jobId);
    await h.call(jobs.bulk, { workspaceId, action: 'cancel', jobs: [{ jobId }] });
  },
  'its cancel after a retry': async (h, { jobId, ref }) => {
    await h.block(jobId);
    await h.call(jobs.retry, ref);
    await h.call(jobs.cancel, ref);
  },
  'its completion after a cancel': async (h, { jobId, ref }) => {
    await h.call(jobs.cancel, ref);
    await h.refuse(jobs.complete, { ...ref, agentId: h.agentId, outcome: 'done' }, 'JOB_CANCELED');
    assert.equal((await h.get(jobId)).job.status, 'canceled');
  },
  'the end of its lease after a cancel': async (h, { ref }) => {
    await h.call(jobs.cancel, ref);
    h.clock.advance(LEASE_MS);
    await h.hub.loops.sweeper.runOnce();
  },
  'the end of its last lease': async (h) => {
    h.clock.advance(LEASE_MS);
    await h.hub.loops.sweeper.runOnce();
  },
  'the release of its last attempt': async (h, { ref }) => {
    const ada = await signInFirstOwner(h);
    const { body } = await ada.send(consolePathOf(jobs.release), ref);
    assert.equal(body.ok, true, JSON.stringify(body));
  },
};

for (const [end, act] of Object.entries(ends)) {
  test(`the questions of a job are dismissed by ${end}`, async (t) => {
    const h = await startDecisionWorld(t);
    const asked = await askBoth(h);
    const waited = h.call(uncertainties.wait, {
      workspaceId: h.workspaceId,
      uncertaintyId: asked.ids[0] ?? '',
      waitMs: 60_000,
    });
    await act(h, asked);
    assert.match((await h.get(asked.jobId)).job.status, /^(failed|canceled)$/);
    for (const id of asked.ids) {
      const { resolution } = await h.read(id);
      assert.deepEqual([resolution?.mode, resolution?.createdBy], ['dismissed', null]);
    }
    assert.equal((await waited).uncertainty.status, 'resolved', 'who waits hears of it');
    const { counts } = await h.call(uncertainties.counts, { workspaceId: h.workspaceId });
    assert.equal(counts.open, 0);
    const late = await h.refuse(
      uncertainties.addResolution,
      h.answerBody(asked.ids[0] ?? ''),
      'ALREADY_RESOLVED',
    );
    assert.match(late.message, /^The end of its job dismissed it/);
    assert.deepEqual(await h.applications(), []);
  });
}

test('a question of a job that continues stays open', async (t) => {
  const h = await startDecisionWorld(t);
  const { jobId } = await h.enqueue({ runId: h.runId });
  await h.claim({ leaseMs: LEASE_MS });
  const { uncertaintyId } = await h.ask({ jobId });
  const isOpen = async () => (await h.read(uncertaintyId)).status === 'open';
  h.clock.advance(LEASE_MS);
  await h.hub.loops.sweeper.runOnce();
  assert.ok(await isOpen(), 'after a lease that was not the last');
  await h.claim();
  await h.complete(jobId, { outcome: 'failed', outcomeReason: { retryable: true } });
  assert.ok(await isOpen(), 'after an outcome that is retried');
  await h.claim();
  await h.call(jobs.cancel, { workspaceId: h.workspaceId, jobId });
  assert.ok(await isOpen(), 'while the holder has not stopped');
});

test('a question of a job that is done stays open until retention deletes the job', async (t) => {
  const h = await startDecisionWorld(t);
  const { workspaceId } = h;
  const { database, loops } = h.hub;
  const keepForDays = [7, workspaceId];
  await database.write(null, (tx) =>
    tx.runSql('UPDATE workspaces SET retention_days = ? WHERE workspace_id = ?', keepForDays),
  );
  // Only by hand, not by advancing the clock.
  await loops.jobRetention.stop();
  const { jobId, ids } = await askBoth(h);
  const [ofTool = '', ofAction = ''] = ids;
  await h.complete(jobId);
  assert.equal((await h.read(ofTool)).status, 'open');
  assert.equal((await h.read(ofAction)).resolution?.mode, 'dismissed');
  h.clock.advance(8 * DAY_MS);
  while ((await loops.jobRetention.runOnce()).hasMore);
  await h.refuse(jobs.get, { workspaceId, jobId }, 'JOB_NOT_FOUND');
  assert.equal((await h.read(ofTool)).resolution?.mode, 'dismissed');
});

test('an answer that is withdrawn after the end of its job leaves no open question', async (t) => {
  const h = await startDecisionWorld(t);
  const { workspaceId } = h;
  const { jobId } = await h.startJob();
  const { uncertaintyId } = await h.ask({ jobId });
  await h.block(jobId);
  const { resolutionId } = await h.answer(uncertaintyId, { undoMs: 10_000 });
  await h.call(jobs.cancel, { workspaceId, jobId });
  await h.call(uncertainties.withdrawResolution, { workspaceId, uncertaintyId, resolutionId });
  assert.equal((await h.read(uncertaintyId)).resolution?.mode, 'dismissed');
});

test('the tool of a job that a person sends back asks again, also with the same key', async (t) => {
  const h = await startDecisionWorld(t);
  const { workspaceId } = h;
  const { jobId, jobToken } = await h.startJob();
  const key = { idempotencyKey: 'ask:colour' };
  const first = await h.ask(key, jobToken);
  assert.equal((await h.ask(key, jobToken)).uncertaintyId, first.uncertaintyId);
  await h.complete(jobId, { outcome: 'failed' });
  await h.call(jobs.retry, { workspaceId, jobId });
  const { jobToken: next } = await h.claim();
  const why = { ...key, context: 'In other words.' };
  const second = await h.ask(why, next);
  assert.notEqual(second.uncertaintyId, first.uncertaintyId);
  assert.equal((await h.read(second.uncertaintyId)).status, 'open');
  assert.equal((await h.ask(why, next)).uncertaintyId, second.uncertaintyId);
});
