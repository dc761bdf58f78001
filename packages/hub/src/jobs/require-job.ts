import { requireAgent } from '../agents/require-agent.ts';
import { readAgentOwner } from '../agents/store.ts';
import { HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Tx } from '../db/engine.ts';
import type { Entry, LeasedRecord } from '../queue/entry.ts';
import { readEntry } from '../queue/store.ts';
import { type JobRow, readJob } from './store.ts';

export type JobRecord = LeasedRecord<JobRow>;

/** The job that an agent names in a write. */
export interface HeldJobRef {
  workspaceId: string;
  jobId: string;
  agentId: string;
}

/**
 * Reads and locks a job that the transaction may change.
 *
 * @throws HubError JOB_NOT_FOUND, the same for unknown and foreign ids.
 */
export async function requireJob(tx: Tx, workspaceId: string, jobId: string): Promise<JobRecord> {
  const record = await findJob(tx, workspaceId, jobId);
  if (record === null) throw new HubError('JOB_NOT_FOUND');
  return record;
}

/** Reads and locks a job; null when it does not exist or retention has deleted it. */
export async function findJob(
  tx: Tx,
  workspaceId: string,
  jobId: string,
): Promise<JobRecord | null> {
  // The entry comes first: on PostgreSQL this locks the job, and the second statement runs after
  // the wait for the lock, so both see the same state.
  const [entry, row] = await Promise.all([
    readEntry(tx, workspaceId, jobId),
    readJob(tx, workspaceId, jobId),
  ]);
  return row === undefined || entry === undefined ? null : { entry, row };
}

/**
 * Reads and locks the entry of the job that an agent names, and checks that the caller may speak
 * for the agent. For output and renewals, which are most calls of a fleet: the wide row of a job
 * has its prompt and its evidence, and an agent's row its capabilities.
 *
 * @throws HubError JOB_NOT_FOUND, AGENT_NOT_FOUND
 */
export async function requireEntryOfAgent(
  tx: Tx,
  principal: Principal,
  { workspaceId, jobId, agentId }: HeldJobRef,
): Promise<Entry> {
  // Sent together: one round trip on PostgreSQL.
  const [entry, agent] = await Promise.all([
    readEntry(tx, workspaceId, jobId),
    readAgentOwner(tx, workspaceId, agentId),
  ]);
  if (entry?.queue !== 'jobs') throw new HubError('JOB_NOT_FOUND');
  requireAgent(agent, principal);
  return entry;
}

/**
 * Reads and locks the job that an agent names, and checks that the caller may speak for the agent.
 *
 * @throws HubError JOB_NOT_FOUND, AGENT_NOT_FOUND
 */
export async function requireJobOfAgent(
  tx: Tx,
  principal: Principal,
  { workspaceId, jobId, agentId }: HeldJobRef,
): Promise<JobRecord> {
  // Sent together: one round trip on PostgreSQL.
  const [record, agent] = await Promise.all([
    findJob(tx, workspaceId, jobId),
    readAgentOwner(tx, workspaceId, agentId),
  ]);
  if (record === null) throw new HubError('JOB_NOT_FOUND');
  requireAgent(agent, principal);
  return record;
}
