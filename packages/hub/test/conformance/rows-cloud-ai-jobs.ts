import assert from 'node:assert/strict';
import { rowsOf } from './row.ts';
import type { Body, SpecClient } from './spec-client.ts';

const base = '/control-plane/v1/cloud-ai-jobs';
const SOON_MS = 60_000;
const LATER_MS = 120_000;

/** A cloud AI job that an agent has claimed. The specification leaves open how it came about. */
async function claimOne(spec: SpecClient): Promise<{ claimed: Body; ref: Body }> {
  const { workspaceId } = spec;
  const agentId = await spec.addAgent();
  const input = { messages: [{ role: 'user', content: 'Say yes.' }] };
  await spec.ok(`${base}/enqueue`, { workspaceId, kind: 'ask', input });
  const claim = { workspaceId, agentId, leaseMs: SOON_MS };
  const claimed = await spec.ok(`${base}/claim-next`, claim);
  return { claimed, ref: { workspaceId, agentId, cloudAiJobId: claimed.cloudAiJobId } };
}

export const cloudAiServiceRows = rowsOf('What the service does', [
  [
    'service-cloud-ai-jobs-1',
    'Claim, heartbeat and complete cloud AI jobs.',
    async (spec) => {
      const { ref } = await claimOne(spec);
      await spec.ok(`${base}/heartbeat`, { ...ref, leaseMs: LATER_MS });
      await spec.ok(`${base}/complete`, { ...ref, outcome: 'done', result: { text: 'Yes.' } });
    },
  ],
]);

export const cloudAiJobRows = rowsOf('Endpoints', [
  [
    'cloud-ai-jobs-1',
    'POST /control-plane/v1/cloud-ai-jobs/claim-next: claim next cloud AI job; returns job ' +
      'definition and a lease.',
    async (spec) => {
      const { claimed } = await claimOne(spec);
      assert.equal(claimed.cloudAiJob.kind, 'ask');
      assert.equal(claimed.cloudAiJob.input.messages[0].content, 'Say yes.');
      assert.equal(Date.parse(claimed.leaseExpiresAt), spec.clock.nowMs() + SOON_MS);
    },
  ],
  [
    'cloud-ai-jobs-2',
    'POST /control-plane/v1/cloud-ai-jobs/heartbeat: extend the lease of a running cloud AI job.',
    async (spec) => {
      const { ref } = await claimOne(spec);
      const renewed = await spec.ok(`${base}/heartbeat`, { ...ref, leaseMs: LATER_MS });
      assert.equal(Date.parse(renewed.leaseExpiresAt), spec.clock.nowMs() + LATER_MS);
    },
  ],
  [
    'cloud-ai-jobs-3',
    'POST /control-plane/v1/cloud-ai-jobs/complete: report completion with outcome and result.',
    async (spec) => {
      const { ref } = await claimOne(spec);
      const end = { ...ref, outcome: 'done', result: { text: 'Yes.' } };
      const { cloudAiJob } = await spec.ok(`${base}/complete`, end);
      assert.deepEqual(
        [cloudAiJob.status, cloudAiJob.outcome, cloudAiJob.result],
        ['done', 'done', { text: 'Yes.' }],
      );
      await spec.fail(`${base}/complete`, { ...end, outcome: 'failed' }, 400);
    },
  ],
]);
