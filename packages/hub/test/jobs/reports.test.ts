import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { endpoints, type RequestOf } from '@signalbox/contract';
import { kindsOf, startQueueWorld } from '../support/queue-world.ts';

const { agents, jobs, jobEvents } = endpoints;

const LEASE_MS = 60_000;

type Report = RequestOf<typeof agents.report>;

/** An agent that holds some jobs. */
async function setup(
  t: TestContext,
  held: number,
  options: Parameters<typeof startQueueWorld>[1] = {},
) {
  const h = await startQueueWorld(t, options);
  // Gives back the units that the setup has used.
  h.clock.advance(10_000);
  const jobIds: string[] = [];
  for (let count = 0; count < held; count++) {
    await h.enqueue();
    jobIds.push((await h.claim({ leaseMs: LEASE_MS })).jobId ?? '');
  }
  const { workspaceId, agentId } = h;
  const bodyOf = (body: Partial<Report>) => ({ workspaceId, agentId, ...body });
  const report = (body: Partial<Report>) => h.call(agents.report, bodyOf(body));
  const loseLeases = () => {
    h.clock.advance(LEASE_MS);
    return h.hub.loops.sweeper.runOnce();
  };
  return { ...h, jobIds, bodyOf, report, loseLeases };
}

const output = (jobId: string, ...texts: string[]) => ({
  jobId,
  entries: texts.map((message, at) => ({ logSeq: at + 1, message })),
});

test('a report does what a heartbeat, a renewal and an append do', async (t) => {
  const h = await setup(t, 2);
  const [first = '', second = ''] = h.jobIds;
  const { workspaceId, agentId } = h;
  h.clock.advance(5_000);
  const machine = { machineFingerprint: 'first', displayName: 'renamed' };
  const answer = await h.report({
    heartbeat: machine,
    renewals: [{ jobId: first, leaseMs: 90_000, message: 'Testing.' }],
    outputs: [output(first, 'one\n', 'two\n'), output(second, 'three\n')],
  });
  const beat = await h.call(agents.heartbeat, { workspaceId, ...machine });
  assert.equal(beat.agentId, agentId, 'the heartbeat is that of the same agent');
  assert.deepEqual(answer, {
    ok: true,
    heartbeat: { agentId, intervalMs: beat.intervalMs },
    commands: [],
    renewals: [
      {
        jobId: first,
        leaseExpiresAt: new Date(h.clock.nowMs() + 90_000).toISOString(),
        cancelRequested: false,
      },
    ],
    outputs: [
      { jobId: first, appended: 2, lastLogSeq: 2 },
      { jobId: second, appended: 1, lastLogSeq: 1 },
    ],
  });
  assert.deepEqual(kindsOf(await h.timeline(first)), [
    ...['enqueued', 'claimed', 'heartbeat', 'log', 'log'],
  ]);
  const { agent } = await h.call(agents.get, { workspaceId, agentId });
  assert.equal(agent.displayName, 'renamed');
});

test('a lost lease in a report has the code of the single call, and the other jobs continue', async (t) => {
  const h = await setup(t, 2);
  const [lost = '', kept = ''] = h.jobIds;
  const { workspaceId, agentId } = h;
  await h.call(jobs.heartbeat, { workspaceId, agentId, jobId: kept, leaseMs: 600_000 });
  await h.loseLeases();
  const single = { workspaceId, agentId, jobId: lost };
  const { entries } = output(lost, 'late');
  await h.refuse(jobs.heartbeat, single, 'LEASE_LOST');
  await h.refuse(jobEvents.append, { ...single, entries }, 'LEASE_LOST');
  const unknown = `job_${'0'.repeat(32)}`;
  const answer = await h.report({
    renewals: [{ jobId: lost }, { jobId: kept, leaseMs: 900_000 }, { jobId: unknown }],
    outputs: [output(lost, 'late'), output(kept, 'here')],
  });
  assert.deepEqual(
    answer.renewals.map(({ jobId, error }) => [jobId, error]),
    [
      [lost, 'LEASE_LOST'],
      [kept, undefined],
      [unknown, 'JOB_NOT_FOUND'],
    ],
  );
  assert.deepEqual(
    answer.outputs.map(({ error, appended }) => [error, appended]),
    [
      ['LEASE_LOST', undefined],
      [undefined, 1],
    ],
  );
  const { job } = await h.get(kept);
  assert.equal(job.leaseExpiresAt, new Date(h.clock.nowMs() + 900_000).toISOString());
  assert.equal(kindsOf(await h.timeline(lost)).includes('log'), false);
});

test('a report of an older claim is refused for that job, by its generation', async (t) => {
  const h = await setup(t, 1);
  const [jobId = ''] = h.jobIds;
  await h.loseLeases();
  assert.equal((await h.claim()).claimGeneration, 2);
  const { renewals, outputs } = await h.report({
    renewals: [{ jobId, claimGeneration: 1 }],
    outputs: [{ ...output(jobId, 'old'), claimGeneration: 1 }],
  });
  assert.deepEqual(
    [...renewals, ...outputs].map(({ error }) => error),
    ['CLAIM_GENERATION_MISMATCH', 'CLAIM_GENERATION_MISMATCH'],
  );
});

test('a report that is sent again appends nothing twice', async (t) => {
  const h = await setup(t, 1);
  const [jobId = ''] = h.jobIds;
  const body = { renewals: [{ jobId }], outputs: [output(jobId, 'one', 'two')] };
  assert.equal((await h.report(body)).outputs[0]?.appended, 2);
  const again = await h.report(body);
  assert.deepEqual(again.outputs, [{ jobId, appended: 0, lastLogSeq: 2 }]);
  assert.equal(kindsOf(await h.timeline(jobId)).filter((kind) => kind === 'log').length, 2);
});

test('a report tells of a cancel in the results of its job and among the commands', async (t) => {
  const h = await setup(t, 2);
  const [jobId = '', other = ''] = h.jobIds;
  await h.call(jobs.cancel, { workspaceId: h.workspaceId, jobId });
  const answer = await h.report({
    renewals: [{ jobId }, { jobId: other }],
    outputs: [output(jobId, 'still here')],
  });
  assert.deepEqual(
    answer.renewals.map(({ cancelRequested }) => cancelRequested),
    [true, false],
  );
  assert.equal(answer.outputs[0]?.cancelRequested, true);
  assert.deepEqual(answer.commands, [{ command: 'cancel-job', jobId }]);
});

test('a report of another principal’s agent, or with too many entries, writes nothing', async (t) => {
  const h = await setup(t, 1);
  const [jobId = ''] = h.jobIds;
  const body = h.bodyOf({ renewals: [{ jobId }], outputs: [output(jobId, 'one')] });
  const stranger = await h.mintToken(h.workspaceId, 'stranger');
  await h.refuse(agents.report, body, 'AGENT_NOT_FOUND', stranger);
  const texts = Array.from({ length: 251 }, () => 'x');
  const many = { ...body, outputs: [output(jobId, ...texts), output(jobId, ...texts)] };
  await h.refuse(agents.report, many, 'INVALID_REQUEST');
  assert.deepEqual(kindsOf(await h.timeline(jobId)), ['enqueued', 'claimed']);
});

test('output beyond the rate of its caller is refused alone, and the renewals count', async (t) => {
  const h = await setup(t, 1, { config: { tokenRate: 10 } });
  const [jobId = ''] = h.jobIds;
  h.clock.advance(10_000);
  const outputs = Array.from({ length: 15 }, () => output(jobId, 'one'));
  assert.equal((await h.report({ outputs })).outputs[0]?.appended, 1);
  const { renewals, outputs: results } = await h.report({ renewals: [{ jobId }], outputs });
  assert.equal(renewals[0]?.error, undefined);
  assert.deepEqual(new Set(results.map(({ error }) => error)), new Set(['RATE_LIMITED']));
  assert.ok((results[0]?.retryAfterMs ?? 0) > 0);
});
