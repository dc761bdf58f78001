import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { endpoints, type RequestOf } from '@signalbox/contract';
import { type HomeWorld, startHomeWorld, type TestWorkspace } from './home-world.ts';
import { createManualClock } from './manual-clock.ts';
import type { TestHubOptions } from './test-hub.ts';

const { cloudAiJobs } = endpoints;

export type CloudAiDraft = Partial<RequestOf<typeof cloudAiJobs.enqueue>>;

const input = { messages: [{ role: 'user' as const, content: 'Say yes.' }] };

/** A cloud AI job of a workspace; a question of one word unless the draft says otherwise. */
export async function enqueueCloudAiJob(
  { call }: Pick<HomeWorld, 'call'>,
  { workspaceId, token }: TestWorkspace,
  draft: CloudAiDraft = {},
): Promise<string> {
  const body = { workspaceId, kind: 'ask', input, ...draft };
  return (await call(cloudAiJobs.enqueue, body, token)).cloudAiJobId;
}

let startedCount = 0;

/** A cloud AI job that an agent has just claimed. */
export async function startCloudAiJob(
  harness: Pick<HomeWorld, 'call'>,
  workspace: TestWorkspace,
  agentId: string,
  draft: CloudAiDraft = {},
): Promise<string> {
  // A kind of its own, so that no other job goes before it.
  startedCount += 1;
  const kind = `kind-${startedCount}`;
  const cloudAiJobId = await enqueueCloudAiJob(harness, workspace, { kind, ...draft });
  const { workspaceId, token } = workspace;
  const claim = { workspaceId, agentId, kinds: [draft.kind ?? kind], leaseMs: 86_400_000 };
  const claimed = await harness.call(cloudAiJobs.claimNext, claim, token);
  assert.equal(claimed.cloudAiJobId, cloudAiJobId);
  return cloudAiJobId;
}

/** A hub with a standing clock, one agent with a model, and short words for the loop. */
export async function startCloudAiWorld(
  t: TestContext,
  options: Omit<TestHubOptions, 'clock'> = {},
) {
  const clock = createManualClock();
  const harness = await startHomeWorld(t, { ...options, clock });
  const { home } = harness;
  const { workspaceId } = home;
  const agentId = await harness.addAgent(home, 'executor', { models: ['sonnet'] });
  return {
    ...harness,
    clock,
    workspaceId,
    agentId,
    enqueue: (draft: CloudAiDraft = {}) => enqueueCloudAiJob(harness, home, draft),
    claim: (body: Partial<RequestOf<typeof cloudAiJobs.claimNext>> = {}) =>
      harness.call(cloudAiJobs.claimNext, { workspaceId, agentId, ...body }),
    complete: (cloudAiJobId: string, body: Partial<RequestOf<typeof cloudAiJobs.complete>> = {}) =>
      harness.call(cloudAiJobs.complete, {
        workspaceId,
        cloudAiJobId,
        agentId,
        outcome: 'done',
        result: { text: 'Yes.' },
        ...body,
      }),
    async get(cloudAiJobId: string) {
      const answer = await harness.call(cloudAiJobs.get, { workspaceId, cloudAiJobId });
      return answer.cloudAiJob;
    },
  };
}
