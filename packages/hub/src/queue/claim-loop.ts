import type { Clock } from '../clock.ts';
import type { Reader } from '../db/engine.ts';
import type { ClaimWaiters } from './claim-waiters.ts';
import type { Lane } from './entry.ts';
import { readLaneHead } from './queue-sqlite.ts';

/** What one look at the queue came to. */
export type ClaimAttempt<Answer, Reason> =
  | { claimed: Answer }
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
  const { workspaceId, agentId } = claim;
  const endMs = clock.nowMs() + claim.waitMs;
  let wokenBy: string | null = null;
  for (;;) {
    const version = waiters.version(workspaceId);
    const attempt = await tryOnce();
    if (!('reason' in attempt)) return attempt;
    const { reason, suits } = attempt;
    // The entry that woke this claim may still suit another: pass it on, unless it is gone.
    if (wokenBy !== null && suits === null) waiters.wakeNext(workspaceId, wokenBy);
    const woken = await waiters.wait(
      // An agent that may be given nothing now waits for its own state to change, not for entries.
      { workspaceId, agentId, suits: suits ?? (() => false) },
      version,
      endMs - clock.nowMs(),
      claim.signal,
    );
    if (woken === 'timeout') return { claimed: null, reason };
    wokenBy = woken.laneId;
  }
}

/** Whether any of the lanes holds an entry that could be claimed. */
export async function hasReadyEntry(reader: Reader, lanes: readonly Lane[]): Promise<boolean> {
  for (const lane of lanes) {
    if ((await readLaneHead(reader, lane.workspace_id, lane.lane_id)) !== undefined) return true;
  }
  return false;
}
