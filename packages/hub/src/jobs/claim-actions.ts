import { createHmac, hash } from 'node:crypto';
import {
  type AgentCapabilities,
  type endpoints,
  formatToken,
  type JobKind,
  type RequestInput,
  type ResponseOf,
} from '@signalbox/contract';
import { requireAgent } from '../agents/actions.ts';
import { capabilitiesOf } from '../agents/present.ts';
import { type AgentRow, touchAgent } from '../agents/store.ts';
import { timestampOf } from '../clock.ts';
import type { Tx } from '../db/engine.ts';
import { assert } from '../errors.ts';
import type { RequestContext } from '../principal.ts';
import type { Entry, Lane } from '../queue/entry.ts';
import {
  countRunningOfAgent,
  laneHasHeld,
  readEntryByClaimKey,
  readLaneHead,
} from '../queue/queue-sqlite.ts';
import { listServedRepositories } from '../repositories/store.ts';
import { readWorkspace } from '../workspaces/store.ts';
import type { JobDeps } from './deps.ts';
import { presentJob } from './present.ts';
import { recoverExpiredJobs } from './recovery-actions.ts';
import { readJob } from './store.ts';
import { appendEvent } from './store-events.ts';

type ClaimInput = RequestInput<typeof endpoints.jobs.claimNext.request>;
type ClaimAnswer = Omit<ResponseOf<typeof endpoints.jobs.claimNext>, 'ok'>;
type EmptyReason = NonNullable<ClaimAnswer['reason']>;

/** Delayed jobs made claimable by one claim; the sweeper does the rest. */
const DUE_MAX = 100;
/** How stale `last_seen_at` may get before a claim renews it: a claim, too, is a sign of life. */
const TOUCH_AFTER_MS = 10_000;

/** What an agent may be given now. */
interface Demand {
  capabilities: AgentCapabilities;
  kinds: readonly JobKind[] | null;
  /** Served, active, not paused, and within the request's `repoIds`. */
  repoIds: ReadonlySet<string>;
}

type Attempt =
  | { claimed: ClaimAnswer }
  | { claimed: null; reason: EmptyReason; demand: Demand | null };

/**
 * Claims the next job for an agent. With `waitMs` the request is parked until a job arrives that
 * may suit it; parked, it costs no query.
 */
export async function claimNextJob(
  deps: JobDeps,
  context: RequestContext,
  input: ClaimInput,
): Promise<ClaimAnswer> {
  const { waiters, clock } = deps;
  const { workspaceId, agentId } = input;
  const endMs = clock.nowMs() + input.waitMs;
  let wokenBy: string | null = null;
  for (;;) {
    const version = waiters.version(workspaceId);
    const attempt = await deps.database.write((tx) => tryClaim(deps, tx, context, input));
    if (attempt.claimed !== null) return attempt.claimed;
    // The job that woke this claim may still suit another: pass it on, unless it is gone.
    if (wokenBy !== null && attempt.demand === null) waiters.wakeNext(workspaceId, wokenBy);
    const { reason, demand } = attempt;
    const woken = await waiters.wait(
      { workspaceId, agentId, suits: (laneId) => mayLaneSuit(deps, demand, laneId) },
      version,
      endMs - clock.nowMs(),
      context.signal,
    );
    if (woken === 'timeout') return { jobId: null, job: null, reason };
    wokenBy = woken.laneId;
  }
}

/** An agent that may be given nothing now waits for its own state to change, not for jobs. */
function mayLaneSuit(deps: JobDeps, demand: Demand | null, laneId: string): boolean {
  return demand !== null && deps.queue.laneSuits(laneId, { queue: 'jobs', ...demand });
}

async function tryClaim(
  deps: JobDeps,
  tx: Tx,
  { principal }: RequestContext,
  input: ClaimInput,
): Promise<Attempt> {
  const { workspaceId, agentId, claimKey } = input;
  const agent = await requireAgent(tx, principal, workspaceId, agentId);
  if (tx.nowMs - agent.last_seen_at > TOUCH_AFTER_MS) await touchAgent(tx, workspaceId, agentId);
  if (claimKey !== undefined) {
    const again = await readEntryByClaimKey(tx, workspaceId, agentId, 'jobs', claimKey);
    if (again !== undefined) return { claimed: await answerClaim(deps, tx, again) };
  }
  const refused = await findRefusal(tx, agent, input);
  if ('reason' in refused) return { claimed: null, reason: refused.reason, demand: null };
  const { demand } = refused;
  const lanes = await deps.queue.findLanes(
    tx,
    workspaceId,
    'jobs',
    [...demand.repoIds],
    demand.capabilities,
    demand.kinds,
  );
  const entry =
    (await claimFrom(deps, tx, input, lanes.suitable)) ??
    ((await freeWhatIsDue(deps, tx, workspaceId))
      ? await claimFrom(deps, tx, input, lanes.suitable)
      : null);
  if (entry === null) return { claimed: null, reason: await findReason(tx, lanes), demand };
  await appendEvent(tx, {
    eventId: deps.ids('jobEvent'),
    workspaceId,
    jobId: entry.entry_id,
    kind: 'claimed',
    attempt: entry.attempt,
    agentId,
    data: { leaseMs: entry.lease_ms },
  });
  return { claimed: await answerClaim(deps, tx, entry) };
}

/** What keeps an agent from being given anything, or else what it may be given. */
async function findRefusal(
  tx: Tx,
  agent: AgentRow,
  input: ClaimInput,
): Promise<{ reason: EmptyReason } | { demand: Demand }> {
  const { workspaceId, agentId } = input;
  // An agent that says it is offline takes no more jobs, like one that drains. Silence does not
  // count: the claim itself is a sign of life.
  if (agent.status !== 'online') return { reason: 'agent_draining' };
  const capabilities = capabilitiesOf(agent);
  const most = capabilities.maxConcurrentJobs;
  if (most !== undefined && (await countRunningOfAgent(tx, workspaceId, agentId)) >= most) {
    return { reason: 'agent_at_capacity' };
  }
  const served = await listServedRepositories(tx, workspaceId, {
    tokenId: agent.token_id,
    reposAllowed: capabilities.reposAllowed,
  });
  const asked = served.filter((repo) => input.repoIds?.includes(repo.repo_id) ?? true);
  if (asked.length === 0) return { reason: 'no_repositories_served' };
  const workspace = await readWorkspace(tx, workspaceId);
  const open = asked.filter((repo) => repo.queue_paused_at === null);
  if (workspace?.queue_paused_at != null || open.length === 0) return { reason: 'queue_paused' };
  const active = open.filter((repo) => repo.status === 'active').map((repo) => repo.repo_id);
  return { demand: { capabilities, kinds: input.kinds ?? null, repoIds: new Set(active) } };
}

function claimFrom(
  deps: JobDeps,
  tx: Tx,
  input: ClaimInput,
  lanes: readonly Lane[],
): Promise<Entry | null> {
  const { workspaceId, agentId, leaseMs, claimKey } = input;
  return deps.queue.claim(tx, workspaceId, lanes, (entryId, generation) => ({
    agentId,
    leaseMs,
    claimKey: claimKey ?? null,
    jobTokenHash: hash('sha256', jobTokenOf(deps, workspaceId, entryId, generation)),
  }));
}

/** Nothing is ready: leases that ran out and delays that ended may yield something. */
async function freeWhatIsDue(deps: JobDeps, tx: Tx, workspaceId: string): Promise<boolean> {
  const recovered = await recoverExpiredJobs(deps, tx, workspaceId);
  const due = await deps.queue.promoteDue(tx, DUE_MAX);
  return recovered + due > 0;
}

async function answerClaim(deps: JobDeps, tx: Tx, entry: Entry): Promise<ClaimAnswer> {
  const row = await readJob(tx, entry.workspace_id, entry.entry_id);
  assert(row !== undefined && entry.lease_expires_at !== null, 'a claimed job has its row');
  return {
    jobId: entry.entry_id,
    job: presentJob(entry, row),
    leaseExpiresAt: timestampOf(entry.lease_expires_at),
    claimGeneration: entry.attempt,
    jobToken: jobTokenOf(deps, entry.workspace_id, entry.entry_id, entry.attempt),
  };
}

/**
 * The token of one attempt. It is derived, not drawn, so that a claim repeated after a lost answer
 * hands out the same one although only its hash is kept.
 */
function jobTokenOf(
  { secretKey }: JobDeps,
  workspaceId: string,
  entryId: string,
  generation: number,
): string {
  const bytes = createHmac('sha256', secretKey)
    .update(`job-token\0${workspaceId}\0${entryId}\0${generation}`)
    .digest();
  return formatToken('job', bytes);
}

/** Why there was nothing, said of what there is: a queue that is not empty never looks empty. */
async function findReason(
  tx: Tx,
  lanes: { suitable: Lane[]; unsuitable: Lane[] },
): Promise<EmptyReason> {
  for (const lane of lanes.suitable) {
    if (await laneHasHeld(tx, lane.workspace_id, lane.lane_id)) return 'waiting_on_dependencies';
  }
  for (const lane of lanes.unsuitable) {
    const head = await readLaneHead(tx, lane.workspace_id, lane.lane_id);
    if (head !== undefined) return 'no_matching_capabilities';
  }
  return 'no_pending_jobs';
}
