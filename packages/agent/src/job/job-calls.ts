import type { AgentCommand } from '@signalbox/contract';
import type { HubClient } from '../hub-client.ts';
import type { ClaimCall } from '../loops/claim-loop.ts';
import type { RenewCall } from '../loops/lease-loop.ts';
import { type Attempt, attemptKey, type ClaimedJob, fenceOf } from './attempt.ts';
import type { ClaimRecord } from './claim-record.ts';

/** Claims from the queue of jobs, for the claim loop. */
export function createJobClaim(parts: {
  client: HubClient;
  workspaceId: string;
  claims: ClaimRecord;
  /** The attempts that the agent has not ended, and those that it gives back. */
  held(): readonly Attempt[];
  /** The repositories whose jobs may be claimed now. */
  repoIds(): readonly string[];
  onClaimed(claimed: ClaimedJob): void;
  onCommands(commands: readonly AgentCommand[]): void;
}): ClaimCall {
  const { client, workspaceId, claims } = parts;
  return async ({ sentAtMs, ...request }, call) => {
    const { claimKey } = claims;
    const body = { workspaceId, repoIds: [...parts.repoIds()], claimKey, ...request };
    const answer = await client.jobs.claimNext(body, call);
    const { jobId, job, claimGeneration, jobToken, commands } = answer;
    if (commands !== undefined) parts.onCommands(commands);
    if (jobId === null || job === null) return false;
    // A hub without the generation extension omits it; the attempt number has the same value.
    const generation = claimGeneration ?? job.attempt;
    const claimed: ClaimedJob = {
      workspaceId,
      agentId: request.agentId,
      jobId,
      job,
      jobToken,
      claimSentAtMs: sentAtMs,
      key: attemptKey(jobId, generation),
      claimGeneration: generation,
    };
    await claims.grant([...parts.held(), claimed]);
    parts.onClaimed(claimed);
    return true;
  };
}

/** Renews the lease of a job, for the lease loop. */
export function createJobRenewal(parts: {
  client: HubClient;
  claimed: ClaimedJob;
  onCommands(commands: readonly AgentCommand[]): void;
}): RenewCall {
  return async (request, call) => {
    const body = { ...fenceOf(parts.claimed), ...request };
    const answer = await parts.client.jobs.heartbeat(body, call);
    parts.onCommands(answer.commands);
    return answer;
  };
}
