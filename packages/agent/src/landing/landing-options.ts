import type { Verdict } from '@signalbox/contract';

/** A command that proves the work of a job. It passes if it exits with 0. */
export interface CheckCommand {
  /** A line for `/bin/sh`, run in the worktree. */
  command: string;
  /** Default: the command. */
  name?: string;
  /** Default 10 minutes. */
  timeLimitMs?: number;
}

/**
 * Landing of the commits of finished jobs. All of it is the choice of the person who runs the
 * agent: checks run code that the tool has written, without asking anybody.
 */
export interface LandingOptions {
  /** Run in order, after the tool. */
  checks?: readonly CheckCommand[];
  /** Also run those that `.signalbox/checks.json` lists in the commit that the job began with. */
  repositoryChecks?: boolean;
  /**
   * The branch that approved works land in. Default: `baseRef` of the repository, or else the
   * default branch, see `findDefaultBranch`.
   */
  into?: string;
  /** Default `merge`, which fast-forwards if the branch has not moved. */
  by?: LandingWay;
  /** Push the base to the clone's origin when a work lands. */
  pushBase?: boolean;
  /** Push the branch of each job that is done to the clone's origin. */
  push?: boolean;
  /** Push the branch, and open a pull request with `gh` or a merge request with `glab`. */
  pullRequest?: boolean;
}

export const landingWays = ['merge', 'squash', 'fast-forward', 'pull-request'] as const;
export type LandingWay = (typeof landingWays)[number];

/** The fields that landing adds to the evidence. */
export interface LandingEvidence {
  verdict: Verdict;
  pushedTo?: string;
  pullRequestUrl?: string;
  gaps?: string[];
}

export const CHECKS_MAX = 20;
export const CHECK_LIMIT_MS_DEFAULT = 10 * 60_000;
export const CHECK_LIMIT_MS_MAX = 24 * 60 * 60_000;
export const CHECK_COMMAND_CHARS_MAX = 2_000;
export const CHECK_NAME_CHARS_MAX = 200;

/**
 * How much of a job's changes people at the hub see: file names, counts of lines, or all. With
 * `on-request` they see counts, and all of a job when a member asks.
 */
export type ShareChanges = 'names' | 'stat' | 'on-request' | 'patch';
