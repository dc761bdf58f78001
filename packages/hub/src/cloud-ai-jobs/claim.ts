import type { AnswerOf, endpoints, RequestInput } from '@signalbox/contract';
import { capabilitiesOf } from '../agents/present.ts';
import { findAgentRefusal, requireClaimant } from '../agents/require-agent.ts';
import { timestampOf } from '../base/clock.ts';
import { assert } from '../base/errors.ts';
import type { RequestContext } from '../base/principal.ts';
import type { Tx } from '../db/engine.ts';
import type { Entry } from '../queue/entry.ts';
import type { Demand } from '../queue/lane-book.ts';
import { claimLease, type RefusedDemand } from '../queue/leased-work.ts';
import { generationOf } from '../queue/states.ts';
import { hasPendingEntry } from '../queue/store.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { readWorkspace } from '../workspaces/store.ts';
import { presentCloudAiJob } from './present.ts';
import { readCloudAiJob } from './store.ts';

type ClaimInput = RequestInput<typeof endpoints.cloudAiJobs.claimNext.request>;
type ClaimAnswer = AnswerOf<typeof endpoints.cloudAiJobs.claimNext>;
type EmptyReason = NonNullable<ClaimAnswer['reason']>;
type Refusal = Pick<ClaimAnswer, 'commands'> & { reason: EmptyReason };

/** Lanes of this queue have no repository. */
const NO_REPOSITORY: ReadonlySet<string> = new Set(['']);

/**
 * Claims the next cloud AI job for an agent. With `waitMs` the request waits for one.
 *
 * @throws HubError AGENT_NOT_FOUND
 */
export async function claimNextCloudAiJob(
  deps: HubDeps,
  context: RequestContext,
  input: ClaimInput,
): Promise<ClaimAnswer> {
  const { workspaceId, agentId, leaseMs, claimKey = null } = input;
  const claim = await claimLease(deps, input, context, {
    queue: 'cloud-ai-jobs',
    hasPreferences: false,
    readClaimant: (tx) =>
      Promise.all([requireClaimant(tx, context.principal, input), readWorkspace(tx, workspaceId)]),
    async findDemand(tx, [agent, workspace]): Promise<RefusedDemand<Refusal> | { demand: Demand }> {
      const offered = capabilitiesOf(agent);
      const refused = await findAgentRefusal(tx, agent, offered);
      if (refused !== null) return refused;
      if (workspace?.queue_paused_at != null) return { refusal: { reason: 'queue_paused' } };
      const { models, kinds = null } = input;
      // The models of the request replace those of the agent's heartbeat.
      const capabilities = models === undefined ? offered : { ...offered, models };
      return { demand: { queue: 'cloud-ai-jobs', repoIds: NO_REPOSITORY, capabilities, kinds } };
    },
    // No job token: a model call runs no tool that could use one.
    grantFor: () => ({ agentId, leaseMs, claimKey, jobTokenHash: null }),
    answer: answerClaim,
    explainEmpty: async (tx, lanes): Promise<Refusal> => ({
      reason: (await hasPendingEntry(tx, workspaceId, lanes.unsuitable))
        ? 'no_matching_capabilities'
        : 'no_pending_jobs',
    }),
  });
  return claim.claimed ?? { cloudAiJobId: null, cloudAiJob: null, ...claim.refusal };
}

async function answerClaim(tx: Tx, entry: Entry): Promise<ClaimAnswer> {
  const row = await readCloudAiJob(tx, entry.workspace_id, entry.entry_id);
  assert(row !== undefined && entry.lease_expires_at !== null, 'a claimed job has its row');
  return {
    cloudAiJobId: entry.entry_id,
    cloudAiJob: presentCloudAiJob(entry, row),
    leaseExpiresAt: timestampOf(entry.lease_expires_at),
    claimGeneration: generationOf(entry),
  };
}
