import type { Clock } from '../clock.ts';
import { type HubClient, judgeFailure } from '../hub-client.ts';
import { type Attempt, fenceOf } from '../job/attempt.ts';
import type { Backoff } from './backoff.ts';
import { LEASE_LET_GO_MS } from './lease-loop.ts';
import { type Loop, startLoop, UNTIL_WOKEN_MS } from './loop.ts';

export interface ReleaseLoop extends Loop {
  /** The attempts about which the hub has not answered. */
  left(): readonly Attempt[];
}

const CALL_TIMEOUT_MS = 10_000;
const MESSAGE = 'The agent was started again: its earlier process did not finish this attempt.';

/**
 * Shortens the leases of attempts that an earlier process of this agent has left, until the hub has
 * answered. Their processes have been ended, and nothing else writes for them, so the hub may offer
 * the jobs again at once: a lease may last for hours, and a hub that was unavailable as well adds a
 * minute.
 */
export function startReleaseLoop(options: {
  client: Pick<HubClient, 'jobs'>;
  attempts: readonly Attempt[];
  clock: Clock;
  backoff: Backoff;
  onDefect(error: unknown): void;
}): ReleaseLoop {
  const { client, clock, backoff, onDefect } = options;
  const left = [...options.attempts];

  async function runOnce(): Promise<number> {
    const [attempt] = left;
    if (attempt === undefined) return UNTIL_WOKEN_MS;
    const lease = { leaseMs: LEASE_LET_GO_MS, shorten: true, message: MESSAGE };
    const body = { ...fenceOf(attempt), ...lease };
    try {
      await client.jobs.heartbeat(body, { timeoutMs: CALL_TIMEOUT_MS });
    } catch (error) {
      const failure = judgeFailure(error);
      // A refusal means that the attempt has ended at the hub as well.
      if (failure.kind !== 'refused') {
        return backoff.nextDelayMs(failure.kind === 'retry' ? failure.retryAfterMs : 0);
      }
    }
    backoff.reset();
    left.shift();
    return 0;
  }

  return { ...startLoop({ clock, runOnce, onDefect }), left: () => left };
}
