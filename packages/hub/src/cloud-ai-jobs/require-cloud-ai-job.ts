import { requireAgent } from '../agents/require-agent.ts';
import { readAgent } from '../agents/store.ts';
import { HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Reader, Tx } from '../db/engine.ts';
import type { LeasedRecord } from '../queue/entry.ts';
import { readEntry } from '../queue/store.ts';
import { type CloudAiJobRow, readCloudAiJob, readWholeCloudAiJob } from './store.ts';

export type CloudAiJobRecord = LeasedRecord<CloudAiJobRow>;

/**
 * Reads a cloud AI job without locking it.
 *
 * @throws HubError CLOUD_AI_JOB_NOT_FOUND, the same for unknown and foreign ids.
 */
export async function viewCloudAiJob(
  reader: Reader,
  workspaceId: string,
  cloudAiJobId: string,
): Promise<CloudAiJobRecord> {
  const job = await readWholeCloudAiJob(reader, workspaceId, cloudAiJobId);
  if (job === undefined) throw new HubError('CLOUD_AI_JOB_NOT_FOUND');
  return { entry: job, row: job };
}

/**
 * Reads and locks the cloud AI job that an agent names, and checks that the caller may speak for
 * the agent.
 *
 * @throws HubError CLOUD_AI_JOB_NOT_FOUND, AGENT_NOT_FOUND
 */
export async function requireCloudAiJobOfAgent(
  tx: Tx,
  principal: Principal,
  {
    workspaceId,
    cloudAiJobId,
    agentId,
  }: Record<'workspaceId' | 'cloudAiJobId' | 'agentId', string>,
): Promise<CloudAiJobRecord> {
  // The entry comes first, since that locks the job; see `findJob`.
  const [entry, row, agent] = await Promise.all([
    readEntry(tx, workspaceId, cloudAiJobId),
    readCloudAiJob(tx, workspaceId, cloudAiJobId),
    readAgent(tx, workspaceId, agentId),
  ]);
  if (entry === undefined || row === undefined) throw new HubError('CLOUD_AI_JOB_NOT_FOUND');
  requireAgent(agent, principal);
  return { entry, row };
}
