import { createHash } from 'node:crypto';
import type { Job } from '@signalbox/contract';

/** One claim of a job by this agent. `claimGeneration` fences every later write. */
export interface Attempt {
  /** Identifies the attempt on this machine: its directory, outbox entry and branch. */
  key: string;
  workspaceId: string;
  agentId: string;
  jobId: string;
  claimGeneration: number;
}

/** The attempt without what else its claim returned, such as its token. */
export function attemptOf({ key, workspaceId, agentId, jobId, claimGeneration }: Attempt): Attempt {
  return { key, workspaceId, agentId, jobId, claimGeneration };
}

/** The fields by which every write of the attempt is fenced. */
export function fenceOf({ workspaceId, jobId, agentId, claimGeneration }: Attempt) {
  return { workspaceId, jobId, agentId, claimGeneration };
}

/** An attempt with the data returned by its claim. */
export interface ClaimedJob extends Attempt {
  job: Job;
  /** For the tool that the agent runs; never the agent's own token. Absent on older hubs. */
  jobToken: string | undefined;
  /** When the claim was first sent (monotonic): the lease cannot have begun earlier. */
  claimSentAtMs: number;
}

/** Why an attempt is stopped early. */
export type StopReason =
  /** A person canceled the job: its work is discarded and the lease released. */
  | 'canceled'
  /** The lease is or may be lost, so another agent may hold the job. Nothing is reported. */
  | 'lease_lost'
  /** The agent shuts down now: the job returns to the queue immediately. */
  | 'agent_stopped'
  /** The job exceeded its time limit. */
  | 'time_limit'
  /** The job has cost more than its budget. */
  | 'budget_spent';

/** IDs are opaque, so one that is unsafe in a path is hashed first. */
export function attemptKey(jobId: string, claimGeneration: number): string {
  return `${pathName(jobId)}-${claimGeneration}`;
}

export function pathName(id: string): string {
  if (/^[A-Za-z0-9_][A-Za-z0-9_-]{0,99}$/.test(id)) return id;
  return createHash('sha256').update(id).digest('hex').slice(0, 32);
}
