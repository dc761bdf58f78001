import type { AgentCapabilities, Job } from '@signalbox/contract';
import type { AgentEvent } from '../agent-events.ts';
import type { Clock } from '../clock.ts';
import { loginOf, type ToolAccount } from '../executors/tool-account.ts';
import { passingFailures, type ToolFailure } from '../executors/tool-failure.ts';
import { createClaimPauses, type HeldAccount, type PauseState } from '../loops/claim-pause.ts';
import { createSetupPauses, type SetupEnd } from '../setup/setup-pauses.ts';
import type { JobSettings } from './job-work.ts';
import { fitText } from './text-limits.ts';

/** The contract's limit of the reason for a pause, with room for its escapes. */
const PAUSE_BYTES_MAX = 900;

/** The contract's limit of the list. */
const PAUSES_MAX = 50;

/** A job that may itself be the cause waits longer than the pause, so another one goes first. */
const DELAY_FACTOR = 1.25;

/** The accounts that the repositories of an agent use, and which of them may be used now. */
export interface ClaimAccounts {
  /** The repositories whose jobs may be claimed beside those that are held. */
  claimable(): string[];
  /** The pauses, as the heartbeats tell them. */
  shown(): AgentCapabilities;
  /** Follows a job from its claim. */
  hold(key: string, job: Job): HeldAccount;
  release(key: string): void;
  /** @returns how long the job waits at least; 0: another agent may take it at once. */
  onFailure(failure: ToolFailure, held: HeldAccount, job: Job): number;
  onAnswer(held: HeldAccount): void;
  /** The set-up of a job of a repository has ended. */
  onSetupEnd(repoId: string, end: SetupEnd): void;
  stop(): void;
}

export function createClaimAccounts(options: {
  /** The settings of each repository, by its ID. */
  repositories: ReadonlyMap<string, Pick<JobSettings, 'executor' | 'env'> & { path: string }>;
  clock: Clock;
  random: () => number;
  emit(event: AgentEvent): void;
  onShown(): void;
  onClaimable(): void;
}): ClaimAccounts {
  const { repositories, clock, emit, onShown, onClaimable } = options;
  const accounts = new Map([...repositories].map(([id, one]) => [id, accountOf(one, null)]));
  const held = new Map<string, HeldAccount>();
  const pauses = createClaimPauses({
    clock,
    random: options.random,
    onClaimable,
    onChange(state) {
      if (state === null) return tell(null);
      const { model: _, ...shown } = state;
      tell(shown);
    },
  });

  const setups = createSetupPauses({
    clock,
    onChange(repoId, state) {
      const repository = repositories.get(repoId)?.path ?? repoId;
      tell(state === null ? null : { ...state, repository });
      onClaimable();
    },
  });

  function tell(state: (ShownPause & { repository?: string }) | null): void {
    if (state === null) emit({ type: 'unpaused' });
    else emit({ type: 'paused', ...state, isPartial: pausesOfAll() === null });
    onShown();
  }

  /** The pause that ends first, if all repositories are paused. */
  function pausesOfAll(): ShownPause | null {
    const all = [...accounts].map(([id, account]) => setups.stateOf(id) ?? pauses.stateOf(account));
    const lasting = all.flatMap((state) => state ?? []);
    if (lasting.length < all.length) return null;
    return lasting.toSorted((a, b) => a.untilMs - b.untilMs)[0] ?? null;
  }

  return {
    claimable: () =>
      [...accounts]
        .filter(([id]) => setups.stateOf(id) === null)
        .filter(([, account]) => pauses.mayClaim(account, [...held.values()]))
        .map(([repoId]) => repoId),
    shown() {
      const all = pausesOfAll();
      const states = pauses.states().map((state) => ({
        ...presentPause(state),
        repoIds: [...accounts]
          .filter(([, account]) => pauses.stateOf(account) === state)
          .map(([repoId]) => repoId),
      }));
      const ofSetups = setups
        .states()
        .map(({ repoId, ...state }) => ({ ...presentPause(state), repoIds: [repoId] }));
      const ofAccounts = states.filter(({ repoIds }) => repoIds.length > 0);
      const shown = [...ofAccounts, ...ofSetups].slice(0, PAUSES_MAX);
      if (shown.length === 0) return {};
      return { ...(all === null ? {} : { paused: presentPause(all) }), pauses: shown };
    },
    hold(key, job) {
      const settings = repositories.get(job.repoId);
      if (settings === undefined) throw new Error('a held job is of a repository of the agent');
      const one = { account: accountOf(settings, job), begunMs: clock.monotonicMs() };
      held.set(key, one);
      return one;
    },
    release: (key) => void held.delete(key),
    onFailure(failure, { account }, job) {
      const pausedMs = pauses.begin(failure, account);
      if (passingFailures[failure.code]?.delaysJob) return pausedMs * DELAY_FACTOR;
      const own = accounts.get(job.repoId);
      // Claims name repositories. A job that asked for a model of its own must wait by itself.
      const isCovered = own !== undefined && pauses.stateOf(own) !== null;
      return isCovered ? 0 : pausedMs;
    },
    onAnswer: (one) => pauses.end(one),
    onSetupEnd: (repoId, end) => setups.onEnd(repoId, end),
    stop() {
      pauses.stop();
      setups.stop();
    },
  };
}

function accountOf({ executor, env }: Pick<JobSettings, 'executor' | 'env'>, job: Job | null) {
  const tool = executor.tool ?? executor.name;
  const model = executor.modelOf?.(job?.requirements ?? null) ?? '';
  return { tool, login: loginOf(tool, env), model } satisfies ToolAccount;
}

/** A pause of an account, or of a repository, which has no tool. */
type ShownPause = Pick<PauseState, 'code' | 'message' | 'untilMs'> & Partial<PauseState>;

function presentPause({ code, message, untilMs, tool, model }: ShownPause) {
  const until = new Date(untilMs).toISOString();
  const ofTool = tool === undefined ? {} : { tool };
  const named = model == null || model === '' ? {} : { model };
  return { code, message: fitText(message, PAUSE_BYTES_MAX), until, ...ofTool, ...named };
}
