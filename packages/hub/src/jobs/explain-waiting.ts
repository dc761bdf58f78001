import type { Job, WaitingFor } from '@signalbox/contract';
import { capabilitiesOf } from '../agents/present.ts';
import { listOnlineAgents } from '../agents/store.ts';
import { timestampOf } from '../clock.ts';
import type { Reader } from '../db/engine.ts';
import type { HubDeps } from '../hub-deps.ts';
import { meetsNeeds, needsOf } from '../queue/matching.ts';
import { countRunningByAgent, listNotDone, readKeyHolder } from '../queue/store-waiting.ts';
import { hasTokenRepository, readRepository } from '../repositories/store.ts';
import { readWorkspace } from '../workspaces/store.ts';
import type { JobRecord } from './require-job.ts';

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
    (await explainHold(deps.database.reader, record)) ??
    (await explainPause(deps.database.reader, record)) ??
    (await explainAgents(deps, record)) ?? {
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

async function explainHold(reader: Reader, { entry, row }: JobRecord): Promise<WaitingFor | null> {
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

/** Why no online agent could claim the job now; null when one could. */
async function explainAgents(deps: HubDeps, { row }: JobRecord): Promise<WaitingFor | null> {
  const { reader } = deps.database;
  const agents = await listOnlineAgents(reader, row.workspace_id, deps.clock.nowMs());
  const requirements: unknown = row.requirements === null ? null : JSON.parse(row.requirements);
  const needs = needsOf(row.kind as Job['kind'], requirements);
  const servedByToken = new Map<string, boolean>();
  let running: ReadonlyMap<string, number> | null = null;
  let serving = 0;
  let capable = 0;
  for (const agent of agents) {
    const capabilities = capabilitiesOf(agent);
    const named = capabilities.reposAllowed?.includes(row.repo_id);
    if (!(named ?? (await isServedByToken(reader, servedByToken, row, agent.token_id)))) continue;
    serving += 1;
    if (!meetsNeeds(capabilities, needs)) continue;
    capable += 1;
    const most = capabilities.maxConcurrentJobs;
    // One query counts the running jobs of all agents.
    if (most !== undefined) running ??= await countRunningByAgent(reader, row.workspace_id);
    if (most === undefined || (running?.get(agent.agent_id) ?? 0) < most) return null;
  }
  if (capable > 0) {
    return { reason: 'agents_at_capacity', message: 'Every agent that could claim it is busy.' };
  }
  return serving > 0
    ? {
        reason: 'no_agent_with_capabilities',
        message: `No online agent that serves its repository has: ${describeNeeds(needs)}.`,
      }
    : {
        reason: 'no_agent_serves_repository',
        message:
          'No online agent serves its repository: start or resume one, or link the repository.',
      };
}

/** Whether a token serves a repository; agents of one token share the result. */
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
