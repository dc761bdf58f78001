import { randomUUID } from 'node:crypto';
import type { HeldWork, Work, WorkHooks } from '../lifecycle.ts';
import type { ClaimCall } from '../loops/claim-loop.ts';
import { CloudAiProviderRefusedError } from './cloud-ai-options.ts';
import {
  type ClaimedCloudAiJob,
  type CloudAiParts,
  type HeldCloudAiJob,
  holdCloudAiJob,
} from './held-cloud-ai-job.ts';

export type CloudAiWorkOptions = CloudAiParts & WorkHooks;

/** Runs jobs claimed from the queue of cloud AI jobs. */
export function createCloudAiWork(parts: CloudAiWorkOptions): Work {
  const { emit, onFault } = parts;
  const held = new Map<string, HeldCloudAiJob>();

  function begin(claimed: ClaimedCloudAiJob): void {
    const { cloudAiJobId, claimGeneration: attempt, job } = claimed;
    emit({ type: 'job-claimed', job, attempt });
    const key = `${cloudAiJobId} ${attempt}`;
    const heldJob = holdCloudAiJob({
      ...parts,
      claimed,
      onDefect: onFault,
      onUnserved: (message) => onFault(new CloudAiProviderRefusedError(message)),
    });
    held.set(key, heldJob);
    void heldJob.released.then(() => {
      held.delete(key);
      parts.onSlotFree();
    });
  }

  const heldWork: HeldWork = {
    count: () => held.size,
    ids: () => [...held.values()].map(({ claimed }) => claimed.cloudAiJobId),
    cancel(cloudAiJobId) {
      for (const job of held.values()) {
        if (job.claimed.cloudAiJobId === cloudAiJobId) {
          job.stop('canceled', 'The job was canceled.');
        }
      }
    },
    stopAll(why) {
      for (const job of held.values()) job.stop('agent_stopped', why);
    },
    // Each job limits its own delivery time.
    async settle() {
      await Promise.all([...held.values()].map(({ released }) => released));
    },
  };
  return { claim: createClaim(parts, begin), held: heldWork };
}

/** Claims from the queue of cloud AI jobs, for the claim loop. */
function createClaim(
  { client, options, onCommands }: CloudAiWorkOptions,
  onClaimed: (claimed: ClaimedCloudAiJob) => void,
): ClaimCall {
  const { workspaceId, models, kinds } = options;
  let claimKey = randomUUID();
  return async ({ sentAtMs, ...request }, call) => {
    const wanted = { models: [...models], ...(kinds === undefined ? {} : { kinds: [...kinds] }) };
    const body = { workspaceId, claimKey, ...wanted, ...request };
    const answer = await client.cloudAiJobs.claimNext(body, call);
    const { cloudAiJobId, cloudAiJob: job, claimGeneration, commands } = answer;
    if (commands !== undefined) onCommands(commands);
    if (cloudAiJobId === null || job === null) return false;
    claimKey = randomUUID();
    onClaimed({
      workspaceId,
      agentId: request.agentId,
      cloudAiJobId,
      job,
      claimSentAtMs: sentAtMs,
      claimGeneration: claimGeneration ?? job.attempt,
    });
    return true;
  };
}
