import { createHmac } from 'node:crypto';
import { type AnswerOf, type endpoints, formatToken, type RequestInput } from '@signalbox/contract';
import { capabilitiesOf } from '../agents/present.ts';
import { findAgentRefusal, requireClaimant } from '../agents/require-agent.ts';
import type { AgentRow } from '../agents/store.ts';
import { timestampOf } from '../base/clock.ts';
import { assert } from '../base/errors.ts';
import type { RequestContext } from '../base/principal.ts';
import { hubKeyFor } from '../base/sealing.ts';
import type { Tx } from '../db/engine.ts';
import type { Entry } from '../queue/entry.ts';
import type { Demand } from '../queue/lane-book.ts';
import { claimLease, type RefusedDemand } from '../queue/leased-work.ts';
import type { FoundLanes } from '../queue/queue.ts';
import { generationOf } from '../queue/states.ts';
import { hasPendingEntry } from '../queue/store.ts';
import { listServedRepositories, type RepositoryRow } from '../repositories/store.ts';
import { runHooks } from '../start/hooks.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { hashToken } from '../tokens/store.ts';
import { readWorkspace, type WorkspaceRow } from '../workspaces/store.ts';
import { presentJob } from './present.ts';
import { readJob } from './store.ts';
import { recordClaim } from './store-events.ts';

type ClaimInput = RequestInput<typeof endpoints.jobs.claimNext.request>;
type ClaimAnswer = AnswerOf<typeof endpoints.jobs.claimNext>;
type EmptyReason = NonNullable<ClaimAnswer['reason']>;
type Refusal = Pick<ClaimAnswer, 'commands'> & { reason: EmptyReason };

interface Claimant {
  agent: AgentRow;
  workspace: WorkspaceRow | undefined;
}

interface JobDemand extends Demand {
  /** Repositories that would be in `repoIds` if they were not paused. */
  pausedRepoIds: ReadonlySet<string>;
}

/**
 * Claims the next job for an agent. With `waitMs` the request waits for a job that may suit it.
 *
 * @throws HubError AGENT_NOT_FOUND
 */
export async function claimNextJob(
  deps: HubDeps,
  context: RequestContext,
  input: ClaimInput,
): Promise<ClaimAnswer> {
  const { workspaceId, agentId, leaseMs, claimKey = null } = input;
  const tokenOf = createTokenMaker(deps, workspaceId);
  const claim = await claimLease(deps, input, context, {
    queue: 'jobs',
    hasPreferences: true,
    async readClaimant(tx): Promise<Claimant> {
      const [agent, workspace] = await Promise.all([
        requireClaimant(tx, context.principal, input),
        readWorkspace(tx, workspaceId),
      ]);
      return { agent, workspace };
    },
    findDemand: (tx, claimant) => findDemand(tx, claimant, input),
    grantFor: (entryId, generation) => ({
      agentId,
      leaseMs,
      claimKey,
      jobTokenHash: hashToken(tokenOf(entryId, generation)),
    }),
    answer: (tx, entry) => answerClaim(deps, tx, entry, tokenOf),
    record: recordClaim,
    explainEmpty: async (tx, lanes, demand): Promise<Refusal> => ({
      reason: await explainEmpty(deps, tx, workspaceId, lanes, demand),
    }),
  });
  return claim.claimed ?? { jobId: null, job: null, ...claim.refusal };
}

/** The repositories, kinds and capabilities that a claim is for, or why it may claim nothing. */
async function findDemand(
  tx: Tx,
  { agent, workspace }: Claimant,
  input: ClaimInput,
): Promise<RefusedDemand<Refusal> | { demand: JobDemand }> {
  const { workspaceId } = input;
  const capabilities = capabilitiesOf(agent);
  const { reposAllowed } = capabilities;
  const [refused, served] = await Promise.all([
    findAgentRefusal(tx, agent, capabilities),
    listServedRepositories(tx, workspaceId, { tokenId: agent.token_id, reposAllowed }),
  ]);
  if (refused !== null) return refused;
  const asked = served.filter((repo) => input.repoIds?.includes(repo.repo_id) ?? true);
  if (asked.length === 0) return { refusal: { reason: 'no_repositories_served' } };
  const isPaused = asked.every((repo) => repo.queue_paused_at !== null);
  if (workspace?.queue_paused_at != null || isPaused) {
    return { refusal: { reason: 'queue_paused' } };
  }
  const active = asked.filter((repo) => repo.status === 'active');
  const idsOf = (repositories: RepositoryRow[]) => new Set(repositories.map((r) => r.repo_id));
  return {
    demand: {
      queue: 'jobs',
      capabilities,
      kinds: input.kinds ?? null,
      repoIds: idsOf(active.filter((repo) => repo.queue_paused_at === null)),
      pausedRepoIds: idsOf(active.filter((repo) => repo.queue_paused_at !== null)),
    },
  };
}

async function answerClaim(
  deps: HubDeps,
  tx: Tx,
  entry: Entry,
  tokenOf: TokenMaker,
): Promise<ClaimAnswer> {
  const row = await readJob(tx, entry.workspace_id, entry.entry_id);
  assert(row !== undefined && entry.lease_expires_at !== null, 'a claimed job has its row');
  if (row.decisions !== '[]') {
    const { workspace_id: workspaceId, job_id: jobId } = row;
    await runHooks(deps.hooks.onDecisionsDelivered, deps, tx, { workspaceId, jobId });
  }
  return {
    jobId: entry.entry_id,
    job: presentJob(entry, row),
    leaseExpiresAt: timestampOf(entry.lease_expires_at),
    claimGeneration: generationOf(entry),
    jobToken: tokenOf(entry.entry_id, generationOf(entry)),
  };
}

const KEY_PURPOSE = 'job tokens';

type TokenMaker = (entryId: string, generation: number) => string;

/**
 * Makes the job tokens of attempts. They are derived from the secret key, so that a claim repeated
 * after a lost answer returns the same token although only its hash is stored.
 */
function createTokenMaker({ secretKey }: HubDeps, workspaceId: string): TokenMaker {
  let latest = { name: '', token: '' };
  return (entryId, generation) => {
    const name = `job-token\0${workspaceId}\0${entryId}\0${generation}`;
    // A claim needs its token twice: for the stored hash and for the answer.
    if (latest.name !== name) {
      const bytes = createHmac('sha256', hubKeyFor(secretKey, KEY_PURPOSE)).update(name).digest();
      latest = { name, token: formatToken('job', bytes) };
    }
    return latest.token;
  };
}

/** Why no job was ready. A queue that has pending jobs is never reported as empty. */
async function explainEmpty(
  deps: HubDeps,
  tx: Tx,
  workspaceId: string,
  lanes: FoundLanes,
  demand: JobDemand,
): Promise<EmptyReason> {
  if (await hasPendingEntry(tx, workspaceId, lanes.suitable)) return 'waiting_on_dependencies';
  if (await hasPendingEntry(tx, workspaceId, lanes.unsuitable)) return 'no_matching_capabilities';
  if (demand.pausedRepoIds.size === 0) return 'no_pending_jobs';
  const paused = await deps.queue.findLanes(tx, workspaceId, {
    ...demand,
    repoIds: demand.pausedRepoIds,
  });
  const laneIds = [...paused.suitable, ...paused.unsuitable];
  const hasPaused = await hasPendingEntry(tx, workspaceId, laneIds);
  return hasPaused ? 'queue_paused' : 'no_pending_jobs';
}
