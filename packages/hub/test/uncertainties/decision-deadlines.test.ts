import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import { type Decisions, startDecisionWorld } from '../support/decision-world.ts';

const { uncertainties } = endpoints;
const HOUR_MS = 3_600_000;

const inAnHour = (h: Decisions) => new Date(h.clock.nowMs() + HOUR_MS).toISOString();
const deadlinesOf = ({ hub }: Decisions) => hub.loops.deadlines;

test('at its deadline the assumed value resolves a decision request that opted in', async (t) => {
  const h = await startDecisionWorld(t);
  const { jobId } = await h.startJob({ maxAttempts: 1 });
  await h.call(endpoints.jobs.heartbeat, {
    workspaceId: h.workspaceId,
    jobId,
    agentId: h.agentId,
    leaseMs: 2 * HOUR_MS,
  });
  const asked = { deadlineAt: inAnHour(h), onDeadline: 'assume', assumedValue: 'red' } as const;
  const { uncertaintyId } = await h.ask({ jobId, ...asked });
  await h.block(jobId);
  h.clock.advance(HOUR_MS - 1_000);
  await deadlinesOf(h).runOnce();
  assert.equal((await h.read(uncertaintyId)).status, 'open');
  h.clock.advance(1_000);
  await deadlinesOf(h).runOnce();
  const { status, resolution } = await h.read(uncertaintyId);
  assert.deepEqual(
    [status, resolution?.mode, resolution?.value, resolution?.createdBy, resolution?.confidence],
    ['resolved', 'assumed', 'red', null, 0.2],
  );
  const { job } = await h.get(jobId);
  assert.deepEqual([job.status, job.decisions[0]?.mode], ['pending', 'assumed']);
});

test('a decision request that keeps waiting shows as overdue and stays open', async (t) => {
  const h = await startDecisionWorld(t);
  const { uncertaintyId } = await h.ask({ deadlineAt: inAnHour(h) });
  assert.equal((await h.read(uncertaintyId)).overdue, false);
  h.clock.advance(HOUR_MS);
  await deadlinesOf(h).runOnce();
  const { status, overdue } = await h.read(uncertaintyId);
  assert.deepEqual([status, overdue], ['open', true]);
  const { uncertainty } = await h.answer(uncertaintyId);
  assert.deepEqual([uncertainty.status, uncertainty.overdue], ['resolved', false]);
});

test('of a deadline and a person at the same moment only one resolves the request', async (t) => {
  const h = await startDecisionWorld(t);
  for (const personFirst of [true, false]) {
    const { uncertaintyId } = await h.ask({ deadlineAt: inAnHour(h), onDeadline: 'assume' });
    h.clock.advance(HOUR_MS);
    const person = () =>
      h.send(uncertainties.addResolution.path, h.answerBody(uncertaintyId, { value: 'mine' }));
    const deadline = () => deadlinesOf(h).runOnce();
    await Promise.all(personFirst ? [person(), deadline()] : [deadline(), person()]);
    const { resolutions } = await h.read(uncertaintyId);
    assert.equal(resolutions.length, 1);
  }
  assert.equal((await h.applications()).length, 2);
});

test('one decision request that cannot be resolved does not delay the others', async (t) => {
  const h = await startDecisionWorld(t);
  const ask = () => h.ask({ deadlineAt: inAnHour(h), onDeadline: 'assume' });
  const broken = await ask();
  h.clock.advance(1);
  const { uncertaintyId } = await ask();
  // No request can do this, so it is done in the database: delete the run.
  await h.hub.database.write(null, (tx) =>
    tx.runSql('UPDATE uncertainties SET run_id = ? WHERE uncertainty_id = ?', [
      'run_gone',
      broken.uncertaintyId,
    ]),
  );
  h.clock.advance(2 * HOUR_MS);
  await assert.rejects(deadlinesOf(h).runOnce(), /No such run/);
  assert.equal((await h.read(uncertaintyId)).status, 'resolved');
});

test('a deadline that passed before the promotion does not apply', async (t) => {
  const h = await startDecisionWorld(t);
  const { workspaceId } = h;
  const asked = { deadlineAt: inAnHour(h), onDeadline: 'assume', confidence: 0.9 } as const;
  const { uncertaintyId } = await h.ask(asked);
  h.clock.advance(2 * HOUR_MS);
  await deadlinesOf(h).runOnce();
  assert.equal((await h.read(uncertaintyId)).status, 'assumed');
  await h.call(uncertainties.promote, { workspaceId, uncertaintyId });
  await deadlinesOf(h).runOnce();
  const { status, deadlineAt } = await h.read(uncertaintyId);
  assert.deepEqual([status, deadlineAt], ['open', null]);
});
