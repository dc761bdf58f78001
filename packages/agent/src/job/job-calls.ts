import type { AgentCommand } from '@signalbox/contract';
import type { HubClient } from '../hub-client.ts';
import type { ClaimCall } from '../loops/claim-loop.ts';
import type { RenewCall } from '../loops/lease-loop.ts';
import { attemptKey, type ClaimedJob } from './attempt.ts';

/** Claims from the queue of jobs, for the claim loop. */
export function createJobClaim(parts: {
  client: HubClient;
  workspaceId: string;
  /** The repositories whose jobs may be claimed now. */
  repoIds(): readonly string[];
  onClaimed(claimed: ClaimedJob): void;
  onCommands(commands: readonly AgentCommand[]): void;
}): ClaimCall {
  const { client, workspaceId } = parts;
  return async ({ sentAtMs, ...request }, call) => {
    const body = { workspaceId, repoIds: [...parts.repoIds()], ...request };
    const answer = await client.jobs.claimNext(body, call);
    const { jobId, job, claimGeneration, jobToken, commands } = answer;
    if (commands !== undefined) parts.onCommands(commands);
    if (jobId === null || job === null) return false;
    // A hub without the generation extension omits it; the attempt number has the same value.
    const generation = claimGeneration ?? job.attempt;
    parts.onClaimed({
      ...{ workspaceId, agentId: request.agentId, jobId, job, jobToken, claimSentAtMs: sentAtMs },
      key: attemptKey(jobId, generation),
      claimGeneration: generation,
    });
    return true;
  };
}

/** Renews the lease of a job, for the lease loop. */
export function createJobRenewal(parts: {
  client: HubClient;
  claimed: ClaimedJob;
  onCommands(commands: readonly AgentCommand[]): void;
}): RenewCall {
  const { workspaceId, jobId, agentId, claimGeneration } = parts.claimed;
  return async (request, call) => {
    const body = { workspaceId, jobId, agentId, claimGeneration, ...request };
    const answer = await parts.client.jobs.heartbeat(body, call);
    parts.onCommands(answer.commands);
    return answer;
  };
}
