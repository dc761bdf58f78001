import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import { type Decisions, startDecisionWorld } from '../support/decision-world.ts';

const { uncertainties, jobs } = endpoints;
const UNDO_MS = 5_000;

/** A blocked job whose question has an answer that can still be withdrawn. */
async function startHeld(h: Decisions, body: Parameters<Decisions['answer']>[1] = {}) {
  const { jobId, jobToken } = await h.startJob();
  const { uncertaintyId } = await h.ask({ jobId });
  await h.block(jobId);
  const held = await h.answer(uncertaintyId, { undoMs: UNDO_MS, ...body });
  return { jobId, jobToken, uncertaintyId, resolutionId: held.resolutionId, held };
}

const withdrawBody = ({ workspaceId }: Decisions, uncertaintyId: string, resolutionId: string) => ({
  workspaceId,
  uncertaintyId,
  resolutionId,
});

async function passUndo(h: Decisions): Promise<void> {
  h.clock.advance(UNDO_MS);
  await h.hub.loops.handOvers.runOnce();
}

test('an answer with undoMs is stored at once and handed over after that time', async (t) => {
  const h = await startDecisionWorld(t);
  const { jobId, uncertaintyId, held } = await startHeld(h);
  const { status, resolution, handOverAt } = held.uncertainty;
  assert.deepEqual(
    [status, resolution?.value, resolution?.createdBy],
    ['resolved', 'blue', 'test'],
  );
  assert.equal(handOverAt, new Date(h.clock.nowMs() + UNDO_MS).toISOString());
  assert.equal((await h.get(jobId)).job.status, 'blocked');
  h.clock.advance(UNDO_MS - 1);
  await h.hub.loops.handOvers.runOnce();
  assert.equal((await h.get(jobId)).job.status, 'blocked');
  h.clock.advance(1);
  await h.hub.loops.handOvers.runOnce();
  const { job } = await h.get(jobId);
  assert.deepEqual([job.status, job.decisions[0]?.value], ['pending', 'blue']);
  assert.equal((await h.read(uncertaintyId)).handOverAt, null);
  await h.hub.loops.handOvers.runOnce();
  const resumed = (await h.timeline(jobId)).filter(({ kind }) => kind === 'enqueued');
  assert.equal(resumed.length, 2, 'it is handed over once');
});

test('a withdrawn answer leaves the question and the job as they were', async (t) => {
  const h = await startDecisionWorld(t);
  const { jobId, uncertaintyId, resolutionId } = await startHeld(h);
  const body = withdrawBody(h, uncertaintyId, resolutionId);
  const { uncertainty } = await h.call(uncertainties.withdrawResolution, body);
  const { status, resolution, resolutions, resolvedAt, handOverAt } = uncertainty;
  assert.deepEqual(
    [status, resolution, resolutions, resolvedAt, handOverAt],
    ['open', null, [], null, null],
  );
  await passUndo(h);
  const { job } = await h.get(jobId);
  assert.deepEqual([job.status, job.waitingOnUncertaintyId], ['blocked', uncertaintyId]);
  const again = await h.call(uncertainties.withdrawResolution, body);
  assert.equal(again.uncertainty.status, 'open', 'the same call again changes nothing');
  await h.answer(uncertaintyId, { value: 'red' });
  assert.equal((await h.get(jobId)).job.decisions[0]?.value, 'red');
  const rows = await h.hub.database.reader.allSql<{ action: string }>(
    'SELECT action FROM audit_entries WHERE workspace_id = ? AND subject = ? ORDER BY seq',
    [h.workspaceId, uncertaintyId],
  );
  assert.deepEqual(
    rows.map(({ action }) => action),
    ['uncertainty.resolve', 'uncertainty.withdraw', 'uncertainty.resolve'],
  );
});

test('an answer that was handed over cannot be withdrawn', async (t) => {
  const h = await startDecisionWorld(t);
  const { uncertaintyId, resolutionId } = await startHeld(h);
  h.clock.advance(UNDO_MS);
  const body = withdrawBody(h, uncertaintyId, resolutionId);
  // Its time is over, although the loop has not looked yet.
  await h.refuse(uncertainties.withdrawResolution, body, 'ALREADY_RESOLVED');
  await h.hub.loops.handOvers.runOnce();
  await h.refuse(uncertainties.withdrawResolution, body, 'ALREADY_RESOLVED');
});

test('an answer is withdrawn by its author only', async (t) => {
  const h = await startDecisionWorld(t);
  const { uncertaintyId, resolutionId } = await startHeld(h);
  const other = await h.mintToken(h.workspaceId, 'other', ['decide']);
  const body = withdrawBody(h, uncertaintyId, resolutionId);
  await h.refuse(uncertainties.withdrawResolution, body, 'NOT_ALLOWED', other);
  assert.equal((await h.read(uncertaintyId)).status, 'resolved');
});

test('the loser of a race reads who answered, when and what, also while it can be withdrawn', async (t) => {
  const h = await startDecisionWorld(t);
  const { uncertaintyId } = await startHeld(h);
  const second = h.answerBody(uncertaintyId);
  const reply = await h.refuse(uncertainties.addResolution, second, 'ALREADY_RESOLVED');
  const { message } = reply;
  const at = new Date(h.clock.nowMs()).toISOString();
  assert.equal(message, `test answered "blue" at ${at}. Send supersede to replace the answer.`);
  const { uncertaintyId: dismissed } = await h.ask();
  await h.answer(dismissed, { mode: 'dismissed', value: '' });
  const third = h.answerBody(dismissed);
  const late = await h.refuse(uncertainties.addResolution, third, 'ALREADY_RESOLVED');
  assert.match(late.message, /^test dismissed it at /);
});

test('the job that asked does not learn an answer that can be withdrawn', async (t) => {
  const h = await startDecisionWorld(t);
  const { workspaceId, runId } = h;
  const { jobId, jobToken } = await h.startJob();
  const { uncertaintyId } = await h.ask({ jobId });
  await h.answer(uncertaintyId, { undoMs: UNDO_MS });
  const ref = { workspaceId, uncertaintyId };
  const asTool = async () => (await h.call(uncertainties.get, ref, jobToken)).uncertainty;
  const waited = await h.call(uncertainties.wait, { ...ref, waitMs: 0 }, jobToken);
  for (const seen of [waited.uncertainty, await asTool()]) {
    assert.deepEqual([seen.status, seen.resolution, seen.resolutions], ['open', null, []]);
  }
  const list = async (status: 'open' | 'resolved') =>
    (await h.call(uncertainties.list, { workspaceId, runId, status }, jobToken)).uncertainties;
  assert.deepEqual(
    (await list('open')).map((each) => [each.uncertaintyId, each.resolution]),
    [[uncertaintyId, null]],
  );
  assert.deepEqual(await list('resolved'), []);
  const parked = h.call(uncertainties.wait, { ...ref, waitMs: 60_000 }, jobToken);
  await passUndo(h);
  assert.equal((await parked).uncertainty.resolution?.value, 'blue');
  assert.equal((await asTool()).status, 'resolved');
});

test('a job that blocks while its answer can be withdrawn waits for it, and then gets it', async (t) => {
  const h = await startDecisionWorld(t);
  const { jobId } = await h.startJob();
  const { uncertaintyId } = await h.ask({ jobId });
  await h.answer(uncertaintyId, { undoMs: UNDO_MS });
  await h.block(jobId);
  const { job } = await h.get(jobId);
  assert.deepEqual([job.status, job.waitingOnUncertaintyId], ['blocked', uncertaintyId]);
  await passUndo(h);
  assert.equal((await h.get(jobId)).job.status, 'pending');
});

test('a job that is done before its answer is handed over has it applied by another job', async (t) => {
  const h = await startDecisionWorld(t);
  const { jobId } = await h.startJob();
  const { uncertaintyId } = await h.ask({ jobId });
  await h.answer(uncertaintyId, { undoMs: UNDO_MS });
  await h.complete(jobId);
  assert.deepEqual(await h.applications(), []);
  await passUndo(h);
  assert.equal((await h.applications()).length, 1);
});

test('a deadline that passes while an answer can be withdrawn does not replace it', async (t) => {
  const h = await startDecisionWorld(t);
  const deadlineAt = new Date(h.clock.nowMs() + 1_000).toISOString();
  const asked = { deadlineAt, onDeadline: 'assume', assumedValue: 'red' } as const;
  const { uncertaintyId } = await h.ask(asked);
  const { resolutionId } = await h.answer(uncertaintyId, { undoMs: UNDO_MS });
  h.clock.advance(2_000);
  await h.hub.loops.deadlines.runOnce();
  assert.equal((await h.read(uncertaintyId)).resolution?.value, 'blue');
  // Withdrawn, it is a question whose deadline has passed.
  const body = withdrawBody(h, uncertaintyId, resolutionId);
  await h.call(uncertainties.withdrawResolution, body);
  await h.hub.loops.deadlines.runOnce();
  const { resolution } = await h.read(uncertaintyId);
  assert.deepEqual([resolution?.mode, resolution?.value], ['assumed', 'red']);
});

test('an answer that supersedes one in its undo time is handed over alone', async (t) => {
  const h = await startDecisionWorld(t);
  const { jobId, uncertaintyId } = await startHeld(h);
  await h.answer(uncertaintyId, { value: 'green', supersede: true });
  await passUndo(h);
  const { job } = await h.get(jobId);
  assert.deepEqual(
    job.decisions.map(({ value }) => value),
    ['green'],
  );
  const { resolutions } = await h.read(uncertaintyId);
  assert.deepEqual(
    resolutions.map(({ value }) => value),
    ['blue', 'green'],
  );
  const resumed = (await h.timeline(jobId)).filter(({ kind }) => kind === 'enqueued');
  assert.equal(resumed.length, 2);
});

test('when a superseding answer is withdrawn, the one before it applies', async (t) => {
  const h = await startDecisionWorld(t);
  const { jobId, uncertaintyId } = await startHeld(h);
  const body = { value: 'green', supersede: true, undoMs: UNDO_MS };
  const { resolutionId } = await h.answer(uncertaintyId, body);
  const withdrawal = withdrawBody(h, uncertaintyId, resolutionId);
  const { uncertainty } = await h.call(uncertainties.withdrawResolution, withdrawal);
  assert.equal(uncertainty.resolution?.value, 'blue');
  await h.hub.loops.handOvers.runOnce();
  const { job } = await h.get(jobId);
  assert.deepEqual([job.status, job.decisions[0]?.value], ['pending', 'blue']);
});

test('a canceled job gets nothing at the end of the undo time, and its answer is not lost', async (t) => {
  const h = await startDecisionWorld(t);
  const { jobId } = await startHeld(h);
  await h.call(jobs.cancel, { workspaceId: h.workspaceId, jobId });
  await passUndo(h);
  assert.equal((await h.get(jobId)).job.status, 'canceled');
  assert.equal((await h.applications()).length, 1);
});

test('the same answer with the same key is given again after it was withdrawn', async (t) => {
  const h = await startDecisionWorld(t);
  const idempotencyKey = 'answer-1';
  const { uncertaintyId, resolutionId } = await startHeld(h, { idempotencyKey });
  const again = () => h.answer(uncertaintyId, { undoMs: UNDO_MS, idempotencyKey });
  const repeated = await again();
  assert.deepEqual([repeated.resolutionId, repeated.idempotent], [resolutionId, true]);
  await h.call(uncertainties.withdrawResolution, withdrawBody(h, uncertaintyId, resolutionId));
  const second = await again();
  assert.notEqual(second.resolutionId, resolutionId);
  assert.equal(second.idempotent, undefined);
  assert.equal((await h.read(uncertaintyId)).status, 'resolved');
  assert.deepEqual((await again()).resolutionId, second.resolutionId);
});

test('after the clock was set back, a held answer is handed over and cannot be withdrawn', async (t) => {
  const h = await startDecisionWorld(t);
  const { jobId, uncertaintyId, resolutionId } = await startHeld(h);
  h.clock.advance(-3_600_000);
  const body = withdrawBody(h, uncertaintyId, resolutionId);
  await h.refuse(uncertainties.withdrawResolution, body, 'ALREADY_RESOLVED');
  await h.hub.loops.handOvers.runOnce();
  assert.equal((await h.get(jobId)).job.status, 'pending');
  assert.equal((await h.read(uncertaintyId)).handOverAt, null);
});
