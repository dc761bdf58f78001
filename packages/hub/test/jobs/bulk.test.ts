import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type BulkAction, consoleEndpoints, consolePathOf, endpoints } from '@signalbox/contract';
import { signInFirstOwner } from '../support/console-person.ts';
import { kindsOf, startQueueWorld } from '../support/queue-world.ts';

const { jobs } = endpoints;

type Setup = Awaited<ReturnType<typeof startQueueWorld>>;

function bulk(h: Setup, action: BulkAction, jobIds: readonly string[], more: object = {}) {
  const asked = jobIds.map((jobId) => ({ jobId }));
  return h.call(jobs.bulk, { workspaceId: h.workspaceId, action, jobs: asked, ...more });
}

/** A job of each state, by the name of the state. */
async function addJobs(h: Setup) {
  const ended = async (outcome: 'done' | 'failed' | 'blocked') => {
    const { jobId } = await h.enqueue({ priority: 9 });
    assert.equal((await h.claim()).jobId, jobId);
    await h.complete(jobId, { outcome });
    return jobId;
  };
  const { jobId: canceled } = await h.enqueue();
  await h.call(jobs.cancel, { workspaceId: h.workspaceId, jobId: canceled });
  const [done, failed, blocked] = [
    await ended('done'),
    await ended('failed'),
    await ended('blocked'),
  ];
  const { jobId: running } = await h.enqueue({ priority: 9 });
  assert.equal((await h.claim()).jobId, running);
  const { jobId: pending } = await h.enqueue();
  return { pending, running, done, failed, blocked, canceled };
}

/** The result of a job of each state: the status after a change, or the code of the refusal. */
async function outcomes(t: TestContext, action: BulkAction, more: object = {}) {
  const h = await startQueueWorld(t);
  const byState = await addJobs(h);
  const { results } = await bulk(h, action, Object.values(byState), more);
  assert.deepEqual(
    results.map(({ jobId }) => jobId),
    Object.values(byState),
    'results have the order of the request',
  );
  const states = Object.keys(byState);
  return Object.fromEntries(
    results.map(({ result, status, error }, index) => [
      states[index],
      error ?? `${result} ${status}`,
    ]),
  );
}

test('each job gets the result of the action on it alone', async (t) => {
  assert.deepEqual(await outcomes(t, 'cancel'), {
    pending: 'changed canceled',
    running: 'changed running',
    done: 'JOB_ALREADY_FINISHED',
    failed: 'JOB_ALREADY_FINISHED',
    blocked: 'changed canceled',
    canceled: 'unchanged canceled',
  });
  assert.deepEqual(await outcomes(t, 'retry'), {
    pending: 'INVALID_REQUEST',
    running: 'INVALID_REQUEST',
    done: 'JOB_ALREADY_FINISHED',
    failed: 'changed pending',
    blocked: 'changed pending',
    canceled: 'JOB_CANCELED',
  });
  assert.deepEqual(await outcomes(t, 'set_priority', { priority: 0 }), {
    pending: 'unchanged pending',
    running: 'changed running',
    done: 'JOB_ALREADY_FINISHED',
    failed: 'JOB_ALREADY_FINISHED',
    blocked: 'changed blocked',
    canceled: 'JOB_CANCELED',
  });
});

test('an unknown job and one of another workspace are refused alike, and spoil nothing', async (t) => {
  const h = await startQueueWorld(t);
  const other = await h.addWorkspace('other');
  const foreign = await h.call(
    jobs.enqueue,
    { workspaceId: other.workspaceId, repoId: other.repoId, kind: 'work', prompt: 'Theirs.' },
    other.token,
  );
  const { jobId } = await h.enqueue();
  const unknown = 'job_1j78s1co0003qjivc1or';
  const { results } = await bulk(h, 'cancel', [unknown, foreign.jobId, jobId]);
  const [first, second, third] = results;
  assert.equal(first?.error, 'JOB_NOT_FOUND');
  assert.deepEqual({ ...second, jobId: unknown }, first);
  assert.deepEqual(third, { jobId, result: 'changed', status: 'canceled' });
  const { job } = await h.call(
    jobs.get,
    { workspaceId: other.workspaceId, jobId: foreign.jobId },
    other.token,
  );
  assert.equal(job.status, 'pending');
});

test('a job that was claimed again since the caller looked is left to its holder', async (t) => {
  const h = await startQueueWorld(t);
  const { workspaceId } = h;
  const { jobId } = await h.enqueue();
  await h.claim();
  const asked = [{ jobId, claimGeneration: 0 }];
  const { results } = await h.call(jobs.bulk, { workspaceId, action: 'cancel', jobs: asked });
  assert.equal(results[0]?.error, 'CLAIM_GENERATION_MISMATCH');
  assert.equal((await h.get(jobId)).job.cancelRequestedAt, null);
  const current = [{ jobId, claimGeneration: 1 }];
  await h.call(jobs.bulk, { workspaceId, action: 'cancel', jobs: current });
  assert.notEqual((await h.get(jobId)).job.cancelRequestedAt, null);
});

test('a person releases several jobs; a program gets a refusal for each', async (t) => {
  const h = await startQueueWorld(t);
  const { workspaceId } = h;
  const { jobId: first } = await h.enqueue();
  const { jobId: second } = await h.enqueue();
  await h.claim();
  await h.claim();
  const refused = await bulk(h, 'release', [first, second]);
  assert.deepEqual(
    refused.results.map(({ error }) => error),
    ['NOT_ALLOWED', 'NOT_ALLOWED'],
  );
  const person = await signInFirstOwner(h);
  const { body } = await person.send(consolePathOf(jobs.bulk), {
    workspaceId,
    action: 'release',
    reason: 'The rack lost power.',
    jobs: [{ jobId: first }, { jobId: second }],
  });
  assert.deepEqual(body.results, [
    { jobId: first, result: 'changed', status: 'pending' },
    { jobId: second, result: 'changed', status: 'pending' },
  ]);
  assert.ok(kindsOf(await h.timeline(first)).includes('recovered'));
  await h.refuse(
    jobs.complete,
    { workspaceId, jobId: first, agentId: h.agentId, outcome: 'done' },
    'LEASE_LOST',
  );
});

test('the same key gives the first answer again, and nothing happens twice', async (t) => {
  const h = await startQueueWorld(t);
  const { jobId } = await h.enqueue();
  await h.claim();
  await h.complete(jobId, { outcome: 'failed' });
  const first = await bulk(h, 'retry', [jobId], { idempotencyKey: 'once' });
  await h.claim();
  await h.complete(jobId, { outcome: 'failed' });
  const again = await bulk(h, 'retry', [jobId], { idempotencyKey: 'once' });
  assert.deepEqual(again, { ...first, idempotent: true });
  assert.equal((await h.get(jobId)).job.status, 'failed');
});

test('a higher priority puts a job first, also one that waits for its key', async (t) => {
  const h = await startQueueWorld(t);
  const ids = [];
  for (let n = 0; n < 3; n++) ids.push((await h.enqueue()).jobId);
  const [first = '', second = '', third = ''] = ids;
  const { results } = await bulk(h, 'set_priority', [third], { priority: 1 });
  assert.equal(results[0]?.result, 'changed');
  assert.equal((await h.get(third)).job.priority, 1);
  const claims = [await h.claim(), await h.claim(), await h.claim()];
  assert.deepEqual(
    claims.map(({ jobId }) => jobId),
    [third, first, second],
  );
  const { jobId: holder } = await h.enqueue({ concurrencyKey: 'deploy' });
  const { jobId: early } = await h.enqueue({ concurrencyKey: 'deploy' });
  const { jobId: late } = await h.enqueue({ concurrencyKey: 'deploy' });
  assert.equal((await h.claim()).jobId, holder);
  assert.equal((await h.claim()).jobId, null);
  await bulk(h, 'set_priority', [late], { priority: 1 });
  await h.complete(holder);
  assert.equal((await h.claim()).jobId, late);
  await h.complete(late);
  assert.equal((await h.claim()).jobId, early);
});

test('each changed job is in the audit log, with its reason', async (t) => {
  const h = await startQueueWorld(t);
  const { workspaceId } = h;
  const person = await signInFirstOwner(h);
  const { jobId: kept } = await h.enqueue();
  const { jobId: canceled } = await h.enqueue();
  await bulk(h, 'cancel', [canceled], { reason: 'Duplicates.' });
  await bulk(h, 'set_priority', [kept, canceled], { priority: 5, reason: 'Urgent.' });
  await h.hub.database.write(null, (tx) =>
    tx.runSql(`UPDATE memberships SET role = 'owner' WHERE workspace_id = ?`, [workspaceId]),
  );
  const { body } = await person.send(consoleEndpoints.auditLog.list.path, { workspaceId });
  const entries = body.entries as { action: string; subject: string; data: unknown }[];
  const ofJobs = entries.filter(({ action }) => action.startsWith('job.'));
  assert.deepEqual(
    ofJobs.map(({ action, subject, data }) => ({ action, subject, data })),
    [
      { action: 'job.set_priority', subject: kept, data: { from: 0, to: 5, reason: 'Urgent.' } },
      { action: 'job.cancel', subject: canceled, data: { reason: 'Duplicates.' } },
    ],
  );
});

test('a bulk names each job once, at most 100, and a priority only to set it', async (t) => {
  const h = await startQueueWorld(t);
  const { workspaceId } = h;
  const { jobId } = await h.enqueue();
  const refuse = async (body: object, path: string) => {
    const request = { workspaceId, action: 'cancel' as const, jobs: [{ jobId }], ...body };
    const { details } = await h.refuse(jobs.bulk, request, 'INVALID_REQUEST');
    assert.equal(details?.[0]?.path, path);
  };
  await refuse({ jobs: [{ jobId }, { jobId }] }, '/jobs/1/jobId');
  await refuse({ jobs: [] }, '/jobs');
  await refuse({ jobs: Array.from({ length: 101 }, (_, n) => ({ jobId: `job_${n}` })) }, '/jobs');
  await refuse({ priority: 1 }, '/priority');
  await refuse({ action: 'set_priority' }, '/priority');
  await refuse({ action: 'set_priority', priority: 1_001 }, '/priority');
  assert.equal((await h.get(jobId)).job.status, 'pending', 'a refused bulk changes nothing');
});
