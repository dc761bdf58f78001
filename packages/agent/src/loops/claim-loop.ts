import type { CallOptions } from '@signalbox/sdk';
import type { Clock } from '../clock.ts';
import { judgeFailure } from '../hub-client.ts';
import type { Backoff } from './backoff.ts';
import { type Loop, startLoop, UNTIL_WOKEN_MS } from './loop.ts';

/** Below 30 s, after which many proxies close an idle connection. */
const WAIT_MS_MAX = 25_000;
/** Timeout beyond the wait itself. */
const CALL_TIMEOUT_MS = 15_000;
/**
 * Minimum interval between claims that are answered "nothing" without waiting (paused, at capacity,
 * or a hub without long polls).
 */
const EMPTY_INTERVAL_MS = 2_000;
/**
 * An empty answer after this share of the wait counts as a completed long poll, because timers are
 * not exact.
 */
const WAITED_SHARE = 0.9;
/** How long an agent that shuts down retries a claim whose answer it has not received. */
const SETTLE_MS = 5_000;

interface ClaimRequest {
  agentId: string;
  leaseMs: number;
  waitMs: number;
  /** When this claim was first sent (monotonic): its lease cannot have begun earlier. */
  sentAtMs: number;
}

/**
 * Sends one claim and hands a granted job on. Returns whether a job was granted. All claims until
 * then have the same key, so that the hub answers a grant again whose answer was lost.
 */
export type ClaimCall = (request: ClaimRequest, call: CallOptions) => Promise<boolean>;

export interface ClaimOptions {
  /** Claims from the agent's queue: jobs or cloud AI jobs. */
  claim: ClaimCall;
  leaseMs: number;
  /** An earlier process may have sent a claim whose answer it has not received. */
  isClaimResumed: boolean;
  clock: Clock;
  backoff: Backoff;
  random: () => number;
  /** Null until the first heartbeat was answered. */
  agentId(): string | null;
  /** Whether a slot is free and claiming is allowed. */
  mayClaim(): boolean;
  /** The hub does not know the agent (any more), so a heartbeat is needed. */
  onUnknownAgent(): void;
  onDefect(error: unknown): void;
}

export interface ClaimLoop extends Loop {
  /** Asks again, because other jobs may be claimed than those that a waiting claim has named. */
  refresh(): void;
  /**
   * Ends the loop. An aborted poll may have been granted a job just before, so the claim is sent
   * again without waiting: a granted job is accepted instead of staying blocked until its
   * lease ends. Call it after the hub has acknowledged draining, when it grants no further jobs.
   */
  settle(): Promise<void>;
}

/**
 * Claims jobs, one long poll at a time, while a slot is free. Stopping the loop does not affect
 * jobs that are already claimed.
 */
export function startClaimLoop(options: ClaimOptions): ClaimLoop {
  const { clock, backoff, leaseMs } = options;
  // A lease counts from the moment the poll was sent. After a wait of a large part of the lease,
  // little of the granted lease would be certain.
  const longWaitMs = Math.floor(Math.min(WAIT_MS_MAX, leaseMs / 3));
  let poll = new AbortController();
  /** When the claim was first sent that has no answer yet; it is sent again until one arrives. */
  let openSinceMs = options.isClaimResumed ? Number.NEGATIVE_INFINITY : null;

  async function claim(agentId: string, waitMs: number, signal: AbortSignal): Promise<boolean> {
    openSinceMs ??= clock.monotonicMs();
    const isGiven = await options.claim(
      { agentId, leaseMs, waitMs, sentAtMs: openSinceMs },
      { signal, timeoutMs: waitMs + CALL_TIMEOUT_MS },
    );
    openSinceMs = null;
    backoff.reset();
    return isGiven;
  }

  function afterTrouble(error: unknown): number {
    const failure = judgeFailure(error);
    if (failure.kind !== 'retry') openSinceMs = null;
    if (failure.kind === 'refused' && failure.code === 'AGENT_NOT_FOUND') options.onUnknownAgent();
    return backoff.nextDelayMs(failure.kind === 'retry' ? failure.retryAfterMs : 0);
  }

  async function runOnce(stopping: AbortSignal): Promise<number> {
    const agentId = options.agentId();
    const mayClaim = options.mayClaim();
    // A claim that was cut off may have been granted: it is sent again, in any case.
    if (agentId === null || (!mayClaim && openSinceMs === null)) return UNTIL_WOKEN_MS;
    const beganMs = clock.monotonicMs();
    poll = new AbortController();
    try {
      if (await claim(agentId, mayClaim ? longWaitMs : 0, poll.signal)) return 0;
      if (!mayClaim) return UNTIL_WOKEN_MS;
    } catch (error) {
      if (stopping.aborted || poll.signal.aborted) return 0;
      const delayMs = afterTrouble(error);
      await clock.sleep(delayMs, poll.signal);
      return 0;
    }
    const elapsedMs = clock.monotonicMs() - beganMs;
    // The hub waited as requested, so poll again immediately.
    if (elapsedMs >= longWaitMs * WAITED_SHARE) return 0;
    const intervalMs = EMPTY_INTERVAL_MS * (0.5 + options.random());
    await clock.sleep(Math.max(0, intervalMs - elapsedMs), poll.signal);
    return 0;
  }

  const loop = startLoop({ clock, runOnce, onDefect: options.onDefect });
  return {
    wake: () => loop.wake(),
    refresh() {
      poll.abort();
      loop.wake();
    },
    async stop() {
      const ended = loop.stop();
      poll.abort();
      await ended;
    },
    async settle() {
      await this.stop();
      const limit = AbortSignal.timeout(SETTLE_MS);
      const agentId = options.agentId();
      while (openSinceMs !== null && agentId !== null && !limit.aborted) {
        try {
          await claim(agentId, 0, limit);
        } catch (error) {
          await clock.sleep(afterTrouble(error), limit);
        }
      }
    },
  };
}
