import type { Clock } from '../base/clock.ts';
import type { HintReceiver } from '../cluster/hint-receiver.ts';
import { createLoop, type Loop } from './loop.ts';

/** A waiting claim whose hint was lost is answered within a second. */
const LOOK_INTERVAL_MS = 500;

/** Looks for changes on other hubs whose hints were lost. It runs on every hub. */
export function createMissedHints(
  { clock, receiver }: { clock: Clock; receiver: HintReceiver },
  onError: (error: unknown) => void,
): Loop<void> {
  return createLoop({
    name: 'missed-hints',
    intervalMs: LOOK_INTERVAL_MS,
    clock,
    work: receiver.look,
    hasMore: () => false,
    onError,
  });
}
