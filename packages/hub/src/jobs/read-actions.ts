import {
  AGENT_OFFLINE_AFTER_MS,
  type endpoints,
  type Job,
  type RequestInput,
  type WaitingFor,
} from '@signalbox/contract';
import { capabilitiesOf } from '../agents/present.ts';
import { listAgentsSeenAfter } from '../agents/store.ts';
import { timestampOf } from '../clock.ts';
import type { Reader } from '../db/engine.ts';
import { HubError } from '../errors.ts';
import type { HubDeps } from '../hub-deps.ts';
import type { Principal } from '../principal.ts';
import { meetsNeeds, needsOf } from '../queue/matching.ts';
import { hasTokenRepository, readRepository } from '../repositories/store.ts';
import { noteAnswersSeen } from '../uncertainties/store.ts';
import { readWorkspace } from '../workspaces/store.ts';
import { type JobRecord, requireJob } from './actions.ts';
import { presentJob } from './present.ts';
import {
  countReadyBefore,
  countRunningByAgent,
  listUnmetDependencies,
  readJob,
  readKeyHolder,
} from './store.ts';
import { type JobEventRow, listEvents } from './store-events.ts';
import { listJobIds } from './store-lists.ts';
import { readWholeJob, readWholeJobs } from './store-whole.ts';

type ListInput = RequestInput<typeof endpoints.jobs.list.request>;

/** Beyond this many jobs ahead, the position is not worth its price. */
const POSITION_MAX = 10_000;

/** A page of jobs, newest first, and where the next one goes on. */
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
    // Retention may have come between.
    if (job !== undefined) jobs.push(presentJob(job, job));
  }
  return { jobs, before: page.before };
}

export interface JobView {
  job: Job;
  queuePosition: number | null;
  waitingFor: WaitingFor | null;
}

/** A job, its place in the queue, and what it waits for. */
export async function getJob(
  deps: HubDeps,
  principal: Principal,
  { workspaceId, jobId }: { workspaceId: string; jobId: string },
): Promise<JobView> {
  const { reader } = deps.database;
  const record =
    principal.job === null
      ? await viewJob(reader, workspaceId, jobId)
      : await tellJob(deps, workspaceId, jobId);
  const { entry, row } = record;
  let queuePosition: number | null = null;
  if (entry.hold === 'ready') {
    const ahead = await countReadyBefore(
      reader,
      { workspaceId, repoId: row.repo_id, sortKey: entry.sort_key, entryId: jobId },
      POSITION_MAX,
    );
    queuePosition = ahead < POSITION_MAX ? ahead + 1 : null;
  }
  return {
    job: presentJob(entry, row),
    queuePosition,
    waitingFor: await explainWaiting(deps, record, queuePosition),
  };
}

/** @throws HubError JOB_NOT_FOUND */
async function viewJob(reader: Reader, workspaceId: string, jobId: string): Promise<JobRecord> {
  const job = await readWholeJob(reader, workspaceId, jobId);
  if (job === undefined) throw new HubError('JOB_NOT_FOUND');
  return { entry: job, row: job };
}

/** A page of a job's timeline. @throws HubError JOB_NOT_FOUND */
export async function listJobEvents(
  { database: { reader } }: HubDeps,
  { workspaceId, jobId, after, limit }: RequestInput<typeof endpoints.jobEvents.listForJob.request>,
): Promise<JobEventRow[]> {
  if ((await readJob(reader, workspaceId, jobId)) === undefined) {
    throw new HubError('JOB_NOT_FOUND');
  }
  return listEvents(reader, workspaceId, jobId, { after, limit });
}

/** Reads a job for its own tool, which knows by this the answers that were handed to it. */
function tellJob(deps: HubDeps, workspaceId: string, jobId: string): Promise<JobRecord> {
  return deps.database.write(workspaceId, async (tx) => {
    const record = await requireJob(tx, workspaceId, jobId);
    if (record.row.decisions !== '[]') await noteAnswersSeen(tx, workspaceId, jobId, null);
    return record;
  });
}

async function explainWaiting(
  deps: HubDeps,
  record: JobRecord,
  queuePosition: number | null,
): Promise<WaitingFor | null> {
  const { entry, row } = record;
  if (entry.status === 'blocked' && row.waiting_on_uncertainty_id !== null) {
    return { reason: 'decision', message: 'A person has to answer its question.' };
  }
  if (entry.status !== 'pending') return null;
  return (
    (await explainHold(deps.database.reader, record)) ??
    (await explainPause(deps.database.reader, record)) ??
    (await explainAgents(deps, record)) ?? {
      reason: 'queue_position',
      message:
        queuePosition === 1
          ? 'It is next: the next agent that asks gets it.'
          : `${queuePosition === null ? `More than ${POSITION_MAX}` : queuePosition - 1} jobs of ` +
            'its repository go first.',
    }
  );
}

async function explainHold(reader: Reader, { entry, row }: JobRecord): Promise<WaitingFor | null> {
  const { workspace_id: workspaceId } = row;
  switch (entry.hold) {
    case 'dependencies': {
      const unmet = await listUnmetDependencies(reader, workspaceId, row.job_id);
      const stuck = unmet.filter(({ status }) => status === 'failed' || status === 'canceled');
      return {
        reason: 'dependencies',
        message:
          stuck.length === 0
            ? `It depends on jobs that are not done: ${unmet.length} of them.`
            : `It depends on jobs that ended otherwise than done: ${stuck.length} of them. ` +
              'Retry what failed, or cancel this job.',
        jobIds: unmet.map((dependency) => dependency.entry_id),
      };
    }
    case 'delayed':
      return {
        reason: 'not_yet_available',
        message: `It is available from ${timestampOf(entry.available_at)}.`,
      };
    case 'preferred':
      return {
        reason: 'not_yet_available',
        message:
          `Until ${timestampOf(entry.prefer_until ?? 0)} it is kept for the agent that held it; ` +
          'then any that suits may have it.',
      };
    case 'key': {
      const holder = await readKeyHolder(reader, workspaceId, entry.concurrency_key ?? '');
      return {
        reason: 'concurrency_key',
        message: `Another job with the concurrency key ${entry.concurrency_key} goes first.`,
        ...(holder === undefined ? {} : { jobIds: [holder.entry_id] }),
      };
    }
    default:
      return null;
  }
}

async function explainPause(reader: Reader, { row }: JobRecord): Promise<WaitingFor | null> {
  const workspace = await readWorkspace(reader, row.workspace_id);
  if (workspace?.queue_paused_at != null) {
    return { reason: 'queue_paused', message: 'The queue of the workspace is paused: resume it.' };
  }
  const repository = await readRepository(reader, row.workspace_id, row.repo_id);
  if (repository?.queue_paused_at != null) {
    return { reason: 'queue_paused', message: 'The queue of the repository is paused: resume it.' };
  }
  return repository?.status === 'archived'
    ? { reason: 'repository_archived', message: 'The repository is archived: make it active.' }
    : null;
}

/** Whether an agent that is online could take it now, and if none could, why not. */
async function explainAgents(deps: HubDeps, { row }: JobRecord): Promise<WaitingFor | null> {
  const { reader } = deps.database;
  const offlineMs = deps.clock.nowMs() - AGENT_OFFLINE_AFTER_MS;
  const agents = await listAgentsSeenAfter(reader, row.workspace_id, offlineMs);
  const requirements: unknown = row.requirements === null ? null : JSON.parse(row.requirements);
  const needs = needsOf(row.kind as Job['kind'], requirements);
  const servedByToken = new Map<string, boolean>();
  let running: ReadonlyMap<string, number> | null = null;
  let serving = 0;
  let capable = 0;
  for (const agent of agents.filter(({ status }) => status === 'online')) {
    const capabilities = capabilitiesOf(agent);
    const named = capabilities.reposAllowed?.includes(row.repo_id);
    if (!(named ?? (await isServedByToken(reader, servedByToken, row, agent.token_id)))) continue;
    serving += 1;
    if (!meetsNeeds(capabilities, needs)) continue;
    capable += 1;
    const most = capabilities.maxConcurrentJobs;
    // Of a crowd, how many each runs is asked once.
    if (most !== undefined) running ??= await countRunningByAgent(reader, row.workspace_id);
    if (most === undefined || (running?.get(agent.agent_id) ?? 0) < most) return null;
  }
  if (capable > 0) {
    return { reason: 'agents_at_capacity', message: 'Every agent that could take it is busy.' };
  }
  return serving > 0
    ? {
        reason: 'no_agent_with_capabilities',
        message: `No online agent that serves its repository has: ${describeNeeds(needs)}.`,
      }
    : {
        reason: 'no_agent_serves_repository',
        message: 'No online agent serves its repository: start one, or link the repository.',
      };
}

/** Agents of one token serve the same, unless they name what they serve. */
async function isServedByToken(
  reader: Reader,
  known: Map<string, boolean>,
  { workspace_id: workspaceId, repo_id: repoId }: JobRecord['row'],
  tokenId: string,
): Promise<boolean> {
  const isServed =
    known.get(tokenId) ?? (await hasTokenRepository(reader, workspaceId, tokenId, repoId));
  known.set(tokenId, isServed);
  return isServed;
}

function describeNeeds(needs: ReturnType<typeof needsOf>): string {
  const { write, network, executionMode, models, labels } = needs;
  return [
    ...(write ? ['canWrite'] : []),
    ...(network ? ['canUseNetwork'] : []),
    ...(executionMode === undefined ? [] : [`execution mode ${executionMode}`]),
    ...(models === undefined ? [] : [`a model of ${models.join(', ')}`]),
    ...Object.entries(labels ?? {}).map(([name, value]) => `label ${name}=${value}`),
  ].join('; ');
}
