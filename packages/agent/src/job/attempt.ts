import { createHash } from 'node:crypto';
import type { Job } from '@signalbox/contract';

/** One claim of a job by this agent. `claimGeneration` fences every later write. */
export interface Attempt {
  /** Names the attempt on this machine: its directory, its outbox entry, its branch. */
  key: string;
  workspaceId: string;
  agentId: string;
  jobId: string;
  claimGeneration: number;
}

/** An attempt with all that the claim has brought. */
export interface ClaimedJob extends Attempt {
  job: Job;
  /** For the tool that the agent runs; never the agent's own. Absent on older hubs. */
  jobToken: string | undefined;
  /** When the claim was first sent (monotonic): the lease cannot have begun earlier. */
  claimSentAtMs: number;
}

/** Why the work on an attempt is stopped before its end. */
export type StopReason =
  /** A person canceled the job: its work is discarded and the lease let go. */
  | 'canceled'
  /** The lease is gone, or may be: somebody else may hold the job now. Nothing is reported. */
  | 'lease_lost'
  /** The agent leaves now: the job goes back to the queue at once. */
  | 'agent_stopped'
  /** The job took longer than it may. */
  | 'time_limit';

/** Ids are opaque; one that is no plain name is hashed before it becomes part of a path. */
export function attemptKey(jobId: string, claimGeneration: number): string {
  return `${pathName(jobId)}-${claimGeneration}`;
}

export function pathName(id: string): string {
  if (/^[A-Za-z0-9_][A-Za-z0-9_-]{0,99}$/.test(id)) return id;
  return createHash('sha256').update(id).digest('hex').slice(0, 32);
}
