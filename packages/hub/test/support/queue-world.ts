import type { TestContext } from 'node:test';
import { endpoints, type RequestOf } from '@signalbox/contract';
import { startHomeWorld } from './home-world.ts';
import { createManualClock, type ManualClock } from './manual-clock.ts';
import type { TestHubOptions } from './test-hub.ts';

const { jobs, jobEvents } = endpoints;

type EnqueueBody = Omit<RequestOf<typeof jobs.enqueue>, 'workspaceId' | 'repoId'>;

/** A hub with a standing clock, one agent that may do everything, and short words for the loop. */
export async function startQueueWorld(t: TestContext, options: Omit<TestHubOptions, 'clock'> = {}) {
  const clock: ManualClock = createManualClock();
  const harness = await startHomeWorld(t, { ...options, clock });
  const { workspaceId, repoId } = harness.home;
  const agentId = await harness.addAgent(harness.home, 'first');
  const enqueue = (body: Partial<EnqueueBody> = {}) =>
    harness.call(jobs.enqueue, { workspaceId, repoId, kind: 'work', prompt: 'Do it.', ...body });
  const claim = (body: Partial<RequestOf<typeof jobs.claimNext>> = {}) =>
    harness.call(jobs.claimNext, { workspaceId, agentId, ...body });
  const complete = (jobId: string, body: Partial<RequestOf<typeof jobs.complete>> = {}) =>
    harness.call(jobs.complete, { workspaceId, jobId, agentId, outcome: 'done', ...body });
  const get = (jobId: string) => harness.call(jobs.get, { workspaceId, jobId });
  const timeline = async (jobId: string) => {
    const { events } = await harness.call(jobEvents.listForJob, { workspaceId, jobId });
    return events;
  };
  return {
    ...harness,
    clock,
    agentId,
    workspaceId,
    repoId,
    enqueue,
    claim,
    complete,
    get,
    timeline,
  };
}

export const kindsOf = (events: { kind: string }[]) => events.map((event) => event.kind);
