import type { Clock } from '../clock.ts';
import { waitUntil } from '../loops/claim-pause.ts';

/** How the set-up of an attempt has ended; null: it was done. */
export interface SetupEnd {
  failure: string | null;
}

/** Why an agent claims no jobs of a repository at the moment. */
export interface SetupPause {
  code: 'setup_failed';
  message: string;
  untilMs: number;
}

/** In a row. */
const FAILURES_MAX = 3;
const PAUSE_MS = 60 * 60_000;

/**
 * Stops an agent from claiming jobs of a repository whose set-up fails again and again: each would
 * be tried, and fail, on this machine. After the pause one failure begins the next one.
 */
export function createSetupPauses(options: {
  clock: Clock;
  /** Called when a pause begins and when one is over. */
  onChange(repoId: string, state: SetupPause | null): void;
}) {
  const { clock, onChange } = options;
  const repositories = new Map<string, { failures: number; state: SetupPause | null }>();
  const stopping = new AbortController();

  return {
    /** Null while jobs of the repository may be claimed. */
    stateOf: (repoId: string): SetupPause | null => repositories.get(repoId)?.state ?? null,
    states: () =>
      [...repositories].flatMap(([repoId, { state }]) => (state ? [{ repoId, ...state }] : [])),
    onEnd(repoId: string, { failure }: SetupEnd): void {
      const { failures = 0, state = null } = repositories.get(repoId) ?? {};
      if (failure === null) {
        repositories.delete(repoId);
        if (state !== null) onChange(repoId, null);
        return;
      }
      const own = { failures: failures + 1, state };
      repositories.set(repoId, own);
      // Jobs that ran at the same time fail for the same reason.
      if (own.failures < FAILURES_MAX || state !== null) return;
      const how = `The set-up failed ${own.failures} times in a row`;
      const message = `${how}: repair it and restart the agent. ${failure}`;
      const begun: SetupPause = {
        code: 'setup_failed',
        message,
        untilMs: clock.nowMs() + PAUSE_MS,
      };
      own.state = begun;
      onChange(repoId, begun);
      void waitUntil(begun.untilMs, clock, stopping.signal).then(() => {
        const now = repositories.get(repoId);
        if (now?.state !== begun || stopping.signal.aborted) return;
        now.state = null;
        onChange(repoId, null);
      });
    },
    stop: () => stopping.abort(),
  };
}
