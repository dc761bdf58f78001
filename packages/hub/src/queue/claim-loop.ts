import type { Clock } from '../clock.ts';
import type { Reader } from '../db/engine.ts';
import type { ClaimWaiters } from './claim-waiters.ts';
import type { Lane } from './entry.ts';
import { laneHasHeld, readLaneHead } from './queue-store.ts';

/** What one look at the queue came to. */
export type ClaimAttempt<Answer, Reason> =
  | {
      claimed: Answer;
      /** The lane that it was taken from; null when the agent held it before. */
      laneId: string | null;
    }
  | {
      claimed: null;
      reason: Reason;
      /** Which lanes may help; null for an agent that may be given nothing as it is now. */
      suits: ((laneId: string) => boolean) | null;
    };

/**
 * Claims, for every queue alike: looks once, and with `waitMs` parks the request until an entry
 * becomes ready that may suit it. Parked, it costs no query.
 *
 * @param tryOnce one look at the queue, in an action of its own.
 */
export async function claimOrWait<Answer, Reason>(
  { waiters, clock }: { waiters: ClaimWaiters; clock: Clock },
  claim: { workspaceId: string; agentId: string; waitMs: number; signal: AbortSignal },
  tryOnce: () => Promise<ClaimAttempt<Answer, Reason>>,
): Promise<{ claimed: Answer } | { claimed: null; reason: Reason }> {
  const { workspaceId, agentId, signal } = claim;
  const endMs = clock.nowMs() + claim.waitMs;
  let wokenBy: string | null = null;
  // The entry that woke this claim may suit another that waits, if this one does not take it.
  const passOn = () => {
    if (wokenBy !== null) waiters.wakeNext(workspaceId, wokenBy);
  };
  for (;;) {
    const version = waiters.version(workspaceId);
    const attempt = await tryOnce().catch((error: unknown) => {
      passOn();
      throw error;
    });
    if (!('reason' in attempt)) {
      if (attempt.laneId !== wokenBy) passOn();
      return attempt;
    }
    const { reason } = attempt;
    // An agent that may be given nothing now waits for its own state to change, not for entries.
    const suits = attempt.suits ?? (() => false);
    // Where its lane does suit, the entry was looked for and is gone.
    if (wokenBy !== null && !suits(wokenBy)) passOn();
    const waiter = { workspaceId, agentId, suits };
    const woken = await waiters.wait(waiter, version, endMs - clock.nowMs(), signal);
    if (woken === 'timeout') return { claimed: null, reason };
    wokenBy = woken.laneId;
    if (signal.aborted) {
      passOn();
      return { claimed: null, reason };
    }
  }
}

/** Whether any of the lanes holds an entry, be it ready or held. */
export async function hasPendingEntry(reader: Reader, lanes: readonly Lane[]): Promise<boolean> {
  for (const { workspace_id: workspaceId, lane_id: laneId } of lanes) {
    if ((await readLaneHead(reader, workspaceId, laneId)) !== undefined) return true;
    if (await laneHasHeld(reader, workspaceId, laneId)) return true;
  }
  return false;
}
