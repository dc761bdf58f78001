import { endpoints } from '@signalbox/contract';
import type { Api } from '../http/bind.ts';
import { decodeCursor, encodeCursor } from '../http/paging.ts';
import type { HubDeps } from '../hub-deps.ts';
import { cancelJob, enqueueJob, releaseJob, retryJob } from './actions.ts';
import { claimNextJob } from './claim-actions.ts';
import { appendJobLog, completeJob, renewLease } from './lease-actions.ts';
import { presentJobEvent } from './present.ts';
import { pauseQueue, resumeQueue } from './queue-actions.ts';
import { getJob, listJobEvents, listJobs } from './read-actions.ts';

export function bindJobRoutes(api: Api, deps: HubDeps): void {
  bindAgentCalls(api, deps);
  bindPeopleCalls(api, deps);
}

/** The agent's loop: claim, renew, report, complete. */
function bindAgentCalls(api: Api, deps: HubDeps): void {
  const { jobs, jobEvents } = endpoints;
  api.bind(jobs.claimNext, (input, context) => claimNextJob(deps, context, input));
  api.bind(jobs.heartbeat, (input, context) => renewLease(deps, context, input));
  api.bind(jobs.complete, (input, context) => completeJob(deps, context, input));
  api.bind(jobEvents.append, (input, context) => appendJobLog(deps, context, input));
}

/** What people and their programs do with jobs; the console has all of it, too. */
function bindPeopleCalls(api: Api, deps: HubDeps): void {
  const { jobs, jobEvents, queue } = endpoints;
  api.bind(jobs.enqueue, (input, { principal }) => enqueueJob(deps, principal, input));
  api.bind(jobs.list, async (input) => {
    const { jobs, before } = await listJobs(deps, input, decodeCursor(input.cursor, 'job'));
    return { jobs, nextCursor: before === null ? null : encodeCursor(before) };
  });
  api.bind(jobs.get, (input, { principal }) => getJob(deps, principal, input));
  api.bind(jobs.cancel, async (input, { principal }) => ({
    job: await cancelJob(deps, principal, input),
  }));
  api.bind(jobs.retry, async (input, { principal }) => ({
    job: await retryJob(deps, principal, input),
  }));
  api.bind(jobs.release, async (input, { principal }) => ({
    job: await releaseJob(deps, principal, input),
  }));
  api.bind(jobEvents.listForJob, async (input) => {
    const rows = await listJobEvents(deps, input);
    return { events: rows.map(presentJobEvent), nextAfter: rows.at(-1)?.seq ?? input.after ?? 0 };
  });
  api.bind(queue.pause, async (input, { principal }) => {
    await pauseQueue(deps, principal, input);
    return { paused: true };
  });
  api.bind(queue.resume, async (input, { principal }) => {
    await resumeQueue(deps, principal, input);
    return { paused: false };
  });
}
