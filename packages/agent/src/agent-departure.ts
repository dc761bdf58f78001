import type { Clock } from './clock.ts';
import type { AgentLoops } from './loops/agent-loops.ts';

/** Telling the hub that the agent drains is a courtesy; it does not hold the agent up for long. */
const TOLD_MS_MAX = 5_000;

/**
 * Leaves in order. The hub is told first, so that nothing new comes; the claim that is under way
 * is settled, so that no job is given out unheard; what is held is finished while heartbeats and
 * renewals go on; results are delivered. What cannot be delivered in time stays on disk.
 * `hurry` (with a sentence as its reason) means that held jobs are stopped, not finished.
 */
export async function leaveHub(
  parts: AgentLoops & { clock: Clock; hurry: AbortSignal; flushMs: number },
): Promise<void> {
  const { presence, claims, outbox, heldJobs, clock, hurry } = parts;
  await presence.told(AbortSignal.any([hurry, AbortSignal.timeout(TOLD_MS_MAX)]));
  await claims.settle();
  // The stop may have come before the claim that has just been settled.
  if (hurry.aborted) heldJobs.stopAll(String(hurry.reason));
  await heldJobs.worked();
  const flushed = new AbortController();
  await Promise.race([outbox.empty(), clock.sleep(parts.flushMs, flushed.signal)]);
  flushed.abort();
  await outbox.stop();
  await heldJobs.released();
  await presence.stop();
}
