import assert from 'node:assert/strict';
import { exchange } from '../support/http-exchange.ts';
import { createApprover } from './device-approval.ts';
import { type ConformanceRow, rowsOf } from './row.ts';
import { agentFields, type Body, jobFields, paths, sha256 } from './spec-client.ts';

export const capabilityRows: ConformanceRow[] = rowsOf('What the service does', [
  [
    'capabilities-1',
    'The control plane is the only supported interface for machine-to-machine communication ' +
      'with the hub.',
    async (spec) => {
      // The console's own interface is not for machines: it accepts no token.
      const headers = { 'sec-fetch-site': 'same-origin' };
      const refused: string[] = [];
      for (const specified of Object.values(paths)) {
        const path = specified.replace('/control-plane/', '/console-api/');
        const body = { workspaceId: spec.workspaceId };
        const { status } = await exchange(spec.baseUrl, { path, body, headers, token: spec.token });
        assert.ok(status === 401 || status === 404, `${path}: ${status}`);
        if (status === 401) refused.push(path);
      }
      assert.ok(refused.includes('/console-api/v1/jobs/list'), 'the console does use it');
    },
  ],
  [
    'capabilities-2',
    'Local agent runtimes use it internally; custom tooling and integrations may call it directly.',
    async (spec) => {
      const tool = await spec.mintToken('custom tooling', ['enqueue', 'read']);
      const agent = await spec.mintToken('agent runtime', ['agent']);
      const mapping = { workspaceId: spec.workspaceId, remoteUrlHash: sha256('api'), label: 'api' };
      const { repoId } = await spec.ok(paths.upsertRepository, mapping, agent);
      const agentId = await spec.addAgent({}, agent);
      const { jobId } = await spec.ok(paths.enqueue, jobFields(spec, repoId), tool);
      const claim = { workspaceId: spec.workspaceId, agentId, leaseMs: 600_000 };
      assert.equal((await spec.ok(paths.claimNext, claim, agent)).jobId, jobId);
    },
  ],
  [
    'capabilities-3',
    'Resolve workspaces by slug.',
    async (spec) => {
      const { workspaceId } = await spec.ok(paths.resolveWorkspace, { slug: spec.slug });
      assert.equal(workspaceId, spec.workspaceId);
    },
  ],
  [
    'capabilities-4',
    'Run a device login flow that ends in a bearer token, and revoke that token.',
    async (spec) => {
      const hub = await spec.startHub({});
      const approver = await createApprover(hub);
      const start = { workspaceSlug: approver.workspaceSlug };
      const session = await hub.ok(paths.startDevice, start, null);
      await approver.approve(session);
      const { deviceId, deviceSecret } = session;
      const { token } = await hub.ok(paths.pollDevice, { deviceId, deviceSecret }, null);
      await hub.ok(paths.revokeToken, {}, token);
      await hub.fail(paths.revokeToken, {}, 401, token);
    },
  ],
  [
    'capabilities-5',
    'Register agents by heartbeat.',
    async (spec) => {
      const { agentId } = await spec.ok(paths.agentHeartbeat, agentFields(spec));
      assert.equal((await spec.claim(agentId)).ok, true);
    },
  ],
  [
    'capabilities-6',
    'Resolve, read and upsert repository records keyed by a hash of the remote URL.',
    async (spec) => {
      const { workspaceId } = spec;
      const key = { workspaceId, remoteUrlHash: sha256('github.com/acme/api') };
      const { repoId } = await spec.ok(paths.upsertRepository, { ...key, label: 'acme/api' });
      assert.equal((await spec.ok(paths.resolveRepository, key)).repoId, repoId);
      const { repo } = await spec.ok(paths.getRepository, { workspaceId, repoId });
      assert.equal(repo.remoteUrlHash, key.remoteUrlHash);
    },
  ],
  [
    'capabilities-7',
    'Run a job queue (enqueue, list, claim with a lease, heartbeat to extend the lease, complete ' +
      'with an outcome); read job event timelines.',
    async (spec) => {
      const { workspaceId } = spec;
      const agentId = await spec.addAgent();
      const jobId = await spec.addJob(await spec.addRepository());
      const { jobs } = await spec.ok(paths.listJobs, { workspaceId });
      assert.deepEqual(
        jobs.map((job: Body) => job.jobId),
        [jobId],
      );
      await spec.claim(agentId);
      const ref = { workspaceId, jobId, agentId };
      await spec.ok(paths.jobHeartbeat, { ...ref, leaseMs: 600_000 });
      await spec.ok(paths.complete, { ...ref, outcome: 'done', message: 'Done.' });
      assert.deepEqual(
        (await spec.listEvents(jobId)).map(({ kind }) => kind),
        ['enqueued', 'claimed', 'heartbeat', 'completed'],
      );
    },
  ],
]);
