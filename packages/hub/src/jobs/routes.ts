import { endpoints } from '@signalbox/contract';
import type { Api } from '../http/bind.ts';
import { decodeCursor, encodeCursor } from '../http/paging.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { appendJobLog } from './append-log.ts';
import { approveWork } from './approve-work.ts';
import { changeJobs } from './bulk.ts';
import { cancelJob } from './cancel.ts';
import { claimNextJob } from './claim.ts';
import { closeWork } from './close-work.ts';
import { completeJob } from './complete.ts';
import { continueJob } from './continue.ts';
import { downloadLog } from './download-log.ts';
import { enqueueJob } from './enqueue.ts';
import { landWork } from './land-work.ts';
import { listPauses, pauseQueue, resumeQueue } from './pause.ts';
import { countJobsByStatus, deliverJob, getJob, listJobEvents, listJobs } from './read.ts';
import { readActivity } from './read-activity.ts';
import { readLog } from './read-log.ts';
import { releaseJob } from './release.ts';
import { renewJobLease } from './renew.ts';
import { takeReport } from './report.ts';
import { retryJob } from './retry.ts';
import { searchLog } from './search-log.ts';
import { takeMessages } from './take-messages.ts';
import { chooseVariant } from './variants.ts';

export function bindJobRoutes(api: Api, deps: HubDeps): void {
  bindAgentCalls(api, deps);
  bindPeopleCalls(api, deps);
  bindLogs(api, deps);
  bindWorks(api, deps);
}

/** The log of an attempt, as one text. */
function bindLogs(api: Api, deps: HubDeps): void {
  const { jobs } = endpoints;
  api.bindShared(jobs.log, {
    recordOf: ({ jobId }) => jobId,
    read: (input) => readLog(deps, input),
    lasts: () => true,
  });
  api.bindShared(jobs.activity, {
    recordOf: ({ jobId }) => jobId,
    read: (input) => readActivity(deps, input),
    lasts: () => true,
  });
  api.bind(jobs.searchLog, (input, context) => searchLog(deps, context, input));
  api.bindStream(jobs.downloadLog, (input) => downloadLog(deps, input));
}

/** How a piece of work ends. */
function bindWorks(api: Api, deps: HubDeps): void {
  const { works } = endpoints;
  api.bind(works.approve, async (input, { principal }) => ({
    work: await approveWork(deps, principal, input),
  }));
  api.bind(works.land, (input, { principal }) => landWork(deps, principal, input));
  api.bind(works.close, async (input, { principal }) => ({
    work: await closeWork(deps, principal, input),
  }));
}

/** The calls of an agent: claim, renew, append to the log, complete. */
function bindAgentCalls(api: Api, deps: HubDeps): void {
  const { agents, jobs, jobEvents } = endpoints;
  api.bind(agents.report, (input, context) => takeReport(deps, context, input));
  api.bind(jobs.claimNext, (input, context) => claimNextJob(deps, context, input));
  api.bind(jobs.heartbeat, (input, context) => renewJobLease(deps, context, input));
  api.bind(jobs.complete, (input, context) => completeJob(deps, context, input));
  api.bind(jobs.takeMessages, async (input, { principal }) => ({
    messages: await takeMessages(deps, principal, input),
  }));
  api.bind(jobEvents.append, (input, context) => appendJobLog(deps, context, input));
}

/** The calls of people and their programs; the console has them too. */
function bindPeopleCalls(api: Api, deps: HubDeps): void {
  const { jobs, jobEvents, queue } = endpoints;
  api.bind(jobs.enqueue, (input, { principal }) => enqueueJob(deps, principal, input));
  api.bind(jobs.list, async (input, context) => {
    const cursor = decodeCursor(input.cursor, 'job');
    const { jobs, before } = await listJobs(deps, context, input, cursor);
    return { jobs, nextCursor: before === null ? null : encodeCursor(before) };
  });
  api.bind(jobs.counts, (input, { principal }) => countJobsByStatus(deps, principal, input));
  api.bindShared(jobs.get, {
    recordOf: ({ jobId }) => jobId,
    read: (input) => getJob(deps, input),
    // All that is told of a job that runs changes with it. Why one waits depends on agents and on
    // other jobs; where a result is, what its work lacks and how it lands, on agents, comments and
    // landings. Variants and reviews are other jobs.
    lasts: ({ job: { status }, variants, reviews }) =>
      status === 'running' && variants === undefined && reviews === undefined,
    readOwn: (input, { job }) => (job === null ? null : deliverJob(deps, input)),
  });
  api.bind(jobs.chooseVariant, (input, { principal }) => chooseVariant(deps, principal, input));
  api.bind(jobs.cancel, async (input, { principal }) => ({
    job: await cancelJob(deps, principal, input),
  }));
  api.bind(jobs.retry, async (input, { principal }) => ({
    job: await retryJob(deps, principal, input),
  }));
  api.bind(jobs.continue, (input, { principal }) => continueJob(deps, principal, input));
  api.bind(jobs.release, async (input, { principal }) => ({
    job: await releaseJob(deps, principal, input),
  }));
  api.bind(jobs.bulk, (input, { principal }) => changeJobs(deps, principal, input));
  api.bindShared(jobEvents.listForJob, {
    recordOf: ({ jobId }) => jobId,
    async read(input) {
      const events = await listJobEvents(deps, input);
      return { events, nextAfter: events.at(-1)?.seq ?? input.after ?? 0 };
    },
    lasts: () => true,
  });
  api.bind(queue.listPauses, async ({ workspaceId }) => ({
    pauses: await listPauses(deps, workspaceId),
  }));
  api.bind(queue.pause, async (input, { principal }) => {
    await pauseQueue(deps, principal, input);
    return { paused: true };
  });
  api.bind(queue.resume, async (input, { principal }) => {
    await resumeQueue(deps, principal, input);
    return { paused: false };
  });
}
