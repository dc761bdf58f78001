import type { Clock } from '../clock.ts';
import { providerFailures, type ToolFailure } from '../executors/tool-failure.ts';

/** Why an agent claims nothing at the moment. */
export interface PauseState {
  /** A code of `providerFailures`. */
  code: string;
  message: string;
  untilMs: number;
}

/**
 * Stops an agent from claiming while the provider of its model does not serve it. Without it, one
 * usage limit would fail every waiting job within seconds.
 *
 * After the pause the agent claims one job. If the model answers, it works as before; if not, the
 * next pause is twice as long.
 */
export interface ClaimPause {
  /** Null while the agent may claim. */
  state(): PauseState | null;
  /** How many of its slots the agent may fill. */
  slots(all: number): number;
  begin(failure: ToolFailure): void;
  /** The model answered. */
  end(): void;
  /** Forgets the pause without a word, when the agent leaves. */
  stop(): void;
}

/** Jitter: a pause lasts up to this share longer, so that agents do not return all at once. */
const JITTER_SHARE = 0.2;

export function createClaimPause(options: {
  clock: Clock;
  random: () => number;
  /** Called when a pause begins, when it is over, and when the model answered after it. */
  onChange(state: PauseState | null): void;
}): ClaimPause {
  const { clock, random, onChange } = options;
  let state: PauseState | null = null;
  /** Pauses in a row; 0 when the model has answered since. */
  let pauses = 0;
  const stopping = new AbortController();

  return {
    state: () => state,
    slots: (all) => (pauses === 0 ? all : Math.min(all, 1)),
    begin({ code, summary }) {
      const rule = providerFailures[code];
      // Jobs that ran at the same time fail for the same reason.
      if (rule === undefined || state !== null) return;
      const baseMs = Math.min(rule.pauseMsMax, rule.pauseMs * 2 ** Math.min(pauses, 20));
      pauses += 1;
      const delayMs = baseMs * (1 + random() * JITTER_SHARE);
      const mine = { code, message: summary, untilMs: clock.nowMs() + delayMs };
      state = mine;
      onChange(mine);
      void clock.sleep(delayMs, stopping.signal).then(() => {
        if (state !== mine || stopping.signal.aborted) return;
        state = null;
        onChange(null);
      });
    },
    end() {
      if (pauses === 0) return;
      pauses = 0;
      state = null;
      onChange(null);
    },
    stop: () => stopping.abort(),
  };
}
