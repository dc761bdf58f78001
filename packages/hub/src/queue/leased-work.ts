import { type Clock, timestampOf } from '../base/clock.ts';
import { assert, HubError } from '../base/errors.ts';
import type { RequestContext } from '../base/principal.ts';
import type { Database, Tx } from '../db/engine.ts';
import type { QueueName } from '../db/schema/queue.ts';
import type { ClaimWaiters } from './claim-waiters.ts';
import type { Entry, LeasedRecord } from './entry.ts';
import type { Demand } from './lane-book.ts';
import { extendLease, type Lease, type LeaseRequest } from './lease.ts';
import type { FoundLanes, LossExplanation, LostLease, Queue } from './queue.ts';
import { type ClaimRef, checkClaim } from './states.ts';
import { type LeaseGrant, listPreferred, readEntryByClaimKey, updateRunning } from './store.ts';
import { hasDependents } from './store-dependents.ts';

/*
 * The life of leased work, the same for jobs and cloud AI jobs: an agent claims it, renews the
 * lease, and completes it once; an expired lease is recovered. The order of the steps, the fence,
 * the replay and the wake-ups are here. A module passes what differs: how it reads and locks its
 * records, what it writes beside the entry, and what it answers. See docs/decisions/0018.
 *
 * All of it runs concurrently with other transactions of the workspace (`writeConcurrent`). A step
 * that reads rows other than its own record and writes by what it read calls `requireExclusive`.
 */

/** Leases taken back in one transaction; the sweeper continues at once. */
export const RECOVERIES_MAX = 500;

/** Delayed entries that one claim makes claimable; the sweeper does the rest. */
const DUE_MAX = 100;

interface LeaseDeps {
  database: Database;
  clock: Clock;
  queue: Queue;
  waiters: ClaimWaiters;
}

/** The module of the queue writes what a lost lease means, with `Deps`. */
interface RecoveryDeps<Deps> extends Pick<LeaseDeps, 'queue' | 'waiters'> {
  hooks: {
    onLeaseLost: Readonly<
      Record<QueueName, (deps: Deps, tx: Tx, lost: LostLease) => Promise<unknown>>
    >;
  };
}

type ClaimDeps<Deps> = LeaseDeps & RecoveryDeps<Deps>;

interface ClaimInput {
  workspaceId: string;
  agentId: string;
  leaseMs: number;
  waitMs: number;
  claimKey?: string | undefined;
}

/** The steps of a claim that differ by queue. */
interface ClaimSteps<Claimant, Answer, Refusal, Asked extends Demand> {
  queue: QueueName;
  /** Whether entries may be reserved for the agent that held them. */
  hasPreferences: boolean;
  /** Reads and locks the agent, and reads with it what a refusal depends on. */
  readClaimant(tx: Tx): Promise<Claimant>;
  /** Finds the demand of the agent now, or why it may claim nothing. */
  findDemand(tx: Tx, claimant: Claimant): Promise<RefusedDemand<Refusal> | { demand: Asked }>;
  /** Makes the grant for the entry and generation that will be claimed. */
  grantFor(entryId: string, generation: number): LeaseGrant;
  /** Reads the row of a claimed entry and makes the answer; runs again for a repeated claim. */
  answer(tx: Tx, entry: Entry): Promise<Answer>;
  /** Records a new claim. */
  record?(tx: Tx, entry: Entry): void;
  /** Why the lanes had no ready entry. */
  explainEmpty(tx: Tx, lanes: FoundLanes, demand: Asked): Promise<Refusal>;
}

export interface RefusedDemand<Refusal> {
  refusal: Refusal;
  /** The refusal is news to the agent: a claim that waited when it came up is answered at once. */
  endsWait?: boolean;
}

type ClaimResult<Answer, Refusal> = { claimed: Answer } | { claimed: null; refusal: Refusal };

/** Claims the next entry that suits an agent. With `waitMs` the request waits for one. */
export function claimLease<
  Deps extends ClaimDeps<Deps>,
  Claimant,
  Answer,
  Refusal,
  Asked extends Demand,
>(
  deps: Deps,
  input: ClaimInput,
  context: Pick<RequestContext, 'waitSignal'>,
  steps: ClaimSteps<Claimant, Answer, Refusal, Asked>,
): Promise<ClaimResult<Answer, Refusal>> {
  const { workspaceId, agentId, waitMs } = input;
  const claim = {
    workspaceId,
    agentId,
    waitMs,
    // A getter, since the context creates its signal on first use and most claims do not wait.
    get signal() {
      return context.waitSignal;
    },
  };
  return claimOrWait(deps, claim, () =>
    deps.database.writeConcurrent(
      { workspaceId, keys: [agentId], kind: `claim of ${steps.queue}` },
      (tx) => tryClaim(deps, tx, input, steps),
    ),
  );
}

async function tryClaim<
  Deps extends ClaimDeps<Deps>,
  Claimant,
  Answer,
  Refusal,
  Asked extends Demand,
>(
  deps: Deps,
  tx: Tx,
  { workspaceId, agentId, claimKey }: ClaimInput,
  steps: ClaimSteps<Claimant, Answer, Refusal, Asked>,
): Promise<ClaimAttempt<Answer, Refusal>> {
  // Independent statements are sent together: one round trip on PostgreSQL.
  const [claimant, held, preferred] = await Promise.all([
    steps.readClaimant(tx),
    claimKey === undefined
      ? undefined
      : readEntryByClaimKey(tx, workspaceId, agentId, steps.queue, claimKey),
    steps.hasPreferences ? listPreferred(tx, workspaceId, agentId) : [],
  ]);
  if (held !== undefined) return { claimed: await steps.answer(tx, held), laneId: null };
  const found = await steps.findDemand(tx, claimant);
  if ('refusal' in found) return { claimed: null, suits: null, ...found };
  const { demand } = found;
  const lanes = await deps.queue.findLanes(tx, workspaceId, demand);
  // An entry reserved for this agent goes first: no other agent may claim it now.
  const take = async (reserved: readonly Entry[]) =>
    (await deps.queue.claimPreferred(tx, reserved, lanes.suitable, steps.grantFor)) ??
    deps.queue.claim(tx, workspaceId, lanes.suitable, steps.grantFor);
  let entry = await take(preferred);
  if (entry === null && (await freeEntries(deps, tx, workspaceId))) {
    entry = await take(steps.hasPreferences ? await listPreferred(tx, workspaceId, agentId) : []);
  }
  if (entry === null) {
    const refusal = await steps.explainEmpty(tx, lanes, demand);
    return { claimed: null, refusal, suits: (laneId) => deps.queue.laneSuits(laneId, demand) };
  }
  steps.record?.(tx, entry);
  return { claimed: await steps.answer(tx, entry), laneId: entry.lane_id };
}

/** Recovers expired leases and ends delays, which may yield a ready entry before the sweeper. */
async function freeEntries<Deps extends RecoveryDeps<Deps>>(
  deps: Deps,
  tx: Tx,
  workspaceId: string,
): Promise<boolean> {
  const { dueLooks } = deps.queue;
  if (!dueLooks.isNeeded(workspaceId, tx.nowMs)) return false;
  const recovered = await recoverExpiredLeases(deps, tx, workspaceId);
  const due = await deps.queue.promoteDue(tx, workspaceId, DUE_MAX);
  if (recovered + due > 0) return true;
  dueLooks.noteVain(workspaceId, tx.nowMs);
  return false;
}

/** The result of one look at the queue. */
export type ClaimAttempt<Answer, Refusal> =
  | {
      claimed: Answer;
      /** The lane of the entry; null when the agent held it before. */
      laneId: string | null;
    }
  | (RefusedDemand<Refusal> & {
      claimed: null;
      /** The lanes whose entries may help; null when the agent may claim nothing as it is now. */
      suits: ((laneId: string) => boolean) | null;
    });

/**
 * Looks at the queue once. With `waitMs` it then parks the request until an entry that may suit it
 * becomes ready, and looks again. A parked request costs no query.
 *
 * @param tryOnce one look at the queue, in a transaction of its own.
 */
export async function claimOrWait<Answer, Refusal>(
  { waiters, clock }: { waiters: ClaimWaiters; clock: Clock },
  claim: { workspaceId: string; agentId: string; waitMs: number; signal: AbortSignal },
  tryOnce: () => Promise<ClaimAttempt<Answer, Refusal>>,
): Promise<ClaimResult<Answer, Refusal>> {
  const { workspaceId, agentId } = claim;
  const endMs = clock.nowMs() + claim.waitMs;
  let wokenBy: string | null = null;
  let hasWaited = false;
  // If this claim does not take the entry that woke it, the entry may suit another waiter.
  const passOn = () => {
    if (wokenBy !== null) waiters.wakeNext(workspaceId, wokenBy);
  };
  for (;;) {
    const version = waiters.version();
    const attempt = await tryOnce().catch((error: unknown) => {
      passOn();
      throw error;
    });
    if (!('refusal' in attempt)) {
      if (attempt.laneId !== wokenBy) passOn();
      return attempt;
    }
    const { refusal } = attempt;
    // An agent that may claim nothing now waits for its own state to change, not for entries.
    const suits = attempt.suits ?? (() => false);
    // If the lane suits, this claim has looked there and the entry is taken: no need to pass on.
    if (wokenBy !== null && !suits(wokenBy)) passOn();
    if (hasWaited && attempt.endsWait) return { claimed: null, refusal };
    const waiter = { workspaceId, agentId, suits };
    const woken = await waiters.wait(waiter, version, endMs - clock.nowMs(), claim.signal);
    if (woken === 'timeout') return { claimed: null, refusal };
    hasWaited = true;
    wokenBy = woken.laneId;
    if (claim.signal.aborted) {
      passOn();
      return { claimed: null, refusal };
    }
  }
}

interface RenewInput extends ClaimRef, LeaseRequest {
  workspaceId: string;
}

/** A renewal as its queue has recorded it. */
interface RecordedBeat<More> {
  /** Columns of the entry, which are written together with the lease. */
  columns: Partial<Pick<Entry, 'heartbeat_seq' | 'heartbeat_count'>>;
  /** Fields of the answer beside the lease. */
  more: More;
}

/** The steps of a renewal that differ by queue. */
export interface RenewSteps<Row, More extends object> {
  /** Reads and locks the record. */
  read(tx: Tx): Promise<LeasedRecord<Row>>;
  /** Replaces the extension by the holder. */
  extend?(tx: Tx, entry: Entry): Promise<Lease>;
  /** Writes the heartbeat. */
  record(tx: Tx, entry: Entry, row: Row): Promise<RecordedBeat<More>>;
}

type RenewAnswer<More extends object> = { leaseExpiresAt: string; cancelRequested: boolean } & More;

/**
 * Extends the lease of the entry that an agent holds.
 *
 * @throws HubError a refusal of `checkClaim`
 */
export function renewLease<Row, More extends object>(
  deps: LeaseDeps,
  entryId: string,
  input: RenewInput,
  steps: RenewSteps<Row, More>,
): Promise<RenewAnswer<More>> {
  const { workspaceId } = input;
  return deps.database.writeConcurrent({ workspaceId, keys: [entryId] }, (tx) =>
    renewLeaseWithin(tx, input, steps),
  );
}

/** Extends a lease as `renewLease` does, within a transaction. Refuses before it writes. */
export async function renewLeaseWithin<Row, More extends object>(
  tx: Tx,
  input: RenewInput,
  steps: RenewSteps<Row, More>,
): Promise<RenewAnswer<More>> {
  const { entry, row } = await steps.read(tx);
  requireClaim(entry, input);
  const lease = (await steps.extend?.(tx, entry)) ?? extendLease(entry, tx.nowMs, input);
  const { columns, more } = await steps.record(tx, entry, row);
  const renewed = updateRunning(tx, entry, { ...lease, ...columns });
  assert(renewed.lease_expires_at !== null, 'a running entry has a lease');
  return {
    leaseExpiresAt: timestampOf(renewed.lease_expires_at),
    cancelRequested: renewed.cancel_requested_at !== null,
    ...more,
  };
}

/** @throws HubError a refusal of `checkClaim` */
export function requireClaim(entry: Entry, claim: ClaimRef): void {
  const refusal = checkClaim(entry, claim);
  if (refusal !== null) throw refusal;
}

interface CompleteInput extends ClaimRef {
  workspaceId: string;
}

/** The steps of a completion that differ by queue. */
interface CompleteSteps<Row, Answer> {
  /** Reads and locks the record. */
  read(tx: Tx): Promise<LeasedRecord<Row>>;
  /** The accepted completion of a record, if it has one. */
  accepted(record: LeasedRecord<Row>): { hash: string; attempt: number } | null;
  /** Answers the accepted completion again. */
  replay(record: LeasedRecord<Row>): Answer;
  /**
   * Checks the completion and writes everything that follows from it.
   * @param isAwaited whether other entries wait for this one to be done.
   */
  accept(tx: Tx, record: LeasedRecord<Row>, isAwaited: boolean): Promise<Answer>;
  /** Keeps what a refused completion contained, if the queue keeps it. */
  keepLate?(tx: Tx, record: LeasedRecord<Row>): Promise<void>;
  /** Writes the end of work that was canceled while it ran; the entry is canceled already. */
  recordCanceled(tx: Tx, record: LeasedRecord<Row>): Promise<void>;
}

/**
 * Completes a piece of work: accepted exactly once. A replay of the accepted completion gets the
 * same answer. A completion from a lost attempt is refused.
 *
 * @param hash identifies the content of the completion.
 * @throws HubError a refusal of `checkClaim`, JOB_CANCELED, or what `accept` throws.
 */
export async function completeLease<Row, Answer>(
  deps: LeaseDeps,
  entryId: string,
  input: CompleteInput,
  hash: string,
  steps: CompleteSteps<Row, Answer>,
): Promise<Answer> {
  const { workspaceId, agentId } = input;
  const scope = { workspaceId, keys: [entryId] };
  const completion = await deps.database.writeConcurrent(scope, async (tx) => {
    // Sent together: one round trip on PostgreSQL.
    const [record, isAwaited] = await Promise.all([
      steps.read(tx),
      hasDependents(tx, workspaceId, entryId),
    ]);
    const { entry } = record;
    if (isReplay(entry, input, hash, steps.accepted(record))) {
      return { answer: steps.replay(record) };
    }
    const refusal = checkClaim(entry, input);
    if (refusal !== null) {
      await steps.keepLate?.(tx, record);
      return { refusal };
    }
    // The agent may wait for capacity, which this completion frees.
    tx.afterCommit(() => deps.waiters.wakeAgent(workspaceId, agentId));
    if (entry.cancel_requested_at !== null) {
      await deps.queue.endCanceled(tx, entry);
      await steps.recordCanceled(tx, record);
      const canceled = new HubError('JOB_CANCELED', 'The job was canceled: discard the result.');
      return { refusal: canceled };
    }
    return { answer: await steps.accept(tx, record, isAwaited) };
  });
  // Thrown after the commit, so that what was written with the refusal is kept.
  if ('refusal' in completion) throw completion.refusal;
  return completion.answer;
}

/**
 * Whether this is the accepted completion again. Without a claim generation, equal content may also
 * come from a later attempt of the same agent, which is a new completion.
 */
function isReplay(
  entry: Entry,
  input: CompleteInput,
  hash: string,
  accepted: { hash: string; attempt: number } | null,
): boolean {
  if (accepted === null || accepted.hash !== hash) return false;
  const holdsLaterAttempt =
    entry.status === 'running' &&
    entry.agent_id === input.agentId &&
    entry.attempt !== accepted.attempt;
  return input.claimGeneration !== undefined || !holdsLaterAttempt;
}

/**
 * Takes back the expired leases of all queues. `onLeaseLost` of each queue writes what that means.
 *
 * @returns how many leases were taken back.
 */
export async function recoverExpiredLeases<Deps extends RecoveryDeps<Deps>>(
  deps: Deps,
  tx: Tx,
  workspaceId: string,
): Promise<number> {
  const recoveries = await deps.queue.recoverExpired(tx, workspaceId, RECOVERIES_MAX);
  for (const recovery of recoveries) await settleRecovery(deps, tx, recovery);
  return recoveries.length;
}

/**
 * Takes running entries from their holder, whose writes are refused from then on.
 *
 * @param explanation why, for the timeline.
 */
export async function recoverLeases<Deps extends RecoveryDeps<Deps>>(
  deps: Deps,
  tx: Tx,
  held: readonly Entry[],
  explanation: LossExplanation,
): Promise<void> {
  for (const entry of held) {
    const recovery = await deps.queue.recover(tx, entry);
    await settleRecovery(deps, tx, { ...recovery, explanation });
  }
}

/** Writes what a lost lease means for the job, and wakes the agent that has lost it. */
async function settleRecovery<Deps extends RecoveryDeps<Deps>>(
  deps: Deps,
  tx: Tx,
  recovery: LostLease,
): Promise<void> {
  await deps.hooks.onLeaseLost[recovery.lost.queue](deps, tx, recovery);
  wakeHolder(deps, tx, recovery.lost);
}

/** Wakes the claims of the agent that has lost an entry, since the loss frees capacity. */
function wakeHolder(
  { waiters }: { waiters: ClaimWaiters },
  tx: Tx,
  { workspace_id: workspaceId, agent_id: agentId }: Entry,
): void {
  if (agentId !== null) tx.afterCommit(() => waiters.wakeAgent(workspaceId, agentId));
}
