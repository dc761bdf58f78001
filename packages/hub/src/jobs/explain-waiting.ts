import type { JobStatus, WaitingFor, WaitingJob } from '@signalbox/contract';
import { agentStatusAt } from '../agents/present.ts';
import { readAgent } from '../agents/store.ts';
import { timestampOf } from '../base/clock.ts';
import type { Reader } from '../db/engine.ts';
import { PINNED_UNTIL_MS } from '../queue/store.ts';
import { listNotDone, readKeyHolder } from '../queue/store-waiting.ts';
import { readRepository } from '../repositories/store.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { readWorkspace } from '../workspaces/store.ts';
import { explainAgents } from './explain-agents.ts';
import type { JobRecord } from './require-job.ts';
import { readJobTitles } from './store-whole.ts';

/** Beyond this many jobs ahead, the position is not counted. */
export const POSITION_MAX = 10_000;

/**
 * Explains to people why a job waits: for a decision, its hold, a pause, agents, or its turn.
 *
 * @param queuePosition null when it is above `POSITION_MAX` or the job is not ready.
 * @returns null when the job does not wait.
 */
export async function explainWaiting(
  deps: HubDeps,
  record: JobRecord,
  queuePosition: number | null,
): Promise<WaitingFor | null> {
  const { entry, row } = record;
  if (entry.status === 'blocked' && row.waiting_on_uncertainty_id !== null) {
    return { reason: 'decision', message: 'A person must answer its question.' };
  }
  if (entry.status !== 'pending') return null;
  return (
    (await explainHold(deps, record)) ??
    (await explainPause(deps.database.reader, record)) ??
    (await explainAgents(deps, record.row)) ?? {
      reason: 'queue_position',
      message:
        queuePosition === 1
          ? 'It is next: the next suitable agent claims it.'
          : describeQueue(queuePosition),
    }
  );
}

function describeQueue(queuePosition: number | null): string {
  if (queuePosition === 2) return '1 job of its repository is ahead.';
  const ahead = queuePosition === null ? `More than ${POSITION_MAX}` : queuePosition - 1;
  return `${ahead} jobs of its repository are ahead.`;
}

async function explainHold(deps: HubDeps, record: JobRecord): Promise<WaitingFor | null> {
  const { entry, row } = record;
  const { reader } = deps.database;
  const { workspace_id: workspaceId } = row;
  switch (entry.hold) {
    case 'dependencies': {
      const dependsOn = JSON.parse(row.depends_on) as string[];
      const unmet = await listNotDone(reader, workspaceId, dependsOn);
      const stuck = unmet.filter(({ status }) => status === 'failed' || status === 'canceled');
      return {
        reason: 'dependencies',
        message:
          stuck.length === 0
            ? `It depends on jobs that are not done: ${unmet.length} of them.`
            : `It depends on jobs that failed or were canceled: ${stuck.length} of them. ` +
              'Retry what failed, or cancel this job.',
        ...(await nameJobs(reader, workspaceId, unmet)),
      };
    }
    case 'delayed':
      return {
        reason: 'not_yet_available',
        message: `It is available from ${timestampOf(entry.available_at)}.`,
        until: timestampOf(entry.available_at),
      };
    case 'preferred':
      if (entry.prefer_until === PINNED_UNTIL_MS) return explainPinned(deps, record);
      return {
        reason: 'not_yet_available',
        message:
          `Until ${timestampOf(entry.prefer_until ?? 0)} it is reserved for the agent that held ` +
          'it; after that any suitable agent may claim it.',
      };
    case 'key': {
      const holder = await readKeyHolder(
        reader,
        workspaceId,
        entry.queue,
        entry.concurrency_key ?? '',
      );
      return {
        reason: 'concurrency_key',
        message: `Another job with the concurrency key ${entry.concurrency_key} is first.`,
        ...(holder === undefined
          ? {}
          : await nameJobs(reader, workspaceId, [{ ...holder, status: 'running' }])),
      };
    }
    default:
      return null;
  }
}

/** A round whose branch is on one machine only waits for the agent of that machine. */
async function explainPinned(
  { database: { reader }, clock }: HubDeps,
  { entry, row }: JobRecord,
): Promise<WaitingFor> {
  const reason = 'agent_with_branch';
  const agentId = entry.prefer_agent_id ?? '';
  const agent = await readAgent(reader, row.workspace_id, agentId);
  const name = agent?.display_name ?? agentId;
  const waits = `It waits for ${name}, the only machine with the branch`;
  if (agent === undefined) {
    return { reason, message: `${waits}; it is unknown by now. Start again with a new job.` };
  }
  const status = agentStatusAt(agent, clock.nowMs());
  if (status === 'online') return { reason, message: `${waits}.` };
  const since = `it was last seen at ${timestampOf(agent.last_seen_at)}`;
  const state = status === 'offline' ? `it is offline: ${since}` : 'it takes no more jobs';
  const way = 'Bring it back, or start again from the base with a new job.';
  return {
    reason,
    message: `${waits}; ${state}. ${way}`,
    agents: [{ agentId, displayName: name, obstacle: status }],
  };
}

/** The jobs that another waits for, by which a person finds them. */
async function nameJobs(
  reader: Reader,
  workspaceId: string,
  entries: readonly { entry_id: string; status: string }[],
): Promise<{ jobIds: string[]; jobs: WaitingJob[] }> {
  const jobIds = entries.map(({ entry_id }) => entry_id);
  const titles = await readJobTitles(reader, workspaceId, jobIds);
  const jobs = entries.map(({ entry_id: jobId, status }) => ({
    jobId,
    title: titles.get(jobId) ?? '',
    // The column has no other values.
    status: status as JobStatus,
  }));
  return { jobIds, jobs };
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
