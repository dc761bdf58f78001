import assert from 'node:assert/strict';
import { rowsOf } from './row.ts';
import type { SpecClient } from './spec-client.ts';

const reportPath = '/control-plane/v1/agents/report';

/** Two jobs under leases of one agent. */
async function claimTwo(spec: SpecClient) {
  const { workspaceId } = spec;
  const agentId = await spec.addAgent({ capabilities: { maxConcurrentJobs: 2, canWrite: true } });
  const repoId = await spec.addRepository();
  const jobIds = [await spec.addJob(repoId), await spec.addJob(repoId)];
  for (const jobId of jobIds) assert.equal((await spec.claim(agentId)).jobId, jobId);
  const [first = '', second = ''] = jobIds;
  return { workspaceId, agentId, first, second };
}

const entry = (logSeq: number, message: string) => ({ logSeq, message });

export const reportRows = rowsOf('Extensions', [
  [
    'extensions-report-1',
    'POST /control-plane/v1/agents/report (extension): workspaceId, agentId, heartbeat optional, ' +
      'renewals optional, outputs optional; does what the single calls do, with a result for each ' +
      'item in the order of the request.',
    async (spec) => {
      const { workspaceId, agentId, first, second } = await claimTwo(spec);
      spec.clock.advance(30_000);
      const heartbeat = { machineFingerprint: 'machine-1', displayName: 'renamed' };
      const answer = await spec.ok(reportPath, {
        workspaceId,
        agentId,
        heartbeat,
        renewals: [first, second].map((jobId) => ({ jobId, leaseMs: 600_000 })),
        outputs: [{ jobId: second, entries: [entry(1, 'ran\n'), entry(2, 'passed\n')] }],
      });
      assert.equal(answer.heartbeat.agentId, agentId);
      assert.deepEqual(answer.commands, []);
      const leaseExpiresAt = new Date(spec.clock.nowMs() + 600_000).toISOString();
      assert.deepEqual(
        answer.renewals,
        [first, second].map((jobId) => ({ jobId, leaseExpiresAt, cancelRequested: false })),
      );
      assert.deepEqual(answer.outputs, [{ jobId: second, appended: 2, lastLogSeq: 2 }]);
      const logged = (await spec.listEvents(second)).filter(({ kind }) => kind === 'log');
      assert.deepEqual(
        logged.map(({ message }) => message),
        ['ran\n', 'passed\n'],
      );
    },
  ],
  [
    'extensions-report-2',
    'A refused item of a report has the code of the single call and does not prevent the others; ' +
      'a write of an older claim generation is refused.',
    async (spec) => {
      const { workspaceId, agentId, first, second } = await claimTwo(spec);
      const { renewals, outputs } = await spec.ok(reportPath, {
        workspaceId,
        agentId,
        renewals: [
          { jobId: first, claimGeneration: 2 },
          { jobId: second, claimGeneration: 1 },
        ],
        outputs: [
          { jobId: first, claimGeneration: 2, entries: [entry(1, 'late')] },
          { jobId: second, claimGeneration: 1, entries: [entry(1, 'here')] },
        ],
      });
      for (const [refused, accepted] of [renewals, outputs]) {
        assert.equal(refused.error, 'CLAIM_GENERATION_MISMATCH');
        assert.match(refused.message, /\.$/);
        assert.equal(accepted.error, undefined);
      }
      const kinds = (await spec.listEvents(first)).map(({ kind }) => kind);
      assert.deepEqual(kinds, ['enqueued', 'claimed']);
    },
  ],
  [
    'extensions-report-3',
    'A report may be sent again: output that the hub has is skipped.',
    async (spec) => {
      const { workspaceId, agentId, first } = await claimTwo(spec);
      const outputs = [{ jobId: first, entries: [entry(1, 'one'), entry(2, 'two')] }];
      const report = { workspaceId, agentId, renewals: [{ jobId: first }], outputs };
      await spec.ok(reportPath, report);
      const again = await spec.ok(reportPath, report);
      assert.deepEqual(again.outputs, [{ jobId: first, appended: 0, lastLogSeq: 2 }]);
      const logged = (await spec.listEvents(first)).filter(({ kind }) => kind === 'log');
      assert.equal(logged.length, 2);
    },
  ],
]);
