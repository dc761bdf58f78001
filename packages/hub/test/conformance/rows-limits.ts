import assert from 'node:assert/strict';
import { exchange } from '../support/http-exchange.ts';
import { rowsOf } from './row.ts';
import { BODY_BYTES, callPaths, resolveOfBytes } from './rows-general.ts';
import { agentFields, jobFields, paths } from './spec-client.ts';

export const errorRows = rowsOf('Errors', [
  [
    'errors-1',
    'Error body: {ok: false, error: <ERROR_CODE>} where error is a descriptive code string.',
    async (spec) => {
      const body = await spec.fail(paths.getRepository, { workspaceId: spec.workspaceId }, 400);
      assert.equal(body.error, 'INVALID_REQUEST');
      assert.equal((await spec.fail(paths.listJobs, {}, 401, null)).error, 'TOKEN_MISSING');
    },
  ],
  [
    'errors-2',
    '200: success.',
    async (spec) => {
      assert.equal((await spec.post(paths.resolveWorkspace, { slug: spec.slug })).status, 200);
    },
  ],
  [
    'errors-3',
    '400: bad request: missing or invalid parameters.',
    async (spec) => {
      const { workspaceId } = spec;
      const repoId = await spec.addRepository();
      await spec.fail(paths.resolveWorkspace, {}, 400);
      await spec.fail(paths.agentHeartbeat, { ...agentFields(spec), status: 'busy' }, 400);
      await spec.fail(paths.enqueue, { ...jobFields(spec, repoId), priority: 'high' }, 400);
      await spec.fail(paths.enqueue, jobFields(spec, 'no repository'), 400);
      await spec.fail(paths.claimNext, { workspaceId, agentId: 'unknown', leaseMs: 600_000 }, 400);
      await spec.fail(paths.listJobEvents, { workspaceId, jobId: 'nothing', limit: 10 }, 400);
    },
  ],
  [
    'errors-4',
    '401: unauthorized: missing, invalid or expired token.',
    async (spec) => {
      await spec.fail(paths.listJobs, { workspaceId: spec.workspaceId }, 401, null);
      await spec.fail(paths.listJobs, { workspaceId: spec.workspaceId }, 401, 'invalid');
    },
  ],
  [
    'errors-5',
    '500: server error.',
    async (spec) => {
      const hub = await spec.startHub({});
      // No request can cause this: the database closes under the running hub.
      await hub.harness.hub.database.close();
      const { status, body } = await hub.post(paths.listJobs, { workspaceId: hub.workspaceId });
      assert.ok(status >= 500 && status < 600);
      assert.deepEqual([body.ok, typeof body.error], [false, 'string']);
    },
  ],
  [
    'errors-6',
    'Unknown or inaccessible workspace slug is not an error: 200 with workspaceId: null.',
    async (spec) => {
      const { workspaceId } = await spec.ok(paths.resolveWorkspace, { slug: 'no-such-slug' });
      assert.equal(workspaceId, null);
    },
  ],
  [
    'errors-7',
    'Claim-next with no job available is not an error: an empty response.',
    async (spec) => {
      assert.equal((await spec.claim(await spec.addAgent())).job, null);
    },
  ],
  [
    'errors-8',
    'A body above 256 KB is rejected.',
    async (spec) => {
      await spec.fail(paths.resolveWorkspace, resolveOfBytes(spec, BODY_BYTES * 4), 413);
    },
  ],
]);

export const limitRows = rowsOf('Limits', [
  [
    'limits-1',
    'Request body size: at most 256 KB, all endpoints.',
    async (spec) => {
      const padding = 'x'.repeat(BODY_BYTES);
      for (const path of callPaths) {
        await spec.fail(path, { workspaceId: spec.workspaceId, padding }, 413);
      }
    },
  ],
  [
    'limits-2',
    'Lease duration: leaseMs in milliseconds; 600000 appears as the request value; claim-next, ' +
      'job heartbeat.',
    async (spec) => {
      const { workspaceId } = spec;
      const agentId = await spec.addAgent();
      const jobId = await spec.addJob(await spec.addRepository());
      const claimed = await spec.claim(agentId, { leaseMs: 600_000 });
      assert.equal(Date.parse(claimed.leaseExpiresAt), spec.clock.nowMs() + 600_000);
      const renewed = await spec.ok(paths.jobHeartbeat, {
        workspaceId,
        jobId,
        agentId,
        leaseMs: 700_000,
      });
      assert.equal(Date.parse(renewed.leaseExpiresAt), spec.clock.nowMs() + 700_000);
    },
  ],
  [
    'limits-3',
    'Job event page size: limit integer request field of the job-events list.',
    async (spec) => {
      const { workspaceId } = spec;
      const jobId = await spec.addJob(await spec.addRepository());
      for (const limit of [1, 1_000]) {
        await spec.ok(paths.listJobEvents, { workspaceId, jobId, limit });
      }
      await spec.fail(paths.listJobEvents, { workspaceId, jobId, limit: 1.5 }, 400);
    },
  ],
  [
    'limits-4',
    'The agent must heartbeat before the lease expires to retain the job.',
    async (spec) => {
      const { workspaceId } = spec;
      const [kept, lost] = [
        await spec.addAgent(),
        await spec.addAgent({ machineFingerprint: 'machine-2' }),
      ];
      const repoId = await spec.addRepository();
      const keptJobId = await spec.addJob(repoId);
      const keptRef = { workspaceId, jobId: keptJobId, agentId: kept };
      assert.equal((await spec.claim(kept, { leaseMs: 5_000 })).jobId, keptJobId);
      const lostJobId = await spec.addJob(repoId);
      assert.equal((await spec.claim(lost, { leaseMs: 5_000 })).jobId, lostJobId);
      spec.clock.advance(4_000);
      await spec.ok(paths.jobHeartbeat, { ...keptRef, leaseMs: 600_000 });
      spec.clock.advance(4_000);
      const third = await spec.addAgent({ machineFingerprint: 'machine-3' });
      assert.equal((await spec.claim(third)).jobId, lostJobId);
      assert.equal((await spec.claim(third)).jobId, null);
    },
  ],
  [
    'limits-5',
    'Request body size: at most 256 KB, all endpoints, the two integration endpoints among them.',
    async (spec) => {
      const secret = 'shared-by-two';
      const hub = await spec.startHub({ integrationSecrets: [secret], chatSecrets: [secret] });
      const timestamp = String(Math.floor(hub.clock.nowMs() / 1_000));
      const headers = {
        'x-svc-integration-event-secret': secret,
        'x-slack-request-timestamp': timestamp,
        'x-slack-signature': 'v0=not-looked-at',
      };
      for (const path of ['/integrations/events/v1/ingest', '/integrations/chat/events/v1']) {
        const body = { padding: 'x'.repeat(BODY_BYTES) };
        assert.equal((await exchange(hub.baseUrl, { path, body, headers })).status, 413, path);
      }
    },
  ],
]);

export const versionRows = rowsOf('Versioning', [
  [
    'versions-1',
    'The version is in the path: /control-plane/v1/... for most endpoints and ' +
      '/control-plane/v2/... for agent heartbeat and run upsert.',
    async (spec) => {
      const { body } = await spec.get(paths.openapi);
      const versioned = Object.keys(body.paths).filter((path) =>
        /^\/control-plane\/.*v\d/.test(path),
      );
      const second = versioned.filter((path) => path.startsWith('/control-plane/v2/'));
      assert.deepEqual(second.sort(), [paths.agentHeartbeat, paths.upsertRunV2]);
      assert.deepEqual(
        versioned.filter((path) => !/^\/control-plane\/v[12]\//.test(path)),
        [],
      );
      const other = '/control-plane/v1/agents/heartbeat';
      assert.equal((await spec.post(other, agentFields(spec))).status, 404);
    },
  ],
  [
    'versions-2',
    'The machine-readable description is at GET {base_url}/control-plane/openapi.json.',
    async (spec) => {
      assert.equal((await spec.get(paths.openapi)).status, 200);
    },
  ],
  [
    'versions-3',
    'Context-pack endpoints carry a version suffix in the last path segment (-v1).',
    async (spec) => {
      const { body } = await spec.get(paths.openapi);
      const packs = Object.keys(body.paths).filter((path) => path.includes('/context-packs/'));
      assert.deepEqual(packs.sort(), [paths.buildPack, paths.resolvePack]);
      for (const path of packs) assert.match(path, /-v1$/);
    },
  ],
]);
