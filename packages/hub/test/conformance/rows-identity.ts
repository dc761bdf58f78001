import assert from 'node:assert/strict';
import { createApprover } from './device-approval.ts';
import { rowsOf } from './row.ts';
import { agentFields, paths, sha256 } from './spec-client.ts';

export const identityRows = rowsOf('Endpoints', [
  [
    'workspaces-1',
    'POST /control-plane/v1/workspaces/resolve: slug string; answers ok, workspaceId (string or ' +
      'null), workspace (object).',
    async (spec) => {
      const body = await spec.ok(paths.resolveWorkspace, { slug: spec.slug });
      assert.equal(body.workspaceId, spec.workspaceId);
      assert.equal(typeof body.workspace, 'object');
      await spec.fail(paths.resolveWorkspace, { slug: 5 }, 400);
    },
  ],
  [
    'workspaces-2',
    'When no workspace has the slug, or the caller has no access to it, workspaceId is null.',
    async (spec) => {
      const unknown = await spec.post(paths.resolveWorkspace, { slug: 'no-such-slug' });
      const foreign = await spec.post(paths.resolveWorkspace, { slug: spec.harness.home.slug });
      assert.equal(unknown.status, 200);
      assert.equal(unknown.body.workspaceId, null);
      assert.equal(foreign.text, unknown.text);
    },
  ],
  [
    'devices-1',
    'POST /control-plane/v1/auth/device/start: workspaceSlug string; machineName string optional; ' +
      'answers ok, deviceId, deviceSecret, approvalUrl.',
    async (spec) => {
      const body = await spec.ok(paths.startDevice, { workspaceSlug: spec.slug }, null);
      for (const name of ['deviceId', 'deviceSecret', 'approvalUrl']) {
        assert.ok(typeof body[name] === 'string' && body[name].length > 0, name);
      }
      assert.ok(URL.canParse(body.approvalUrl));
    },
  ],
  [
    'devices-2',
    'POST /control-plane/v1/auth/device/poll: deviceId, deviceSecret; pending: ok, status: ' +
      '"pending".',
    async (spec) => {
      const started = await spec.ok(paths.startDevice, { workspaceSlug: spec.slug }, null);
      const { deviceId, deviceSecret } = started;
      const { status, token } = await spec.ok(paths.pollDevice, { deviceId, deviceSecret }, null);
      assert.equal(status, 'pending');
      assert.equal(token, undefined);
    },
  ],
  [
    'devices-3',
    'Approved: ok, status: "approved", token, workspaceId, workspaceSlug. The user opens ' +
      'approvalUrl in a browser to approve; the flow ends in a bearer token, which revoke ends.',
    async (spec) => {
      const hub = await spec.startHub({});
      const approver = await createApprover(hub);
      const start = { workspaceSlug: approver.workspaceSlug, machineName: 'build-7' };
      const session = await hub.ok(paths.startDevice, start, null);
      const { deviceId, deviceSecret } = session;
      await approver.approve(session);
      const approved = await hub.ok(paths.pollDevice, { deviceId, deviceSecret }, null);
      assert.equal(approved.status, 'approved');
      assert.equal(approved.workspaceSlug, approver.workspaceSlug);
      const { token } = approved;
      const resolved = await hub.ok(paths.resolveWorkspace, { slug: 'lovelace' }, token);
      assert.equal(resolved.workspaceId, approved.workspaceId);
      await hub.ok(paths.revokeToken, {}, token);
      await hub.fail(paths.resolveWorkspace, { slug: 'lovelace' }, 401, token);
    },
  ],
  [
    'devices-4',
    'The client calls poll repeatedly until the user approves in a browser or the session expires.',
    async (spec) => {
      const started = await spec.ok(paths.startDevice, { workspaceSlug: spec.slug }, null);
      const { deviceId, deviceSecret, intervalMs, expiresAt } = started;
      for (let i = 0; i < 3; i++) {
        spec.clock.advance(intervalMs);
        const { status } = await spec.ok(paths.pollDevice, { deviceId, deviceSecret }, null);
        assert.equal(status, 'pending');
      }
      spec.clock.advance(Date.parse(expiresAt) - spec.clock.nowMs());
      const { status } = await spec.ok(paths.pollDevice, { deviceId, deviceSecret }, null);
      assert.equal(status, 'expired');
    },
  ],
  [
    'tokens-1',
    'POST /control-plane/v1/auth/token/revoke: none beyond the bearer header; revokes the bearer ' +
      'token used in this request.',
    async (spec) => {
      const token = await spec.mintToken('leaver');
      const other = await spec.mintToken('stayer');
      const headers = { authorization: `Bearer ${token}` };
      const bare = await fetch(spec.baseUrl + paths.revokeToken, { method: 'POST', headers });
      assert.equal(bare.status, 200);
      await spec.fail(paths.resolveWorkspace, { slug: spec.slug }, 401, token);
      await spec.ok(paths.resolveWorkspace, { slug: spec.slug }, other);
    },
  ],
  [
    'agents-1',
    'POST /control-plane/v2/agents/heartbeat: workspaceId, displayName, machineFingerprint, ' +
      'status, capabilities {executionModes[], models[], canWrite}; answers ok, agentId.',
    async (spec) => {
      const { agentId } = await spec.ok(paths.agentHeartbeat, agentFields(spec));
      assert.equal(typeof agentId, 'string');
    },
  ],
  [
    'agents-2',
    'Registers the agent or updates its online status; sent periodically.',
    async (spec) => {
      const first = await spec.addAgent();
      spec.clock.advance(15_000);
      assert.equal(await spec.addAgent({ displayName: 'renamed' }), first);
    },
  ],
  [
    'repos-1',
    'POST /control-plane/v1/repos/resolve: workspaceId, remoteUrlHash.',
    async (spec) => {
      const { workspaceId } = spec;
      const remoteUrlHash = sha256('one');
      const unknown = await spec.ok(paths.resolveRepository, { workspaceId, remoteUrlHash });
      assert.equal(unknown.repoId, null);
      const fields = { workspaceId, remoteUrlHash, label: 'one', status: 'active' };
      const { repoId } = await spec.ok(paths.upsertRepository, fields);
      const known = await spec.ok(paths.resolveRepository, { workspaceId, remoteUrlHash });
      assert.equal(known.repoId, repoId);
    },
  ],
  [
    'repos-2',
    'POST /control-plane/v1/repos/get: workspaceId, repoId.',
    async (spec) => {
      const { workspaceId } = spec;
      const repoId = await spec.addRepository();
      const { repo } = await spec.ok(paths.getRepository, { workspaceId, repoId });
      assert.equal(repo.repoId, repoId);
      await spec.fail(paths.getRepository, { workspaceId, repoId: 'nothing' }, 400);
    },
  ],
  [
    'repos-3',
    'POST /control-plane/v1/repos/upsert creates a record when the remoteUrlHash is unknown, ' +
      'otherwise updates the existing record.',
    async (spec) => {
      const { workspaceId } = spec;
      const fields = { workspaceId, remoteUrlHash: sha256('two'), status: 'active' };
      const first = await spec.ok(paths.upsertRepository, { ...fields, label: 'before' });
      const second = await spec.ok(paths.upsertRepository, { ...fields, label: 'after' });
      assert.equal(second.repoId, first.repoId);
      const ref = { workspaceId, repoId: first.repoId };
      assert.equal((await spec.ok(paths.getRepository, ref)).repo.label, 'after');
    },
  ],
]);

export const authenticationRows = rowsOf('Authentication', [
  [
    'auth-1',
    'Every request except the health check and the description document carries Authorization: ' +
      'Bearer <ACCESS_TOKEN>.',
    async (spec) => {
      const body = JSON.stringify({ slug: spec.slug });
      const url = spec.baseUrl + paths.resolveWorkspace;
      const call = async (authorization: string) => {
        const headers = { 'content-type': 'application/json', authorization };
        return (await fetch(url, { method: 'POST', headers, body })).status;
      };
      assert.equal(await call(`Bearer ${spec.token}`), 200);
      assert.equal(await call(`bearer ${spec.token}`), 200);
      assert.equal(await call(spec.token), 401);
      assert.equal(await call(`Basic ${spec.token}`), 401);
    },
  ],
  [
    'auth-2',
    'Device login token: used on developer machines, obtained by the device flow (start, user ' +
      'approval in browser, poll).',
    async (spec) => {
      const hub = await spec.startHub({});
      const approver = await createApprover(hub);
      const start = { workspaceSlug: approver.workspaceSlug };
      const session = await hub.ok(paths.startDevice, start, null);
      await approver.approve(session);
      const { deviceId, deviceSecret } = session;
      const { token, workspaceId } = await hub.ok(paths.pollDevice, { deviceId, deviceSecret });
      await hub.ok(paths.agentHeartbeat, { ...agentFields(hub), workspaceId }, token);
    },
  ],
  [
    'auth-3',
    'Service-principal token: minted in the hub, scoped to one workspace.',
    async (spec) => {
      const { home } = spec.harness;
      await spec.ok(paths.listJobs, { workspaceId: spec.workspaceId });
      await spec.fail(paths.listJobs, { workspaceId: home.workspaceId }, 400);
    },
  ],
  [
    'auth-4',
    'Dev-only unauthenticated mode: enabled by SVC_DEV_ALLOW_UNAUTH=true.',
    async (spec) => {
      const hub = await spec.startHub({ devAllowUnauth: true });
      const { workspaceId } = await hub.ok(paths.resolveWorkspace, { slug: hub.slug }, null);
      await hub.ok(paths.agentHeartbeat, { ...agentFields(hub), workspaceId }, null);
      await hub.fail(paths.resolveWorkspace, { slug: hub.slug }, 401, 'a bad token');
      await spec.fail(paths.resolveWorkspace, { slug: spec.slug }, 401, null);
    },
  ],
  [
    'auth-5',
    'A legacy global service token set through a deployment environment variable is rejected ' +
      'unless SVC_CONTROL_PLANE_ALLOW_GLOBAL_TOKEN=true is set.',
    async (spec) => {
      const globalToken = 'a-global-token-of-old';
      const refusing = await spec.startHub({ globalToken });
      await refusing.fail(paths.resolveWorkspace, { slug: refusing.slug }, 401, globalToken);
      const allowing = await spec.startHub({ globalToken, allowGlobalToken: true });
      await allowing.ok(paths.listJobs, { workspaceId: allowing.workspaceId }, globalToken);
    },
  ],
  [
    'auth-6',
    'Missing, invalid or expired token: HTTP 401.',
    async (spec) => {
      const body = { slug: spec.slug };
      await spec.fail(paths.resolveWorkspace, body, 401, null);
      for (const token of ['x', `${spec.token}x`, spec.token.replace('sbx_s_', 'sbx_d_')]) {
        await spec.fail(paths.resolveWorkspace, body, 401, token);
      }
      const hub = await spec.startHub({});
      hub.clock.advance(366 * 86_400_000);
      await hub.fail(paths.resolveWorkspace, body, 401);
    },
  ],
  [
    'auth-7',
    'Token revocation: POST /control-plane/v1/auth/token/revoke revokes the token used for that ' +
      'request.',
    async (spec) => {
      const token = await spec.mintToken('leaver');
      await spec.ok(paths.revokeToken, {}, token);
      await spec.fail(paths.revokeToken, {}, 401, token);
      await spec.ok(paths.resolveWorkspace, { slug: spec.slug });
    },
  ],
  [
    'auth-8',
    'A workspace resolve that the caller may not access returns workspaceId: null instead of an ' +
      'error.',
    async (spec) => {
      const { home } = spec.harness;
      assert.deepEqual(await spec.ok(paths.resolveWorkspace, { slug: home.slug }), {
        ok: true,
        workspaceId: null,
        workspace: null,
      });
    },
  ],
]);
