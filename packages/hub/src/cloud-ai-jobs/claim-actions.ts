import type { AgentCapabilities, endpoints, RequestInput, ResponseOf } from '@signalbox/contract';
import { capabilitiesOf } from '../agents/present.ts';
import { findAgentRefusal, requireClaimant } from '../agents/require-agent.ts';
import { timestampOf } from '../clock.ts';
import type { Tx } from '../db/engine.ts';
import { assert } from '../errors.ts';
import type { HubDeps } from '../hub-deps.ts';
import { claimOrFree } from '../jobs/recovery-actions.ts';
import type { RequestContext } from '../principal.ts';
import { type ClaimAttempt, claimOrWait, hasPendingEntry } from '../queue/claim-loop.ts';
import type { Entry } from '../queue/entry.ts';
import { readEntryByClaimKey } from '../queue/queue-store.ts';
import { readWorkspace } from '../workspaces/store.ts';
import { presentCloudAiJob } from './present.ts';
import { readCloudAiJob } from './store.ts';

type ClaimInput = RequestInput<typeof endpoints.cloudAiJobs.claimNext.request>;
type ClaimAnswer = Omit<ResponseOf<typeof endpoints.cloudAiJobs.claimNext>, 'ok'>;
type EmptyReason = NonNullable<ClaimAnswer['reason']>;
type Attempt = ClaimAttempt<ClaimAnswer, EmptyReason>;

const QUEUE = 'cloud-ai-jobs';
/** Lanes of this queue belong to no repository. */
const NO_REPOSITORY = '';

/** Claims the next cloud AI job for an agent. With `waitMs` the request waits for one to arrive. */
export async function claimNextCloudAiJob(
  deps: HubDeps,
  context: RequestContext,
  input: ClaimInput,
): Promise<ClaimAnswer> {
  const attempt = await claimOrWait(deps, { ...input, signal: context.signal }, () =>
    deps.database.write(input.workspaceId, (tx) => tryClaim(deps, tx, context, input)),
  );
  return attempt.claimed ?? { cloudAiJobId: null, cloudAiJob: null, reason: attempt.reason };
}

async function tryClaim(
  deps: HubDeps,
  tx: Tx,
  { principal }: RequestContext,
  input: ClaimInput,
): Promise<Attempt> {
  const { workspaceId, agentId, leaseMs, claimKey } = input;
  const agent = await requireClaimant(tx, principal, input);
  if (claimKey !== undefined) {
    const again = await readEntryByClaimKey(tx, workspaceId, agentId, QUEUE, claimKey);
    if (again !== undefined) return { claimed: await answerClaim(tx, again), laneId: null };
  }
  const offered = capabilitiesOf(agent);
  const refusal =
    (await findAgentRefusal(tx, agent, offered)) ?? (await findPause(tx, workspaceId));
  if (refusal !== null) return { claimed: null, reason: refusal, suits: null };
  const kinds = input.kinds ?? null;
  const capabilities = capabilitiesFor(offered, input);
  const lanes = await deps.queue.findLanes(
    tx,
    workspaceId,
    QUEUE,
    [NO_REPOSITORY],
    capabilities,
    kinds,
  );
  // No job token: a model call runs no tool that could use one.
  const grant = { agentId, leaseMs, claimKey: claimKey ?? null, jobTokenHash: null };
  const entry = await claimOrFree(deps, tx, workspaceId, () =>
    deps.queue.claim(tx, workspaceId, lanes.suitable, () => grant),
  );
  if (entry !== null) {
    return { claimed: await answerClaim(tx, entry), laneId: entry.lane_id };
  }
  const wanted = { queue: QUEUE, repoIds: new Set([NO_REPOSITORY]), capabilities, kinds } as const;
  return {
    claimed: null,
    reason: (await hasPendingEntry(tx, lanes.unsuitable))
      ? 'no_matching_capabilities'
      : 'no_pending_jobs',
    suits: (laneId) => deps.queue.laneSuits(laneId, wanted),
  };
}

/** The models of the request go before those of the agent's heartbeat. */
function capabilitiesFor(capabilities: AgentCapabilities, { models }: ClaimInput) {
  return models === undefined ? capabilities : { ...capabilities, models };
}

async function findPause(tx: Tx, workspaceId: string): Promise<'queue_paused' | null> {
  const workspace = await readWorkspace(tx, workspaceId);
  return workspace?.queue_paused_at != null ? 'queue_paused' : null;
}

async function answerClaim(tx: Tx, entry: Entry): Promise<ClaimAnswer> {
  const row = await readCloudAiJob(tx, entry.workspace_id, entry.entry_id);
  assert(row !== undefined && entry.lease_expires_at !== null, 'a claimed job has its row');
  return {
    cloudAiJobId: entry.entry_id,
    cloudAiJob: presentCloudAiJob(entry, row),
    leaseExpiresAt: timestampOf(entry.lease_expires_at),
    claimGeneration: entry.attempt,
  };
}
