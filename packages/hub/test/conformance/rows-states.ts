import assert from 'node:assert/strict';
import { createApprover } from './device-approval.ts';
import { rowsOf } from './row.ts';
import { type Body, paths, type SpecClient } from './spec-client.ts';

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
  [
    'states-7',
    'Device auth session status: pending, approved; the session is short-lived and may expire.',
    async (spec) => {
      const hub = await spec.startHub({});
      const approver = await createApprover(hub);
      const start = { workspaceSlug: approver.workspaceSlug };
      const pollOf = async ({ deviceId, deviceSecret }: Body) =>
        (await hub.ok(paths.pollDevice, { deviceId, deviceSecret }, null)).status;
      const answered = await hub.ok(paths.startDevice, start, null);
      assert.equal(await pollOf(answered), 'pending');
      await approver.approve(answered);
      assert.equal(await pollOf(answered), 'approved');
      const forgotten = await hub.ok(paths.startDevice, start, null);
      const leftMs = Date.parse(forgotten.expiresAt) - hub.clock.nowMs();
      assert.ok(leftMs > 0 && leftMs <= 3_600_000, 'short-lived');
      hub.clock.advance(leftMs);
      assert.equal(await pollOf(forgotten), 'expired');
    },
  ],
  [
    'states-8',
    'Job outcome at completion: done, failed, blocked.',
    async (spec) => {
      for (const outcome of ['done', 'failed', 'blocked']) {
        const held = await claimOne(spec);
        const { result } = await spec.ok(paths.complete, { ...held, outcome, message: 'Over.' });
        assert.equal(result.outcome, outcome);
      }
      const held = await claimOne(spec);
      await spec.fail(paths.complete, { ...held, outcome: 'pending', message: 'Over.' }, 400);
    },
  ],
  [
    'states-9',
    'Job event kinds: enqueued, claimed, heartbeat, log, completed, failed, blocked, canceled, ' +
      'recovered.',
    async (spec) => {
      const seen = new Set<string>();
      const look = async (jobId: string) => {
        for (const { kind } of await spec.listEvents(jobId)) seen.add(kind);
      };
      for (const outcome of ['done', 'failed', 'blocked']) {
        const held = await claimOne(spec);
        await spec.ok(paths.jobHeartbeat, { ...held, leaseMs: 600_000 });
        await spec.ok(paths.complete, { ...held, outcome, message: 'Over.' });
        await look(held.jobId);
      }
      // The specification leaves open which requests cause a log and a cancellation.
      const held = await claimOne(spec, 5_000);
      const entries = [{ logSeq: 1, message: 'Building.' }];
      await spec.ok('/control-plane/v1/job-events/append', { ...held, entries });
      spec.clock.advance(5_000);
      const second = await spec.addAgent({ machineFingerprint: 'machine-2' });
      assert.equal((await spec.claim(second)).jobId, held.jobId);
      await look(held.jobId);
      const jobId = await spec.addJob(await spec.addRepository());
      await spec.ok('/control-plane/v1/jobs/cancel', { workspaceId: spec.workspaceId, jobId });
      await look(jobId);
      assert.deepEqual([...seen].sort(), [
        ...['blocked', 'canceled', 'claimed', 'completed', 'enqueued', 'failed', 'heartbeat'],
        ...['log', 'recovered'],
      ]);
    },
  ],
  [
    'states-10',
    'Run status: in_progress, done.',
    async (spec) => {
      const { workspaceId } = spec;
      const repoId = await spec.addRepository();
      const ref = { workspaceId, repoId, runRef: 'health-check', runStatePath: '.runs/a.json' };
      for (const [status, currentMilestone] of [
        ['in_progress', 'implementation'],
        ['done', 'complete'],
      ]) {
        const { run } = await spec.ok(paths.upsertRunV1, { ...ref, status, currentMilestone });
        assert.deepEqual([run.status, run.currentMilestone], [status, currentMilestone]);
      }
    },
  ],
]);
