import type { Clock } from '../clock.ts';
import type { ToolAccount } from '../executors/tool-account.ts';
import { type FailureRule, passingFailures, type ToolFailure } from '../executors/tool-failure.ts';

/** Why an agent claims nothing for an account at the moment. */
export interface PauseState {
  /** A code of `passingFailures`. */
  code: string;
  message: string;
  untilMs: number;
  tool: string;
  /** Null: all models of the account. */
  model: string | null;
}

/** A job that the agent holds. */
export interface HeldAccount {
  account: ToolAccount;
  /** When its work began (monotonic). */
  begunMs: number;
}

/** Jitter: a pause lasts up to this share longer, so that agents do not return all at once. */
const JITTER_SHARE = 0.2;
const JITTER_MS_MAX = 60_000;
/** The longest window of a provider is a week. A later reset is tried earlier, by one job. */
const RESET_MS_MAX = 8 * 24 * 60 * 60_000;

const LOOK_MS = 30_000;

/** An account whose last answers were failures. */
interface Trouble {
  tool: string;
  login: string;
  model: string | null;
  /** Null: the pause is over, and one job may find out whether the model answers again. */
  state: PauseState | null;
  /** When the last pause began (monotonic). */
  sinceMs: number;
  /** Pauses in a row. */
  pauses: number;
}

export type ClaimPauses = ReturnType<typeof createClaimPauses>;

/**
 * Stops an agent from claiming while a provider does not serve an account. Without it, one usage
 * limit would fail every waiting job within seconds. Accounts are apart: jobs of a tool, login or
 * model that is served continue.
 *
 * After a pause the agent claims one job of the account. If the model answers it, the agent works
 * as before; if not, the next pause is twice as long.
 */
export function createClaimPauses(options: {
  clock: Clock;
  random: () => number;
  /** Called when a pause begins and when one is over. */
  onChange(state: PauseState | null): void;
  /** Called when more or fewer jobs may be claimed. */
  onClaimable(): void;
}) {
  const { clock, random, onChange, onClaimable } = options;
  const troubles = new Map<string, Trouble>();
  const stopping = new AbortController();

  function covering({ tool, login, model }: ToolAccount): Trouble[] {
    return [...troubles.values()].filter(
      (one) =>
        one.tool === tool && one.login === login && (one.model === null || one.model === model),
    );
  }

  function pause(trouble: Trouble, state: PauseState): void {
    Object.assign(trouble, { state, sinceMs: clock.monotonicMs(), pauses: trouble.pauses + 1 });
    onChange(state);
    onClaimable();
    void waitUntil(state.untilMs, clock, stopping.signal).then(() => {
      if (trouble.state !== state || stopping.signal.aborted) return;
      trouble.state = null;
      onChange(null);
      onClaimable();
    });
  }

  return {
    /** The pauses that last now. */
    states: () => [...troubles.values()].flatMap(({ state }) => state ?? []),
    /** The pause that lasts longest for an account; null while it may be used. */
    stateOf: (account: ToolAccount): PauseState | null =>
      covering(account)
        .flatMap(({ state }) => state ?? [])
        .toSorted((a, b) => b.untilMs - a.untilMs)[0] ?? null,
    /** Whether a job of an account may be claimed beside those that are held. */
    mayClaim(account: ToolAccount, held: readonly HeldAccount[]): boolean {
      return covering(account).every(
        (trouble) =>
          trouble.state === null &&
          // Jobs from before the pause tell nothing about it.
          !held.some(
            (job) => job.begunMs >= trouble.sinceMs && covering(job.account).includes(trouble),
          ),
      );
    },
    /** @returns how long the account is paused from now; 0: the failure pauses nothing. */
    begin(failure: ToolFailure, { tool, login, model }: ToolAccount): number {
      const { code, summary: message } = failure;
      const rule = passingFailures[code];
      if (rule === undefined) return 0;
      const of = isOfAccount(failure) ? null : model;
      const key = JSON.stringify([tool, login, of]);
      const fresh = { tool, login, model: of, state: null, sinceMs: 0, pauses: 0 };
      const trouble = troubles.get(key) ?? fresh;
      troubles.set(key, trouble);
      const nowMs = clock.nowMs();
      // Jobs that ran at the same time fail for the same reason. Only a later reset is news.
      const isNews = trouble.state === null || (failure.resetsAtMs ?? 0) > trouble.state.untilMs;
      if (isNews) {
        const untilMs =
          nowMs + lengthOf(failure, rule, { nowMs, random: random(), pauses: trouble.pauses });
        pause(trouble, { code, message, untilMs, tool, model: of });
      }
      return (trouble.state?.untilMs ?? nowMs) - nowMs;
    },
    /** The model answered a job. Ends the pauses that had begun before that job. */
    end({ account, begunMs }: HeldAccount): void {
      const over = covering(account).filter(({ sinceMs }) => begunMs >= sinceMs);
      if (over.length === 0) return;
      const ended = new Set(over);
      for (const [key, trouble] of troubles) if (ended.has(trouble)) troubles.delete(key);
      const wasPaused = over.some(({ state }) => state !== null);
      for (const trouble of over) trouble.state = null;
      if (wasPaused) onChange(null);
      onClaimable();
    },
    /** Forgets the pauses without a word, when the agent leaves. */
    stop: () => stopping.abort(),
  };
}

/** Whether no other model of the account would answer either. */
function isOfAccount({ code, isOfModel }: ToolFailure): boolean {
  return code === 'not_logged_in' || (code === 'usage_limit' && !isOfModel);
}

/** Until the limit is reset if the tool said when, and longer with each pause in a row if not. */
function lengthOf(
  { resetsAtMs = 0 }: ToolFailure,
  rule: FailureRule,
  { nowMs, random, pauses }: { nowMs: number; random: number; pauses: number },
): number {
  const untilResetMs = Math.min(resetsAtMs - nowMs, RESET_MS_MAX);
  const backoffMs = Math.min(rule.pauseMsMax, rule.pauseMs * 2 ** Math.min(pauses, 20));
  const ms = untilResetMs > 0 ? untilResetMs : backoffMs;
  return ms + random * Math.min(JITTER_MS_MAX, ms * JITTER_SHARE);
}

/** By the wall clock: timers stand still while a laptop sleeps. */
export async function waitUntil(untilMs: number, clock: Clock, signal: AbortSignal): Promise<void> {
  for (let restMs = untilMs - clock.nowMs(); restMs > 0; restMs = untilMs - clock.nowMs()) {
    if (signal.aborted) return;
    await clock.sleep(Math.min(restMs, LOOK_MS), signal);
  }
}
