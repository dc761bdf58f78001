// Texts of the workspace that `npm run demo -- --keep-open` makes: the work of an invented team.
import type { JobKind, UncertaintyKind } from '@signalbox/contract';

export type SeedRepository = 'acme/api' | 'acme/web' | 'acme/infra';
export type SeedRun = 'rate-limits' | 'privacy' | 'checkout-v2' | 'postgres-18';
export type SeedAgent = 'build-1' | 'mac-mini' | 'ada-laptop';

export interface SeedQuestion {
  prompt: string;
  kind: UncertaintyKind;
  context: string;
  confidence: number;
  impact: string;
  reversibility: string;
  options: { value: string; label: string; description: string }[];
  recommendedValue: string;
  reasoning: string;
}

/** How far a job has come, and what it printed on the way. */
export type SeedCourse =
  /** Without `files` it changed nothing; with a question, it was blocked on it and answered. */
  | { status: 'done'; log: string[]; message: string; files?: string[]; costUsd?: number }
  | {
      status: 'done';
      log: string[];
      message: string;
      files?: string[];
      question: SeedQuestion;
      answer: string;
    }
  | { status: 'failed'; log: string[]; message: string; category: string; code: string }
  | { status: 'blocked'; log: string[]; question: SeedQuestion }
  /** `loop` is printed again and again while the demo is open; `{n}` counts up. */
  | { status: 'running'; log: string[]; loop: string[] }
  | { status: 'canceled'; reason: string }
  | { status: 'pending' };

export interface SeedJob {
  repository: SeedRepository;
  prompt: string;
  course: SeedCourse;
  kind?: JobKind;
  role?: string;
  run?: SeedRun;
  priority?: number;
  delayMs?: number;
  concurrencyKey?: string;
  requirements?: { labels: Record<string, string> };
  /** A name for `after`. */
  name?: string;
  /** Jobs, by name, that must be done first. */
  after?: string[];
  /** Default: the agent of the repository. */
  agent?: SeedAgent;
}

export const seedAgents: Readonly<
  Record<
    SeedAgent,
    { repositories: SeedRepository[]; platform: string; arch: string; jobsMax: number }
  >
> = {
  'build-1': {
    repositories: ['acme/api', 'acme/infra'],
    platform: 'linux',
    arch: 'x64',
    jobsMax: 3,
  },
  'mac-mini': { repositories: ['acme/web'], platform: 'darwin', arch: 'arm64', jobsMax: 3 },
  'ada-laptop': {
    repositories: ['acme/api', 'acme/web'],
    platform: 'darwin',
    arch: 'arm64',
    jobsMax: 1,
  },
};

/** Who does the jobs of a repository. */
export const agentOfRepository: Readonly<Record<SeedRepository, SeedAgent>> = {
  'acme/api': 'build-1',
  'acme/web': 'mac-mini',
  'acme/infra': 'build-1',
};

export const seedRuns: Readonly<
  Record<
    SeedRun,
    { repository: SeedRepository; title: string; goal: string; status: string; milestone: string }
  >
> = {
  'rate-limits': {
    repository: 'acme/api',
    title: 'Rate limits for the public API',
    goal: 'No client can take more than its share, and each one is told how much is left.',
    status: 'in_progress',
    milestone: 'implementation',
  },
  privacy: {
    repository: 'acme/api',
    title: 'Delete data that no feature needs',
    goal: 'The service does by itself what the privacy policy promises.',
    status: 'in_progress',
    milestone: 'implementation',
  },
  'checkout-v2': {
    repository: 'acme/web',
    title: 'Checkout on one page',
    goal: 'A customer pays on one page, and fewer than 30 % leave before they have paid.',
    status: 'in_progress',
    milestone: 'review',
  },
  'postgres-18': {
    repository: 'acme/infra',
    title: 'PostgreSQL 18',
    goal: 'All databases run PostgreSQL 18 with less than a minute of downtime each.',
    status: 'planned',
    milestone: 'planning',
  },
};

/** The output of a job that an agent claims while the demo is open. */
export const seedLaterLog = [
  'Reading the prompt',
  'Looking for the files that it names',
  'Planning the change',
  'This agent is played by the demo: it changes no file',
  'Running the tests',
  'All tests pass',
];
export const seedLaterMessage = 'Played by the demo: no file was changed.';
