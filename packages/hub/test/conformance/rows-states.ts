import assert from 'node:assert/strict';
import { rowsOf } from './row.ts';
import { paths, type SpecClient } from './spec-client.ts';

async function claimOne(spec: SpecClient, leaseMs = 600_000) {
  const agentId = await spec.addAgent();
  const jobId = await spec.addJob(await spec.addRepository());
  const claim = await spec.claim(agentId, { leaseMs });
  assert.equal(claim.jobId, jobId);
  return { workspaceId: spec.workspaceId, jobId, agentId };
}

export const stateRows = rowsOf('States and transitions', [
  [
    'states-1',
    'Job list filter status: pending (example of an optional filter).',
    async (spec) => {
      const { workspaceId, jobId } = await claimOne(spec);
      const waiting = await spec.addJob(await spec.addRepository());
      const { jobs } = await spec.ok(paths.listJobs, { workspaceId, status: 'pending' });
      assert.deepEqual(
        jobs.map((job: { jobId: string }) => job.jobId),
        [waiting],
      );
      const all = await spec.ok(paths.listJobs, { workspaceId });
      const ids = all.jobs.map((job: { jobId: string }) => job.jobId);
      assert.deepEqual(ids, [waiting, jobId]);
    },
  ],
  [
    'states-2',
    'Agent status: online. Repository status: active.',
    async (spec) => {
      await spec.addAgent({ status: 'online' });
      const repoId = await spec.addRepository();
      const { workspaceId } = spec;
      const { repo } = await spec.ok(paths.getRepository, { workspaceId, repoId });
      assert.equal(repo.status, 'active');
    },
  ],
  [
    'states-3',
    'A claimed job carries a lease of leaseMs milliseconds.',
    async (spec) => {
      const agentId = await spec.addAgent();
      await spec.addJob(await spec.addRepository());
      const { job, leaseExpiresAt } = await spec.claim(agentId, { leaseMs: 5_000 });
      assert.equal(job.leaseMs, 5_000);
      assert.equal(Date.parse(leaseExpiresAt) - spec.clock.nowMs(), 5_000);
      assert.equal(job.leaseExpiresAt, leaseExpiresAt);
    },
  ],
  [
    'states-4',
    'The agent must send a job heartbeat before the lease expires to keep the job.',
    async (spec) => {
      const held = await claimOne(spec, 5_000);
      for (let i = 0; i < 3; i++) {
        spec.clock.advance(4_000);
        await spec.ok(paths.jobHeartbeat, { ...held, leaseMs: 5_000 });
      }
      const second = await spec.addAgent({ machineFingerprint: 'machine-2' });
      assert.equal((await spec.claim(second)).jobId, null);
      await spec.ok(paths.complete, { ...held, outcome: 'done', message: 'Kept.' });
    },
  ],
  [
    'states-5',
    'Otherwise the job may be reclaimed (job event recovered exists).',
    async (spec) => {
      const held = await claimOne(spec, 5_000);
      spec.clock.advance(5_000);
      const second = await spec.addAgent({ machineFingerprint: 'machine-2' });
      assert.equal((await spec.claim(second)).jobId, held.jobId);
      await spec.fail(paths.jobHeartbeat, { ...held, leaseMs: 5_000 }, 400);
      const late = { ...held, outcome: 'done', message: 'Too late.' };
      await spec.fail(paths.complete, late, 400);
      const events = await spec.listEvents(held.jobId);
      assert.deepEqual(events.map(({ kind }) => kind).slice(0, 4), [
        'enqueued',
        'claimed',
        'recovered',
        'claimed',
      ]);
    },
  ],
  [
    'states-6',
    'A job is claimed by only one agent at a time.',
    async (spec) => {
      const held = await claimOne(spec);
      const second = await spec.addAgent({ machineFingerprint: 'machine-2' });
      assert.equal((await spec.claim(second)).jobId, null);
      await spec.fail(paths.jobHeartbeat, { ...held, agentId: second, leaseMs: 600_000 }, 400);
      assert.equal((await spec.claim(held.agentId)).jobId, null);
    },
  ],
]);
