import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { type CallOptions, judgeFailure } from '../hub-client.ts';
import type { Backoff } from './backoff.ts';
import { type Loop, startLoop, UNTIL_WOKEN_MS } from './loop.ts';

/** Below the half minute after which many proxies cut a silent connection. */
const WAIT_MS_MAX = 25_000;
/** Beyond the wait itself. */
const CALL_TIMEOUT_MS = 15_000;
/**
 * A hub that answers "nothing" at once (paused, at capacity, or without long polls) is asked no
 * more often than this.
 */
const EMPTY_INTERVAL_MS = 2_000;
/** An answer that comes this far into the wait has waited; timers are not exact. */
const WAITED_SHARE = 0.9;
/** How long a leaving agent asks for a claim of which it has not heard. */
const SETTLE_MS = 5_000;

export interface ClaimRequest {
  agentId: string;
  leaseMs: number;
  waitMs: number;
  claimKey: string;
  /** When this claim was first sent (monotonic): its lease cannot have begun earlier. */
  sentAtMs: number;
}

/** Asks the hub once, hands on what it gives, and says whether it gave anything. */
export type ClaimCall = (request: ClaimRequest, call: CallOptions) => Promise<boolean>;

export interface ClaimOptions {
  /** From whichever queue. */
  claim: ClaimCall;
  leaseMs: number;
  clock: Clock;
  backoff: Backoff;
  random: () => number;
  /** Null until the first heartbeat was answered. */
  agentId(): string | null;
  /** Whether there is room for one more job and nothing against it. */
  mayClaim(): boolean;
  /** The hub does not know the agent (any more): a heartbeat is due. */
  onUnknownAgent(): void;
  onDefect(error: unknown): void;
}

export interface ClaimLoop extends Loop {
  /**
   * Ends the loop. A poll that is cut short may have been given a job a moment before, so its
   * claim key is asked once more without waiting: the job that comes is taken, not lost until its
   * lease ends. To be called when the hub knows that the agent drains: then nothing new comes.
   */
  settle(): Promise<void>;
}

/**
 * Asks for jobs, one long poll at a time, while there is room. Stopping it is not cancelling: the
 * jobs that it has claimed are none of its business any more.
 */
export function startClaimLoop(options: ClaimOptions): ClaimLoop {
  const { clock, backoff, leaseMs } = options;
  // The lease counts from the moment at which a poll was sent: one that waits for a good part of
  // the lease would be answered with a lease of which little is known to be left.
  const longWaitMs = Math.floor(Math.min(WAIT_MS_MAX, leaseMs / 3));
  let poll = new AbortController();
  /** Of a claim whose answer has not arrived; sent again until one does. */
  let open: { claimKey: string; sentAtMs: number } | null = null;

  async function claim(agentId: string, waitMs: number, signal: AbortSignal): Promise<boolean> {
    open ??= { claimKey: randomUUID(), sentAtMs: clock.monotonicMs() };
    const { claimKey, sentAtMs } = open;
    const isGiven = await options.claim(
      { agentId, leaseMs, waitMs, claimKey, sentAtMs },
      { signal, timeoutMs: waitMs + CALL_TIMEOUT_MS },
    );
    open = null;
    backoff.reset();
    return isGiven;
  }

  function afterTrouble(error: unknown): number {
    const failure = judgeFailure(error);
    if (failure.kind !== 'retry') open = null;
    if (failure.kind === 'refused' && failure.code === 'AGENT_NOT_FOUND') options.onUnknownAgent();
    // By now the lease of a lost answer has run out: the job is better claimed afresh.
    if (open !== null && clock.monotonicMs() - open.sentAtMs > leaseMs) open = null;
    return backoff.nextDelayMs(failure.kind === 'retry' ? failure.retryAfterMs : 0);
  }

  async function runOnce(stopping: AbortSignal): Promise<number> {
    const agentId = options.agentId();
    if (agentId === null || !options.mayClaim()) return UNTIL_WOKEN_MS;
    const beganMs = clock.monotonicMs();
    poll = new AbortController();
    try {
      if (await claim(agentId, longWaitMs, poll.signal)) return 0;
    } catch (error) {
      if (stopping.aborted) return 0;
      const delayMs = afterTrouble(error);
      await clock.sleep(delayMs, poll.signal);
      return 0;
    }
    const elapsedMs = clock.monotonicMs() - beganMs;
    // The hub has waited as it was asked to; so nothing is gained by a pause.
    if (elapsedMs >= longWaitMs * WAITED_SHARE) return 0;
    const intervalMs = EMPTY_INTERVAL_MS * (0.5 + options.random());
    await clock.sleep(Math.max(0, intervalMs - elapsedMs), poll.signal);
    return 0;
  }

  const loop = startLoop({ clock, runOnce, onDefect: options.onDefect });
  return {
    wake: () => loop.wake(),
    async stop() {
      const ended = loop.stop();
      poll.abort();
      await ended;
    },
    async settle() {
      await this.stop();
      const limit = AbortSignal.timeout(SETTLE_MS);
      const agentId = options.agentId();
      while (open !== null && agentId !== null && !limit.aborted) {
        try {
          await claim(agentId, 0, limit);
        } catch (error) {
          await clock.sleep(afterTrouble(error), limit);
        }
      }
    },
  };
}
