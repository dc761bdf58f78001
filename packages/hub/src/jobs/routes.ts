import { consolePathOf, endpoints } from '@signalbox/contract';
import type { Api } from '../http/bind.ts';
import { decodeCursor, encodeCursor } from '../http/paging.ts';
import type { HubDeps } from '../hub-deps.ts';
import { cancelJob, enqueueJob, releaseJob, retryJob } from './actions.ts';
import { claimNextJob } from './claim-actions.ts';
import { appendJobLog, completeJob, renewLease } from './lease-actions.ts';
import { coversJob, coversRun } from './policy.ts';
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
  const ownJob = { allowJob: coversJob };
  api.bind(jobs.claimNext, (input, context) => claimNextJob(deps, context, input));
  api.bind(jobs.heartbeat, (input, context) => renewLease(deps, context, input), ownJob);
  api.bind(jobs.complete, (input, context) => completeJob(deps, context, input), ownJob);
  api.bind(jobEvents.append, (input, context) => appendJobLog(deps, context, input), ownJob);
}

/** What people and their programs do with jobs; the console has all of it, too. */
function bindPeopleCalls(api: Api, deps: HubDeps): void {
  const { jobs, jobEvents, queue } = endpoints;
  api.bindBoth(jobs.enqueue, consolePathOf(jobs.enqueue), (input, { principal }) =>
    enqueueJob(deps, principal, input),
  );
  api.bindBoth(
    jobs.list,
    consolePathOf(jobs.list),
    async (input) => {
      const { jobs, before } = await listJobs(deps, input, decodeCursor(input.cursor, 'job'));
      return { jobs, nextCursor: before === null ? null : encodeCursor(before) };
    },
    { allowJob: coversRun },
  );
  api.bindBoth(
    jobs.get,
    consolePathOf(jobs.get),
    (input, { principal }) => getJob(deps, principal, input),
    { allowJob: coversJob },
  );
  api.bindBoth(jobs.cancel, consolePathOf(jobs.cancel), async (input, { principal }) => ({
    job: await cancelJob(deps, principal, input),
  }));
  api.bindBoth(jobs.retry, consolePathOf(jobs.retry), async (input, { principal }) => ({
    job: await retryJob(deps, principal, input),
  }));
  api.bindBoth(jobs.release, consolePathOf(jobs.release), async (input, { principal }) => ({
    job: await releaseJob(deps, principal, input),
  }));
  api.bindBoth(
    jobEvents.listForJob,
    consolePathOf(jobEvents.listForJob),
    async (input) => {
      const rows = await listJobEvents(deps, input);
      return { events: rows.map(presentJobEvent), nextAfter: rows.at(-1)?.seq ?? input.after ?? 0 };
    },
    { allowJob: coversJob },
  );
  api.bindBoth(queue.pause, consolePathOf(queue.pause), async (input, { principal }) => {
    await pauseQueue(deps, principal, input);
    return { paused: true };
  });
  api.bindBoth(queue.resume, consolePathOf(queue.resume), async (input, { principal }) => {
    await resumeQueue(deps, principal, input);
    return { paused: false };
  });
}
