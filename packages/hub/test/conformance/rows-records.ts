import assert from 'node:assert/strict';
import { createApprover } from './device-approval.ts';
import { type ConformanceRow, rowsOf } from './row.ts';
import { agentFields, type Body, jobFields, paths } from './spec-client.ts';

export const recordRows: ConformanceRow[] = rowsOf('Resources and their fields', [
  [
    'workspace-3',
    'Workspace: slug is the lookup key.',
    async (spec) => {
      const other = await spec.harness.addWorkspace(`${spec.slug}-too`);
      const { workspaceId } = await spec.ok(
        paths.resolveWorkspace,
        { slug: other.slug },
        other.token,
      );
      assert.equal(workspaceId, other.workspaceId);
      assert.notEqual(workspaceId, spec.workspaceId);
    },
  ],
  [
    'device-1',
    'Device auth session: workspaceSlug and machineName (optional) are sent at start; deviceId, ' +
      'deviceSecret and approvalUrl (URL) are returned at start; deviceId and deviceSecret are ' +
      'sent at poll.',
    async (spec) => {
      const start = { workspaceSlug: spec.slug, machineName: 'build-7' };
      const { deviceId, deviceSecret, approvalUrl } = await spec.ok(paths.startDevice, start, null);
      assert.ok(URL.canParse(approvalUrl));
      await spec.ok(paths.pollDevice, { deviceId, deviceSecret }, null);
      await spec.fail(paths.pollDevice, { deviceId }, 400, null);
      await spec.fail(paths.pollDevice, { deviceId, deviceSecret: 'another' }, 400, null);
      await spec.fail(paths.startDevice, { machineName: 'build-7' }, 400, null);
    },
  ],
  [
    'device-2',
    'Device auth session: status is pending or approved; token is a bearer token, returned when ' +
      'status is approved, with workspaceId and workspaceSlug.',
    async (spec) => {
      const hub = await spec.startHub({});
      const approver = await createApprover(hub);
      const start = { workspaceSlug: approver.workspaceSlug };
      const session = await hub.ok(paths.startDevice, start, null);
      const { deviceId, deviceSecret } = session;
      const before = await hub.ok(paths.pollDevice, { deviceId, deviceSecret }, null);
      assert.deepEqual([before.status, before.token ?? null], ['pending', null]);
      await approver.approve(session);
      const after = await hub.ok(paths.pollDevice, { deviceId, deviceSecret }, null);
      assert.deepEqual([after.status, after.workspaceSlug], ['approved', start.workspaceSlug]);
      await hub.ok(paths.listJobs, { workspaceId: after.workspaceId }, after.token);
    },
  ],
  [
    'agent-3',
    'Agent: displayName is display metadata; machineFingerprint is the unique id of the machine; ' +
      'agentId is returned by heartbeat.',
    async (spec) => {
      const first = await spec.addAgent({ displayName: 'before' });
      assert.equal(await spec.addAgent({ displayName: 'after' }), first);
      assert.notEqual(await spec.addAgent({ machineFingerprint: 'machine-2' }), first);
    },
  ],
  [
    'agent-4',
    'The hub uses these fields to show online agents.',
    async (spec) => {
      const fields = agentFields(spec);
      const { agentId } = await spec.ok(paths.agentHeartbeat, fields);
      // How they are shown, the specification leaves open.
      const { agents } = await spec.ok('/control-plane/v1/agents/list', {
        workspaceId: spec.workspaceId,
      });
      const { displayName, capabilities } = fields;
      assert.partialDeepStrictEqual(agents, [
        { agentId, displayName, status: 'online', capabilities },
      ]);
    },
  ],
  [
    'job-10',
    'Job: jobId, workspaceId, repoId and runId are strings; prompt is the work instruction.',
    async (spec) => {
      const { workspaceId } = spec;
      const repoId = await spec.addRepository();
      const { runId } = await spec.ok(paths.upsertRunV1, {
        workspaceId,
        repoId,
        runRef: 'health-check',
        status: 'in_progress',
      });
      const agentId = await spec.addAgent();
      const fields: Body = { ...jobFields(spec, repoId), runId, prompt: 'Größer, please.\n' };
      const { jobId } = await spec.ok(paths.enqueue, fields);
      const { job } = await spec.claim(agentId);
      assert.partialDeepStrictEqual(job, { ...fields, jobId });
    },
  ],
]);
