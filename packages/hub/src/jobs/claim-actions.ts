import { createHmac } from 'node:crypto';
import {
  type AgentCapabilities,
  type endpoints,
  formatToken,
  type JobKind,
  type RequestInput,
  type ResponseOf,
} from '@signalbox/contract';
import { capabilitiesOf } from '../agents/present.ts';
import { findAgentRefusal, requireClaimant } from '../agents/require-agent.ts';
import type { AgentRow } from '../agents/store.ts';
import { timestampOf } from '../clock.ts';
import type { Tx } from '../db/engine.ts';
import { assert } from '../errors.ts';
import type { HubDeps } from '../hub-deps.ts';
import type { RequestContext } from '../principal.ts';
import { type ClaimAttempt, claimOrWait, hasPendingEntry } from '../queue/claim-loop.ts';
import type { Entry, Lane } from '../queue/entry.ts';
import { listPreferred, readEntryByClaimKey } from '../queue/queue-store.ts';
import { listServedRepositories, type RepositoryRow } from '../repositories/store.ts';
import { hashToken } from '../tokens/store.ts';
import { noteAnswersSeen } from '../uncertainties/store.ts';
import { readWorkspace, type WorkspaceRow } from '../workspaces/store.ts';
import { presentJob } from './present.ts';
import { claimOrFree } from './recovery-actions.ts';
import { readJob } from './store.ts';
import { appendEvent } from './store-events.ts';

type ClaimInput = RequestInput<typeof endpoints.jobs.claimNext.request>;
type ClaimAnswer = Omit<ResponseOf<typeof endpoints.jobs.claimNext>, 'ok'>;
type EmptyReason = NonNullable<ClaimAnswer['reason']>;

/** What an agent may be given now. */
interface Demand {
  capabilities: AgentCapabilities;
  kinds: readonly JobKind[] | null;
  /** Served, active, not paused, and within the request's `repoIds`. */
  repoIds: ReadonlySet<string>;
  /** The same, but paused. */
  pausedRepoIds: readonly string[];
}

type TokenMaker = (entryId: string, generation: number) => string;
type Attempt = ClaimAttempt<ClaimAnswer, EmptyReason>;

/**
 * Claims the next job for an agent. With `waitMs` the request is parked until a job arrives that
 * may suit it.
 */
export async function claimNextJob(
  deps: HubDeps,
  context: RequestContext,
  input: ClaimInput,
): Promise<ClaimAnswer> {
  const { workspaceId, agentId, waitMs } = input;
  const claim = {
    workspaceId,
    agentId,
    waitMs,
    // Asked for by those that wait only.
    get signal() {
      return context.signal;
    },
  };
  const attempt = await claimOrWait(deps, claim, () =>
    deps.database.writeConcurrent({ workspaceId, keys: [agentId] }, (tx) =>
      tryClaim(deps, tx, context, input),
    ),
  );
  return attempt.claimed ?? { jobId: null, job: null, reason: attempt.reason };
}

async function tryClaim(
  deps: HubDeps,
  tx: Tx,
  { principal }: RequestContext,
  input: ClaimInput,
): Promise<Attempt> {
  const { workspaceId, agentId, claimKey } = input;
  const tokenOf = createTokenMaker(deps, workspaceId);
  // What does not depend on one another is asked together, here and below: on PostgreSQL that is
  // one round trip.
  const [agent, again, workspace, preferred] = await Promise.all([
    requireClaimant(tx, principal, input),
    claimKey === undefined
      ? undefined
      : readEntryByClaimKey(tx, workspaceId, agentId, 'jobs', claimKey),
    readWorkspace(tx, workspaceId),
    listPreferred(tx, workspaceId, agentId),
  ]);
  if (again !== undefined) {
    return { claimed: await answerClaim(tx, again, tokenOf), laneId: null };
  }
  const refused = await findRefusal(tx, agent, workspace, input);
  if ('reason' in refused) return { claimed: null, reason: refused.reason, suits: null };
  const { demand } = refused;
  const lanes = await deps.queue.findLanes(
    tx,
    workspaceId,
    'jobs',
    [...demand.repoIds],
    demand.capabilities,
    demand.kinds,
  );
  const entry = await claimOrFree(deps, tx, workspaceId, async (isAgain) =>
    claimFrom(deps, tx, input, {
      lanes: lanes.suitable,
      preferred: isAgain ? await listPreferred(tx, workspaceId, agentId) : preferred,
      tokenOf,
    }),
  );
  if (entry === null) {
    const suits = (laneId: string) => deps.queue.laneSuits(laneId, { queue: 'jobs', ...demand });
    return { claimed: null, reason: await findReason(deps, tx, lanes, input, demand), suits };
  }
  const event = {
    eventId: deps.ids('jobEvent'),
    workspaceId,
    jobId: entry.entry_id,
    kind: 'claimed',
    attempt: entry.attempt,
    agentId,
    data: { leaseMs: entry.lease_ms },
  } as const;
  const [claimed] = await Promise.all([answerClaim(tx, entry, tokenOf), appendEvent(tx, event)]);
  return { claimed, laneId: entry.lane_id };
}

/** What keeps an agent from being given anything, or else what it may be given. */
async function findRefusal(
  tx: Tx,
  agent: AgentRow,
  workspace: WorkspaceRow | undefined,
  input: ClaimInput,
): Promise<{ reason: EmptyReason } | { demand: Demand }> {
  const { workspaceId } = input;
  const capabilities = capabilitiesOf(agent);
  const { reposAllowed } = capabilities;
  const [reason, served] = await Promise.all([
    findAgentRefusal(tx, agent, capabilities),
    listServedRepositories(tx, workspaceId, { tokenId: agent.token_id, reposAllowed }),
  ]);
  if (reason !== null) return { reason };
  const asked = served.filter((repo) => input.repoIds?.includes(repo.repo_id) ?? true);
  if (asked.length === 0) return { reason: 'no_repositories_served' };
  const isPaused = asked.every((repo) => repo.queue_paused_at !== null);
  if (workspace?.queue_paused_at != null || isPaused) return { reason: 'queue_paused' };
  const active = asked.filter((repo) => repo.status === 'active');
  const idsOf = (repositories: RepositoryRow[]) => repositories.map((repo) => repo.repo_id);
  return {
    demand: {
      capabilities,
      kinds: input.kinds ?? null,
      repoIds: new Set(idsOf(active.filter((repo) => repo.queue_paused_at === null))),
      pausedRepoIds: idsOf(active.filter((repo) => repo.queue_paused_at !== null)),
    },
  };
}

async function claimFrom(
  deps: HubDeps,
  tx: Tx,
  input: ClaimInput,
  {
    lanes,
    preferred,
    tokenOf,
  }: { lanes: readonly Lane[]; preferred: readonly Entry[]; tokenOf: TokenMaker },
): Promise<Entry | null> {
  const { workspaceId, agentId, leaseMs, claimKey } = input;
  const grantFor = (entryId: string, generation: number) => ({
    agentId,
    leaseMs,
    claimKey: claimKey ?? null,
    jobTokenHash: hashToken(tokenOf(entryId, generation)),
  });
  // What is kept for this agent goes first: it held it before, and nobody else may have it now.
  return (
    (await deps.queue.claimPreferred(tx, preferred, lanes, grantFor)) ??
    deps.queue.claim(tx, workspaceId, lanes, grantFor)
  );
}

async function answerClaim(tx: Tx, entry: Entry, tokenOf: TokenMaker): Promise<ClaimAnswer> {
  const row = await readJob(tx, entry.workspace_id, entry.entry_id);
  assert(row !== undefined && entry.lease_expires_at !== null, 'a claimed job has its row');
  // From now on it knows the answers that were handed to it.
  if (row.decisions !== '[]') await noteAnswersSeen(tx, row.workspace_id, row.job_id, null);
  return {
    jobId: entry.entry_id,
    job: presentJob(entry, row),
    leaseExpiresAt: timestampOf(entry.lease_expires_at),
    claimGeneration: entry.attempt,
    jobToken: tokenOf(entry.entry_id, entry.attempt),
  };
}

/**
 * Makes the tokens of attempts. They are derived, not drawn, so that a claim repeated after a lost
 * answer hands out the same one although only its hash is kept.
 */
function createTokenMaker({ secretKey }: HubDeps, workspaceId: string): TokenMaker {
  let latest = { name: '', token: '' };
  return (entryId, generation) => {
    const name = `job-token\0${workspaceId}\0${entryId}\0${generation}`;
    // Asked for twice: for the hash that is kept, and for the answer.
    if (latest.name !== name) {
      const bytes = createHmac('sha256', secretKey).update(name).digest();
      latest = { name, token: formatToken('job', bytes) };
    }
    return latest.token;
  };
}

/** Why there was nothing, said of what there is: a queue that is not empty never looks empty. */
async function findReason(
  deps: HubDeps,
  tx: Tx,
  lanes: { suitable: Lane[]; unsuitable: Lane[] },
  { workspaceId }: ClaimInput,
  { pausedRepoIds, capabilities, kinds }: Demand,
): Promise<EmptyReason> {
  if (await hasPendingEntry(tx, lanes.suitable)) return 'waiting_on_dependencies';
  if (await hasPendingEntry(tx, lanes.unsuitable)) return 'no_matching_capabilities';
  if (pausedRepoIds.length === 0) return 'no_pending_jobs';
  const paused = await deps.queue.findLanes(
    tx,
    workspaceId,
    'jobs',
    pausedRepoIds,
    capabilities,
    kinds,
  );
  const hasPaused = await hasPendingEntry(tx, [...paused.suitable, ...paused.unsuitable]);
  return hasPaused ? 'queue_paused' : 'no_pending_jobs';
}
