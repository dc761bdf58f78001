import Type, { type Static } from 'typebox';
import {
  Defaulted,
  Id,
  List,
  Nullable,
  OneOf,
  TEXT_CHARS_MAX,
  Text,
  Timestamp,
} from '../schema.ts';

/** Exact wire values (specification, Uncertainty). */
export const uncertaintyKinds = [
  'missing_fact',
  'choice',
  'constraint',
  'approval',
  'config',
  'risk',
] as const;
export type UncertaintyKind = (typeof uncertaintyKinds)[number];

/**
 * `assumed`: not promoted, the assumed value stands. `open`: a decision request in the inbox.
 * `resolved`: it has a resolution.
 */
export const uncertaintyStatuses = ['assumed', 'open', 'resolved'] as const;
export type UncertaintyStatus = (typeof uncertaintyStatuses)[number];

export const resolutionModes = ['answered', 'assumed', 'dismissed'] as const;
export type ResolutionMode = (typeof resolutionModes)[number];

/** Promoted exactly when confidence is below the threshold; this one when none is sent. */
export const AUTO_PROMOTE_THRESHOLD_DEFAULT = 0.7;
export const DECISION_WAIT_MS_MAX = 60_000;
export const DECISION_WAIT_MS_DEFAULT = 30_000;
/** The job that asked goes, for this long, first to the agent that held it. */
export const DECISION_AGENT_PREFERENCE_MS = 60_000;

/** A share of certainty, 0 to 1 inclusive. */
export const Confidence = Type.Number({
  minimum: 0,
  maximum: 1,
  description: 'From 0 (a guess) to 1 (certain).',
});

export const CommitSha = Text(64, {
  minLength: 1,
  description: 'The commit that holds the answer.',
});

export const UncertaintyOption = Type.Object({
  value: Text(2_000, { description: 'What the resolution carries when this one is chosen.' }),
  label: Type.Optional(Text(200, { description: 'Shown in place of value.' })),
  description: Type.Optional(Text(10_000)),
});
export type UncertaintyOption = Static<typeof UncertaintyOption>;

const OnDeadline = OneOf(['assume', 'keep_waiting'], {
  description: 'At deadlineAt: resolve with assumedValue in mode assumed, or go on waiting.',
});

/** What the asker says; the record returns the same. */
const askedFields = {
  prompt: Text(TEXT_CHARS_MAX, { minLength: 1, description: 'The question.' }),
  kind: OneOf(uncertaintyKinds),
  confidence: Confidence,
} as const;

export const CreateUncertaintyRequest = Type.Object({
  workspaceId: Id('workspace'),
  runId: Id('run'),
  jobId: Type.Optional(Id('job', 'The job that asks; it is put back when the answer comes.')),
  ...askedFields,
  context: Defaulted(Text(TEXT_CHARS_MAX, { description: 'Background for who answers.' }), ''),
  impact: Defaulted(Text(2_000, { description: 'A level in words, such as high.' }), ''),
  reversibility: Defaulted(Text(2_000, { description: 'A level in words, such as easy.' }), ''),
  assumedValue: Defaulted(
    Text(TEXT_CHARS_MAX, { description: 'What stands unless a person says otherwise.' }),
    '',
  ),
  assumedReasoning: Defaulted(Text(TEXT_CHARS_MAX), ''),
  autoPromoteThreshold: Defaulted(Confidence, AUTO_PROMOTE_THRESHOLD_DEFAULT),
  options: Defaulted(List(UncertaintyOption, 50, 'Offered answers; others are accepted too.'), []),
  recommendedValue: Type.Optional(Text(2_000)),
  deadlineAt: Type.Optional(Timestamp()),
  onDeadline: Defaulted(OnDeadline, 'keep_waiting'),
});

export const Resolution = Type.Object(
  {
    resolutionId: Id('resolution'),
    mode: OneOf(resolutionModes),
    value: Text(TEXT_CHARS_MAX),
    confidence: Confidence,
    commitSha: Nullable(CommitSha),
    createdByJobId: Nullable(Id('job')),
    createdBy: Nullable(Text(200, { description: 'Who answered, by name; null: the deadline.' })),
    createdAt: Timestamp(),
  },
  { description: 'One answer to an uncertainty.' },
);
export type Resolution = Static<typeof Resolution>;

export const Uncertainty = Type.Object(
  {
    uncertaintyId: Id('uncertainty'),
    decisionRequestId: Nullable(Id('decisionRequest', 'Null while not promoted.')),
    workspaceId: Id('workspace'),
    runId: Id('run'),
    jobId: Nullable(Id('job')),
    status: OneOf(uncertaintyStatuses),
    promoted: Type.Boolean(),
    ...askedFields,
    context: Text(TEXT_CHARS_MAX),
    impact: Text(2_000),
    reversibility: Text(2_000),
    assumedValue: Text(TEXT_CHARS_MAX),
    assumedReasoning: Text(TEXT_CHARS_MAX),
    autoPromoteThreshold: Confidence,
    options: List(UncertaintyOption, 50),
    recommendedValue: Nullable(Text(2_000)),
    deadlineAt: Nullable(Timestamp()),
    onDeadline: OnDeadline,
    overdue: Type.Boolean({ description: 'Still open, and deadlineAt has passed.' }),
    resolution: Nullable(Resolution),
    resolutions: List(Resolution, 1_000, 'All of them, oldest first; the last one holds.'),
    createdAt: Timestamp(),
    promotedAt: Nullable(Timestamp()),
    resolvedAt: Nullable(Timestamp('When the resolution that holds was added.')),
  },
  { description: 'A question that an agent could not settle; a decision request once promoted.' },
);
export type Uncertainty = Static<typeof Uncertainty>;
