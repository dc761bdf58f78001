import type { Clock } from '../../src/base/clock.ts';

export interface ManualClock extends Clock {
  /** Moves time on, and calls what falls due on the way, in order. */
  advance(deltaMs: number): void;
}

/** A clock that stands still until a test advances it. */
export function createManualClock(startMs = Date.UTC(2026, 10, 2, 9)): ManualClock {
  let nowMs = startMs;
  const timers = new Set<{ atMs: number; call: () => void }>();
  return {
    nowMs: () => nowMs,
    schedule(delayMs, call) {
      const timer = { atMs: nowMs + delayMs, call };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance(deltaMs) {
      const endMs = nowMs + deltaMs;
      for (;;) {
        const next = [...timers]
          .filter((timer) => timer.atMs <= endMs)
          .sort((a, b) => a.atMs - b.atMs)[0];
        if (next === undefined) break;
        timers.delete(next);
        nowMs = Math.max(nowMs, next.atMs);
        next.call();
      }
      nowMs = endMs;
    },
  };
}
