import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import type { Hub } from '../../src/start/app.ts';
import { mintServiceToken } from '../../src/tokens/mint.ts';
import { createManualClock } from '../support/manual-clock.ts';
import {
  addAgent,
  addWorkspace,
  callHub,
  enqueueJob,
  type HubsWorkspace,
  postHub,
  startSeveralHubs,
  untilAcquainted,
  untilParked,
} from '../support/several-hubs.ts';
import { until } from '../support/until.ts';

const { jobs, tokens, runs, uncertainties } = endpoints;
const options = { timeout: 30_000 };
const WAIT_MS = 60_000;

async function askQuestion(hub: Hub, { workspaceId, repoId, token }: HubsWorkspace) {
  const run = { workspaceId, repoId, runRef: 'run', status: 'in_progress' };
  const { runId } = await callHub(hub, runs.upsertV1, run, token);
  const question = { workspaceId, runId, prompt: 'Which?', kind: 'choice' as const, confidence: 0 };
  const { createWithAutoPromotion } = uncertainties;
  return (await callHub(hub, createWithAutoPromotion, question, token)).uncertaintyId;
}

// Heard: by a hint, with clocks that stand still. Unheard: the waiting hub has to look by itself.
for (const isHeard of [true, false]) {
  const how = isHeard ? 'by a hint' : 'without a hint';
  test(`a token revoked on one hub ends its waits on another ${how}`, options, async (t) => {
    const world = await startSeveralHubs(t);
    const clock: Clock = isHeard ? createManualClock(Date.now()) : systemClock;
    const waiting = await world.start({ databasePooled: !isHeard }, clock);
    const other = await world.start({}, clock);
    if (isHeard) await untilAcquainted(other, waiting);
    const workspace = await addWorkspace(other);
    const { workspaceId, token } = workspace;
    const agentId = await addAgent(other, workspace, 'one');
    const uncertaintyId = await askQuestion(other, workspace);
    const claim = { workspaceId, agentId, waitMs: WAIT_MS };
    const waits = [
      postHub(waiting, jobs.claimNext.path, claim, token),
      postHub(waiting, endpoints.cloudAiJobs.claimNext.path, claim, token),
      postHub(
        waiting,
        uncertainties.wait.path,
        { workspaceId, uncertaintyId, waitMs: WAIT_MS },
        token,
      ),
    ];
    await untilParked(waiting, 2);
    await until('somebody waits', () => waiting.deps.decisionWaiters.count === 1);
    await callHub(other, tokens.revoke, {}, token);
    const codes = (await Promise.all(waits)).map(({ answer }) => answer.error);
    assert.deepEqual(codes, ['TOKEN_REVOKED', 'TOKEN_REVOKED', 'TOKEN_REVOKED']);
  });
}

test(
  'a claim that races with a revocation on another hub gets a job or a refusal, and the job comes back',
  options,
  async (t) => {
    const world = await startSeveralHubs(t);
    const [one, two] = [await world.start(), await world.start()];
    await untilAcquainted(one, two);
    const workspace = await addWorkspace(one);
    for (let round = 0; round < 8; round++) {
      const { token: spare } = await addSpareToken(one, workspace, `ci-${round}`);
      const agentId = await addAgent(one, { ...workspace, token: spare }, `agent-${round}`, {
        canWrite: true,
        reposAllowed: [workspace.repoId],
      });
      const jobId = await enqueueJob(one, workspace);
      const body = { workspaceId: workspace.workspaceId, agentId };
      const [claimed] = await Promise.all([
        postHub(two, jobs.claimNext.path, body, spare),
        callHub(one, tokens.revoke, {}, spare),
      ]);
      const code = claimed.status === 200 ? 'ok' : claimed.answer.error;
      assert.ok(code === 'ok' || code === 'TOKEN_REVOKED', String(code));
      await until('the job is pending', async () => {
        const { job } = await callHub(one, jobs.get, { ...workspace, jobId }, workspace.token);
        return job.status === 'pending';
      });
      await callHub(one, jobs.cancel, { ...workspace, jobId }, workspace.token);
    }
  },
);

async function addSpareToken(
  { database, deps }: Hub,
  { workspaceId }: HubsWorkspace,
  name: string,
) {
  return database.write(workspaceId, (tx) =>
    mintServiceToken(deps, tx, { workspaceId, name, createdBy: 'test' }),
  );
}
