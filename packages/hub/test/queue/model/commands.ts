import type { AgentCapabilities } from '@signalbox/contract';
import * as fc from 'fast-check';

/*
 * The commands of random sequences. They are plain data and name jobs, agents and questions by
 * number (modulo how many exist), so that a failing sequence shrinks and is readable.
 */

export const agentStatuses = ['online', 'draining', 'offline'] as const;
export const outcomes = ['done', 'failed', 'blocked'] as const;
export const AGENTS = 3;
export const REPOSITORIES = 2;
/** The number of a job that does not exist. */
export const NO_JOB = -1;

interface Shape {
  kind: 'work' | 'pr_review';
  requirements: Record<string, unknown> | undefined;
  asks: readonly string[];
}

/** Kinds with their requirements; `asks` repeats the requirements in the model's terms. */
export const shapes: readonly [Shape, ...Shape[]] = [
  { kind: 'work', requirements: undefined, asks: ['write'] },
  { kind: 'pr_review', requirements: undefined, asks: [] },
  {
    kind: 'work',
    requirements: { canWrite: false, labels: { os: 'linux' } },
    asks: ['linux'],
  },
  {
    kind: 'pr_review',
    requirements: { models: ['m1', 'm2'], networkRequired: true },
    asks: ['model', 'network'],
  },
];

/** Capabilities that agents may report; `offers` and `serves` repeat them in the model's terms. */
export interface Preset {
  capabilities: AgentCapabilities;
  offers: readonly string[];
  serves: readonly number[];
  most: number;
}

export const presets: readonly [Preset, ...Preset[]] = [
  {
    capabilities: {
      canWrite: true,
      canUseNetwork: true,
      models: ['m2'],
      labels: { os: 'linux', zone: 'x' },
    },
    offers: ['write', 'network', 'model', 'linux'],
    serves: [0, 1],
    most: Infinity,
  },
  {
    capabilities: { canWrite: true, models: ['m1'], maxConcurrentJobs: 1 },
    offers: ['write', 'model'],
    serves: [0, 1],
    most: 1,
  },
  {
    capabilities: { canWrite: false, labels: { os: 'linux' }, maxConcurrentJobs: 2 },
    offers: ['linux'],
    serves: [0],
    most: 2,
  },
  { capabilities: { canWrite: true }, offers: ['write'], serves: [], most: Infinity },
];

export interface JobWords {
  repo: number;
  shape: number;
  priority: number;
  delayMs: number;
  dependsOn: number | null;
  key: string | null;
  maxAttempts: number;
}

/** The agent and generation that a write names: the holder or another; current, older or none. */
export interface ClaimWords {
  job: number;
  agent: number | 'holder';
  generation: 'current' | 'older' | 'none';
}

/** Which job a part of a report is about, and which generation it names. */
type PartWords = Pick<ClaimWords, 'job' | 'generation'>;

/** Parts that an agent sends in one call; `holder` is that of the first job. */
export interface ReportWords<Part = PartWords> {
  type: 'report';
  agent: number | 'holder';
  beat: { status: (typeof agentStatuses)[number]; preset: number } | null;
  renewals: (Part & { leaseMs: number; message: boolean })[];
  /** Entries 1 to `lines` of the output of an attempt: more of it each time, or the same again. */
  outputs: (Part & { lines: number })[];
}

export type Command =
  | ReportWords
  | ({ type: 'enqueue'; idempotencyKey: string | null } & JobWords)
  | {
      type: 'claim';
      agent: number;
      leaseMs: number;
      claimKey: string | null;
      kind: 'work' | 'pr_review' | null;
      repo: number | null;
    }
  | ({ type: 'heartbeat'; leaseMs: number; shorten: boolean; message: boolean } & ClaimWords)
  | ({
      type: 'complete';
      outcome: (typeof outcomes)[number];
      retryDelayMs: number | null;
      words: string;
      child: JobWords | null;
    } & ClaimWords)
  | { type: 'cancel' | 'release'; job: number }
  | { type: 'retry'; job: number; delayMs: number }
  | { type: 'setPriority'; job: number; priority: number }
  | { type: 'pause' | 'resume'; repo: number | null }
  | { type: 'repository'; repo: number; active: boolean }
  | { type: 'agent'; agent: number; status: (typeof agentStatuses)[number]; preset: number }
  /** Repeats the accepted completion of a job, or else the latest one, unchanged. */
  | { type: 'replay'; job: number }
  | { type: 'ask'; job: number }
  | { type: 'answer'; question: number };

/** Advances the clock, with or without the sweeper; or sends commands that share a transaction. */
export type Step =
  | { advanceMs: number; sweep: boolean }
  | { burst: Command[] }
  /** A single claim that waits for a job. */
  | { park: Extract<Command, { type: 'claim' }> };

const number = fc.nat({ max: 40 });
const agent = fc.nat({ max: AGENTS - 1 });
const repo = fc.nat({ max: REPOSITORIES - 1 });
const often = <T>(usual: T, ...rare: T[]) =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constant(usual) },
    { weight: 2, arbitrary: fc.constantFrom(usual, ...rare) },
  );

const jobWords = {
  repo: often(0, 1),
  shape: fc.nat({ max: shapes.length - 1 }),
  priority: often(0, 1, -1),
  delayMs: often(0, 5_000, 45_000),
  dependsOn: fc.oneof(
    { weight: 6, arbitrary: fc.constant(null) },
    { weight: 3, arbitrary: number },
    { weight: 1, arbitrary: fc.constant(NO_JOB) },
  ),
  key: fc.constantFrom(null, null, null, 'a', 'a', 'b'),
  maxAttempts: fc.integer({ min: 1, max: 3 }),
};

const claimWords = {
  job: number,
  agent: often<number | 'holder'>('holder', 0, 1, 2),
  generation: fc.constantFrom<ClaimWords['generation'][]>('current', 'current', 'none', 'older'),
};

const leaseMs = fc.constantFrom(1_000, 10_000, 60_000);
const claim = fc.record({
  type: fc.constant('claim' as const),
  agent,
  leaseMs,
  claimKey: often<string | null>(null, 'c', 'd'),
  kind: often<'work' | 'pr_review' | null>(null, 'work', 'pr_review'),
  repo: often<number | null>(null, 0, 1),
});
const repoOrAll = fc.option(repo);
const { job: partJob, generation: partGeneration } = claimWords;
const part = { job: partJob, generation: partGeneration };
const status = often<(typeof agentStatuses)[number]>('online', 'draining', 'offline');
const preset = fc.nat({ max: presets.length - 1 });
const report = fc.record({
  type: fc.constant('report' as const),
  agent: claimWords.agent,
  beat: fc.option(fc.record({ status, preset }), { freq: 2 }),
  renewals: fc.array(fc.record({ ...part, leaseMs, message: fc.boolean() }), { maxLength: 3 }),
  outputs: fc.array(fc.record({ ...part, lines: fc.integer({ min: 1, max: 4 }) }), {
    maxLength: 3,
  }),
});

const enqueue = fc.record({
  type: fc.constant('enqueue' as const),
  idempotencyKey: often<string | null>(null, 'i'),
  ...jobWords,
});
const setPriority = fc.record({
  type: fc.constant('setPriority' as const),
  job: number,
  priority: fc.constantFrom(-1, 0, 1, 2),
});

export const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 9, arbitrary: enqueue },
  { weight: 12, arbitrary: claim },
  { weight: 4, arbitrary: report },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('heartbeat' as const),
      ...claimWords,
      leaseMs,
      shorten: fc.boolean(),
      message: fc.boolean(),
    }),
  },
  {
    weight: 9,
    arbitrary: fc.record({
      type: fc.constant('complete' as const),
      ...claimWords,
      outcome: fc.constantFrom(...outcomes, 'blocked' as const),
      retryDelayMs: often<number | null>(null, 0, 5_000),
      words: often('', 'again'),
      child: fc.oneof(
        { weight: 5, arbitrary: fc.constant(null) },
        { weight: 1, arbitrary: fc.record(jobWords) },
      ),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constantFrom('cancel' as const, 'release' as const),
      job: number,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('retry' as const),
      job: number,
      delayMs: often(0, 5_000),
    }),
  },
  { weight: 3, arbitrary: setPriority },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constantFrom('pause' as const, 'resume' as const, 'resume' as const),
      repo: repoOrAll,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('repository' as const),
      repo,
      active: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('agent' as const),
      agent,
      status,
      preset,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant('replay' as const), job: number }),
  },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('ask' as const), job: number }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('answer' as const), question: number }) },
);

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.record({
      advanceMs: fc.constantFrom(500, 1_000, 5_000, 12_000, 61_000, 600_000),
      sweep: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ burst: fc.array(command, { minLength: 1, maxLength: 4, size: 'max' }) }),
  },
);

export const STEPS_MAX = 50;
export const steps = fc.array(step, { minLength: 1, maxLength: STEPS_MAX, size: 'max' });

/** The sweeper runs after every advance, so that a claim that finds nothing changes nothing. */
const waitingStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: step },
  {
    weight: 2,
    arbitrary: fc.record({ park: claim.map((words) => ({ ...words, claimKey: null })) }),
  },
);
export const waitingSteps = fc.array(
  waitingStep.map((taken) => ('advanceMs' in taken ? { ...taken, sweep: true } : taken)),
  { minLength: 1, maxLength: STEPS_MAX, size: 'max' },
);

/** One agent claims the first job, while jobs are added, moved, taken back and ended. */
const anything = { agent: 0, claimKey: null, kind: null, repo: null };
const unheld = { dependsOn: null, delayMs: 0, key: null };
const claimingStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.record({ advanceMs: fc.constantFrom(500, 5_000, 61_000), sweep: fc.boolean() }),
  },
  ...[
    { weight: 5, arbitrary: enqueue.map((sent) => ({ ...sent, ...unheld })) },
    { weight: 5, arbitrary: claim.map((sent) => ({ ...sent, ...anything })) },
    { weight: 5, arbitrary: setPriority },
    { weight: 9, arbitrary: command },
  ].map(({ weight, arbitrary }) => ({
    weight,
    arbitrary: arbitrary.map((sent: Command): Step => ({ burst: [sent] })),
  })),
);
export const claimingSteps = fc.array(claimingStep, {
  minLength: STEPS_MAX / 2,
  maxLength: STEPS_MAX,
  size: 'max',
});
