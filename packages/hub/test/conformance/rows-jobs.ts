import assert from 'node:assert/strict';
import { rowsOf } from './row.ts';
import { jobFields, paths, type SpecClient } from './spec-client.ts';

const idsOf = (jobs: { jobId: string }[]) => jobs.map(({ jobId }) => jobId);

/** A job under a lease, as its agent names it. */
async function claimOne(spec: SpecClient) {
  const agentId = await spec.addAgent();
  const jobId = await spec.addJob(await spec.addRepository());
  assert.equal((await spec.claim(agentId)).jobId, jobId);
  return { workspaceId: spec.workspaceId, jobId, agentId };
}

const evidence = { commitSha: 'abc', changedFiles: ['a.ts'] };

export const jobRows = rowsOf('Endpoints', [
  [
    'jobs-1',
    'POST /control-plane/v1/jobs/list: workspaceId; status optional filter.',
    async (spec) => {
      const { workspaceId } = spec;
      const repoId = await spec.addRepository();
      const ids = [await spec.addJob(repoId), await spec.addJob(repoId)];
      const { jobs } = await spec.ok(paths.listJobs, { workspaceId });
      assert.deepEqual(idsOf(jobs).sort(), ids.sort());
      const done = await spec.ok(paths.listJobs, { workspaceId, status: 'done' });
      assert.deepEqual(done.jobs, []);
    },
  ],
  [
    'jobs-2',
    'POST /control-plane/v1/jobs/enqueue: workspaceId, repoId, runId optional, kind, role, ' +
      'prompt, requirements optional, priority integer.',
    async (spec) => {
      const fields = { ...jobFields(spec, await spec.addRepository()), requirements: 'Node 26.' };
      const { jobId } = await spec.ok(paths.enqueue, fields);
      const { jobs } = await spec.ok(paths.listJobs, { workspaceId: spec.workspaceId });
      assert.partialDeepStrictEqual(jobs[0], { jobId, ...fields });
    },
  ],
  [
    'jobs-3',
    'POST /control-plane/v1/jobs/claim-next: workspaceId, agentId, leaseMs integer ' +
      '(milliseconds, initial lease).',
    async (spec) => {
      const agentId = await spec.addAgent();
      const jobId = await spec.addJob(await spec.addRepository());
      const { workspaceId } = spec;
      const body = { workspaceId, agentId, leaseMs: 600_000 };
      assert.equal((await spec.ok(paths.claimNext, body)).job.jobId, jobId);
    },
  ],
  [
    'jobs-4',
    'POST /control-plane/v1/jobs/heartbeat: workspaceId, jobId, agentId, leaseMs, message optional.',
    async (spec) => {
      const held = await claimOne(spec);
      await spec.ok(paths.jobHeartbeat, { ...held, leaseMs: 600_000, message: 'Half way.' });
      await spec.ok(paths.jobHeartbeat, { ...held, leaseMs: 600_000 });
    },
  ],
  [
    'jobs-5',
    'POST /control-plane/v1/jobs/complete: workspaceId, jobId, agentId, runId optional, outcome ' +
      '(done/failed/blocked), message, outcomeReason optional, evidence {commitSha, changedFiles[]}.',
    async (spec) => {
      const held = await claimOne(spec);
      const completion = { outcome: 'failed', message: 'Red.', outcomeReason: 'Flaky.', evidence };
      await spec.ok(paths.complete, { ...held, ...completion });
      const { jobs } = await spec.ok(paths.listJobs, { workspaceId: spec.workspaceId });
      assert.partialDeepStrictEqual(jobs[0], completion);
    },
  ],
  [
    'jobs-6',
    'An enqueued job becomes available for agents to claim.',
    async (spec) => {
      const { jobId } = await claimOne(spec);
      assert.equal(typeof jobId, 'string');
    },
  ],
  [
    'jobs-7',
    'claim-next returns the next available job matching the agent’s capabilities together with ' +
      'a lease.',
    async (spec) => {
      const repoId = await spec.addRepository();
      const agentId = await spec.addAgent({
        capabilities: { executionModes: ['cli'], models: [] },
      });
      await spec.addJob(repoId, { kind: 'work' });
      const reading = await spec.addJob(repoId, { kind: 'pr_review' });
      const claim = await spec.claim(agentId);
      assert.equal(claim.jobId, reading);
      assert.equal(claim.job.agentId, agentId);
      assert.ok(Date.parse(claim.leaseExpiresAt) > spec.clock.nowMs());
    },
  ],
  [
    'jobs-8',
    'claim-next returns the next available job: the one of the highest priority that has waited ' +
      'longest.',
    async (spec) => {
      const repoId = await spec.addRepository();
      const agentId = await spec.addAgent();
      const first = await spec.addJob(repoId);
      const second = await spec.addJob(repoId);
      const urgent = await spec.addJob(repoId, { priority: 10 });
      for (const expected of [urgent, first, second]) {
        assert.equal((await spec.claim(agentId)).jobId, expected);
      }
    },
  ],
  [
    'jobs-9',
    'claim-next returns an empty response when none is available.',
    async (spec) => {
      await spec.addRepository();
      const agentId = await spec.addAgent();
      const body = await spec.claim(agentId);
      assert.deepEqual([body.ok, body.jobId, body.job], [true, null, null]);
    },
  ],
  [
    'jobs-10',
    'The control plane assigns only jobs for repositories the agent serves.',
    async (spec) => {
      await spec.addJob(await spec.addRepository());
      const token = await spec.mintToken('elsewhere');
      const agentId = await spec.addAgent({}, token);
      const body = { workspaceId: spec.workspaceId, agentId, leaseMs: 600_000 };
      assert.equal((await spec.ok(paths.claimNext, body, token)).job, null);
    },
  ],
  [
    'jobs-11',
    'Job heartbeat extends the lease of a running job.',
    async (spec) => {
      const held = await claimOne(spec);
      spec.clock.advance(100_000);
      const { leaseExpiresAt } = await spec.ok(paths.jobHeartbeat, { ...held, leaseMs: 600_000 });
      assert.equal(Date.parse(leaseExpiresAt), spec.clock.nowMs() + 600_000);
      const { jobs } = await spec.ok(paths.listJobs, { workspaceId: spec.workspaceId });
      assert.equal(jobs[0].leaseExpiresAt, leaseExpiresAt);
    },
  ],
  [
    'job-events-1',
    'POST /control-plane/v1/job-events/list-for-job: workspaceId, jobId, limit integer; returns ' +
      'the event timeline of the job.',
    async (spec) => {
      const { workspaceId, jobId } = await claimOne(spec);
      const { events } = await spec.ok(paths.listJobEvents, { workspaceId, jobId, limit: 100 });
      assert.deepEqual(
        events.map(({ kind }: { kind: string }) => kind),
        ['enqueued', 'claimed'],
      );
    },
  ],
]);

export const eventRows = rowsOf('Events', [
  [
    'events-1',
    'Job events form a per-job timeline; they are read with limit.',
    async (spec) => {
      const { workspaceId, jobId } = await claimOne(spec);
      const other = await spec.addJob(await spec.addRepository());
      assert.equal((await spec.listEvents(other)).length, 1);
      const { events } = await spec.ok(paths.listJobEvents, { workspaceId, jobId, limit: 1 });
      assert.equal(events.length, 1);
    },
  ],
  [
    'events-2',
    'Enqueue creates a job (kind enqueued); claim-next claims (claimed); job heartbeat ' +
      '(heartbeat).',
    async (spec) => {
      const held = await claimOne(spec);
      await spec.ok(paths.jobHeartbeat, { ...held, leaseMs: 600_000, message: 'Half way.' });
      const events = await spec.listEvents(held.jobId);
      assert.deepEqual(
        events.map(({ kind, message }) => [kind, message]),
        [
          ['enqueued', null],
          ['claimed', null],
          ['heartbeat', 'Half way.'],
        ],
      );
    },
  ],
  [
    'events-3',
    'Complete with done, failed or blocked corresponds to completed, failed, blocked.',
    async (spec) => {
      for (const [outcome, kind] of [
        ['done', 'completed'],
        ['failed', 'failed'],
        ['blocked', 'blocked'],
      ]) {
        const held = await claimOne(spec);
        await spec.ok(paths.complete, { ...held, outcome, message: 'Over.', evidence });
        assert.equal((await spec.listEvents(held.jobId)).at(-1)?.kind, kind);
      }
    },
  ],
]);
