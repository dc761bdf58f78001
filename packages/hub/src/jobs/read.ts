import type { endpoints, Job, RequestInput, WaitingFor } from '@signalbox/contract';
import type { Reader } from '../db/engine.ts';
import { HubError } from '../errors.ts';
import { runHooks } from '../hooks.ts';
import type { HubDeps } from '../hub-deps.ts';
import type { Principal } from '../principal.ts';
import { countReadyBefore } from '../queue/store-waiting.ts';
import { explainWaiting, POSITION_MAX } from './explain-waiting.ts';
import { presentJob } from './present.ts';
import { type JobRecord, requireJob } from './require-job.ts';
import { readJob } from './store.ts';
import { type JobEventRow, listEvents } from './store-events.ts';
import { listJobIds } from './store-list.ts';
import { readWholeJob, readWholeJobs } from './store-whole.ts';

type ListInput = RequestInput<typeof endpoints.jobs.list.request>;

/** Lists a page of jobs, newest first, and the id before which the next page starts. */
export async function listJobs(
  { database }: HubDeps,
  input: ListInput,
  before: string | null,
): Promise<{ jobs: Job[]; before: string | null }> {
  const { workspaceId, limit } = input;
  const page = await listJobIds(database.reader, workspaceId, input, { limit, before });
  const found = await readWholeJobs(database.reader, workspaceId, page.ids);
  const byId = new Map(found.map((job) => [job.job_id, job]));
  const jobs: Job[] = [];
  for (const id of page.ids) {
    const job = byId.get(id);
    // Retention may have deleted it between the two statements.
    if (job !== undefined) jobs.push(presentJob(job, job));
  }
  return { jobs, before: page.before };
}

export interface JobView {
  job: Job;
  queuePosition: number | null;
  waitingFor: WaitingFor | null;
}

/**
 * Returns a job, its position in the queue, and what it waits for.
 *
 * @throws HubError JOB_NOT_FOUND
 */
export async function getJob(
  deps: HubDeps,
  principal: Principal,
  { workspaceId, jobId }: { workspaceId: string; jobId: string },
): Promise<JobView> {
  const { reader } = deps.database;
  const record =
    principal.job === null
      ? await viewJob(reader, workspaceId, jobId)
      : await deliverJob(deps, workspaceId, jobId);
  const { entry, row } = record;
  let queuePosition: number | null = null;
  if (entry.hold === 'ready') {
    const { queue, sort_key: sortKey } = entry;
    const place = { workspaceId, queue, repoId: row.repo_id, sortKey, entryId: jobId };
    const ahead = await countReadyBefore(reader, place, POSITION_MAX);
    queuePosition = ahead < POSITION_MAX ? ahead + 1 : null;
  }
  return {
    job: presentJob(entry, row),
    queuePosition,
    waitingFor: await explainWaiting(deps, record, queuePosition),
  };
}

async function viewJob(reader: Reader, workspaceId: string, jobId: string): Promise<JobRecord> {
  const job = await readWholeJob(reader, workspaceId, jobId);
  if (job === undefined) throw new HubError('JOB_NOT_FOUND');
  return { entry: job, row: job };
}

/** Reads a job for the tool that runs it, which delivers the decisions to the job. */
function deliverJob(deps: HubDeps, workspaceId: string, jobId: string): Promise<JobRecord> {
  return deps.database.write(workspaceId, async (tx) => {
    const record = await requireJob(tx, workspaceId, jobId);
    if (record.row.decisions !== '[]') {
      await runHooks(deps.hooks.onDecisionsDelivered, deps, tx, { workspaceId, jobId });
    }
    return record;
  });
}

/** Lists a page of a job's timeline. @throws HubError JOB_NOT_FOUND */
export async function listJobEvents(
  { database: { reader } }: HubDeps,
  { workspaceId, jobId, after, limit }: RequestInput<typeof endpoints.jobEvents.listForJob.request>,
): Promise<JobEventRow[]> {
  if ((await readJob(reader, workspaceId, jobId)) === undefined) {
    throw new HubError('JOB_NOT_FOUND');
  }
  return listEvents(reader, workspaceId, jobId, { after, limit });
}
