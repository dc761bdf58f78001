import assert from 'node:assert/strict';
import { rowsOf } from './row.ts';
import { type Body, paths, sha256 } from './spec-client.ts';

export const serviceRows = rowsOf('What the service does', [
  [
    'service-1',
    'The service exposes a JSON-over-HTTP control plane.',
    async (spec) => {
      const { headers, text } = await spec.get(paths.health);
      assert.match(headers.get('content-type') ?? '', /^application\/json/);
      assert.doesNotThrow(() => JSON.parse(text));
    },
  ],
  [
    'service-2',
    'Base address: {base_url}/control-plane. Integration endpoints live under ' +
      '{base_url}/integrations/... and are outside the control-plane prefix.',
    async (spec) => {
      const { body } = await spec.get(paths.openapi);
      assert.deepEqual(
        Object.keys(body.paths).filter((path) => !/^\/(control-plane|integrations)\//.test(path)),
        [],
      );
      assert.equal(body.servers[0].url, spec.baseUrl);
    },
  ],
  [
    'service-3',
    'The machine-readable description is served at GET {base_url}/control-plane/openapi.json. ' +
      'No authentication is needed for it.',
    async (spec) => {
      const { status, body } = await spec.get(paths.openapi);
      assert.equal(status, 200);
      assert.match(body.openapi, /^3\./);
    },
  ],
  [
    'service-4',
    'Capabilities: every endpoint that is named is there.',
    async (spec) => {
      const { body } = await spec.get(paths.openapi);
      const integrations = ['/integrations/events/v1/ingest', '/integrations/chat/events/v1'];
      const named = [...Object.values(paths), ...integrations];
      for (const path of named) assert.ok(path in body.paths, path);
      const specified = Object.values(body.paths as Record<string, Body>).flatMap((operations) =>
        Object.values(operations).filter((each) => each['x-origin'] === 'specification'),
      );
      assert.equal(specified.length, named.length, 'and no further endpoint is listed');
    },
  ],
]);

export const agentLoopRows = rowsOf('What the service does', [
  [
    'loop-1',
    'Typical agent loop: send an agent heartbeat with capabilities; call claim-next repeatedly; ' +
      'receive a job with a lease; execute the job locally; send job heartbeats to keep the ' +
      'lease; complete the job with outcome done, failed or blocked, with evidence; return.',
    async (spec) => {
      const { workspaceId } = spec;
      const repoId = await spec.addRepository();
      const agentId = await spec.addAgent();
      assert.equal((await spec.claim(agentId)).job ?? null, null);
      for (const outcome of ['done', 'failed', 'blocked']) {
        const enqueued = await spec.addJob(repoId);
        const { job } = await spec.claim(agentId);
        assert.equal(job.jobId, enqueued);
        const ref = { workspaceId, jobId: job.jobId, agentId };
        spec.clock.advance(400_000);
        await spec.ok(paths.jobHeartbeat, { ...ref, leaseMs: 600_000, message: 'Half way.' });
        spec.clock.advance(400_000);
        const evidence = { commitSha: '9fceb02d', changedFiles: ['src/health.ts'] };
        await spec.ok(paths.complete, { ...ref, outcome, message: 'It is over.', evidence });
        const listed = await spec.ok(paths.listJobs, { workspaceId, status: outcome });
        assert.deepEqual(listed.jobs[0].evidence, evidence);
      }
      assert.equal((await spec.claim(agentId)).job ?? null, null);
    },
  ],
  [
    'developers-1',
    'Each developer runs a separate agent.',
    async (spec) => {
      const first = await spec.addAgent();
      const second = await spec.addAgent({}, await spec.mintToken('another developer'));
      const third = await spec.addAgent({ machineFingerprint: 'machine-2' });
      assert.equal(new Set([first, second, third]).size, 3);
    },
  ],
  [
    'developers-2',
    'Agents advertise the repositories they serve through local repository mappings.',
    async (spec) => {
      const repoId = await spec.addRepository();
      const jobId = await spec.addJob(repoId);
      const token = await spec.mintToken('another developer');
      const agentId = await spec.addAgent({}, token);
      const claim = { workspaceId: spec.workspaceId, agentId, leaseMs: 600_000 };
      assert.equal((await spec.ok(paths.claimNext, claim, token)).jobId, null);
      // Mapping a clone is resolving its repository by the hash of its remote.
      const remoteUrlHash = sha256(`github.com/${spec.slug}/acme/api`);
      const mapping = { workspaceId: spec.workspaceId, remoteUrlHash };
      assert.equal((await spec.ok(paths.resolveRepository, mapping, token)).repoId, repoId);
      assert.equal((await spec.ok(paths.claimNext, claim, token)).jobId, jobId);
    },
  ],
  [
    'developers-3',
    'The control plane assigns an agent only jobs for those repositories.',
    async (spec) => {
      const served = await spec.addRepository('served');
      const token = await spec.mintToken('another developer');
      const unserved = { workspaceId: spec.workspaceId, remoteUrlHash: sha256('unserved') };
      const other = await spec.ok(paths.upsertRepository, unserved, token);
      await spec.addJob(other.repoId);
      const agentId = await spec.addAgent();
      assert.equal((await spec.claim(agentId)).jobId, null);
      const jobId = await spec.addJob(served);
      assert.equal((await spec.claim(agentId)).jobId, jobId);
      assert.equal((await spec.claim(agentId)).jobId, null);
    },
  ],
  [
    'developers-4',
    'Several agents may be online at once.',
    async (spec) => {
      const repoId = await spec.addRepository();
      const agents = [
        await spec.addAgent(),
        await spec.addAgent({ machineFingerprint: 'machine-2' }),
      ];
      for (const agentId of agents) {
        const jobId = await spec.addJob(repoId);
        assert.equal((await spec.claim(agentId)).jobId, jobId);
      }
    },
  ],
  [
    'developers-5',
    'The lease mechanism ensures each job is executed exactly once.',
    async (spec) => {
      const { workspaceId } = spec;
      const repoId = await spec.addRepository();
      const agents = await Promise.all(
        Array.from({ length: 8 }, (_, i) => spec.addAgent({ machineFingerprint: `m-${i}` })),
      );
      const jobId = await spec.addJob(repoId);
      const claims = await Promise.all(agents.map((agentId) => spec.claim(agentId)));
      const holders = agents.filter((_, i) => claims[i]?.jobId === jobId);
      assert.equal(holders.length, 1);
      const completions = await Promise.all(
        agents.map((agentId) => {
          const evidence = { commitSha: agentId.slice(-8), changedFiles: [] };
          const body = { workspaceId, jobId, agentId, outcome: 'done', message: '', evidence };
          return spec.post(paths.complete, body);
        }),
      );
      assert.equal(completions.filter(({ status }) => status === 200).length, 1);
      const events = await spec.listEvents(jobId);
      assert.equal(events.filter(({ kind }) => kind === 'completed').length, 1);
    },
  ],
]);
