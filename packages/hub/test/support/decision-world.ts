import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { endpoints, type Job, type RequestOf } from '@signalbox/contract';
import type { HomeWorld } from './home-world.ts';
import { startQueueWorld } from './queue-world.ts';
import type { TestHubOptions } from './test-hub.ts';

const { runs, uncertainties, jobs } = endpoints;

type AskBody = RequestOf<typeof uncertainties.createWithAutoPromotion>;
type AnswerBody = RequestOf<typeof uncertainties.addResolution>;

/** The run of `home` that examples are about; made when it is not there. */
export async function ensureRun({ call, home }: HomeWorld, workspace = home): Promise<string> {
  const { workspaceId, repoId, token } = workspace;
  const { runRef } = runs.upsertV1.example.request;
  const body = { workspaceId, repoId, runRef: String(runRef), status: 'in_progress' };
  return (await call(runs.upsertV1, body, token)).runId;
}

/** A question of which the asker is not certain, so that it is a decision request. */
export const question = { prompt: 'Which colour?', kind: 'choice', confidence: 0.2 } as const;

/** A decision request in the inbox of `home`. */
export async function openDecision(
  harness: HomeWorld,
  runId: string,
  taker: Record<string, unknown> = {},
): Promise<string> {
  const { workspaceId } = harness.home;
  // Only `take-answer` names the job that asked.
  const asker = 'claimGeneration' in taker ? { jobId: String(taker.jobId) } : {};
  const body = { workspaceId, runId, ...question, ...asker };
  return (await harness.call(uncertainties.createWithAutoPromotion, body)).uncertaintyId;
}

/** A hub with a standing clock, an agent, a run, and short words for questions and answers. */
export async function startDecisionWorld(
  t: TestContext,
  options: Omit<TestHubOptions, 'clock'> = {},
) {
  const h = await startQueueWorld(t, options);
  const { workspaceId } = h;
  const runId = await ensureRun(h);
  const ask = (body: Partial<AskBody> = {}, token?: string) =>
    h.call(
      uncertainties.createWithAutoPromotion,
      { workspaceId, runId, ...question, ...body },
      token,
    );
  const answerBody = (uncertaintyId: string, body: Partial<AnswerBody> = {}): AnswerBody => ({
    workspaceId,
    uncertaintyId,
    mode: 'answered',
    value: 'blue',
    confidence: 1,
    ...body,
  });
  return {
    ...h,
    runId,
    ask,
    answerBody,
    answer: (uncertaintyId: string, body: Partial<AnswerBody> = {}) =>
      h.call(uncertainties.addResolution, answerBody(uncertaintyId, body)),
    read: async (uncertaintyId: string) =>
      (await h.call(uncertainties.get, { workspaceId, uncertaintyId })).uncertainty,
    /** A job of the run that the agent holds. */
    async startJob(body: Parameters<typeof h.enqueue>[0] = {}) {
      // Before everything that was enqueued without a priority.
      const { jobId } = await h.enqueue({ runId, priority: 100, ...body });
      const claimed = await h.claim();
      assert.equal(claimed.jobId, jobId);
      return { jobId, jobToken: claimed.jobToken ?? '' };
    },
    block: (jobId: string) => h.complete(jobId, { outcome: 'blocked' }),
    applications: async () => {
      const list = await h.call(jobs.list, { workspaceId, kind: 'apply_decision' });
      // Whole jobs, because no view was asked for.
      return list.jobs as Job[];
    },
  };
}

export type Decisions = Awaited<ReturnType<typeof startDecisionWorld>>;
