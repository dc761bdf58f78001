import Type, { type Static } from 'typebox';
import {
  Defaulted,
  Id,
  Integer,
  List,
  Nullable,
  OneOf,
  TEXT_CHARS_MAX,
  Text,
  Timestamp,
} from '../schema.ts';
import { Agent } from './agents.ts';
import { trustLabels } from './context-items.ts';
import { ClaimGeneration, jobStatuses, TITLE_CHARS_MAX } from './job-schemas.ts';
import { Repository } from './repositories.ts';
import { Run } from './runs.ts';

/** Exact wire values (docs/reference/specification.md, Uncertainty). */
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
 * `assumed`: not promoted, so the assumed value applies. `open`: a decision request in the inbox.
 * `resolved`: it has a resolution.
 */
export const uncertaintyStatuses = ['assumed', 'open', 'resolved'] as const;
export type UncertaintyStatus = (typeof uncertaintyStatuses)[number];

export const resolutionModes = ['answered', 'assumed', 'dismissed'] as const;
export type ResolutionMode = (typeof resolutionModes)[number];

/** The default threshold. An uncertainty is promoted if its confidence is below the threshold. */
export const AUTO_PROMOTE_THRESHOLD_DEFAULT = 0.7;
export const DECISION_WAIT_MS_MAX = 60_000;
export const DECISION_WAIT_MS_DEFAULT = 30_000;
/** How long an answered job is kept for the agent that held it. */
export const DECISION_AGENT_PREFERENCE_MS = 60_000;

/** The longest time in which an answer can be withdrawn: it delays the job that waits. */
export const UNDO_MS_MAX = 10_000;
/** Counting stops here, so that a count costs the same however many uncertainties there are. */
export const UNCERTAINTY_COUNT_MAX = 1_000;
/** Jobs that wait for one answer are counted up to here. */
export const WAITING_JOBS_MAX = 1_000;
/** The inbox orders this many open questions, those with a deadline first, then the oldest. */
export const INBOX_QUESTIONS_MAX = 1_000;
/**
 * Questions that one row of the inbox has, and that one call answers: all in one transaction, which
 * delays other writes meanwhile.
 */
export const ALIKE_QUESTIONS_MAX = 100;

/** A degree of certainty from 0 to 1, both included. */
export const Confidence = Type.Number({
  minimum: 0,
  maximum: 1,
  description: 'From 0 (a guess) to 1 (certain).',
});

export const CommitSha = Text(64, {
  minLength: 1,
  description: 'The commit that contains the answer.',
});

export const UncertaintyOption = Type.Object({
  value: Text(2_000, { description: 'The value of the resolution if this option is chosen.' }),
  label: Type.Optional(Text(200, { description: 'Shown instead of value.' })),
  description: Type.Optional(Text(10_000)),
});
export type UncertaintyOption = Static<typeof UncertaintyOption>;

const OnDeadline = OneOf(['assume', 'keep_waiting'], {
  description:
    'What happens at deadlineAt: resolve with assumedValue in mode assumed, or keep waiting.',
});

/** Fields of the question, which the record returns unchanged. */
const askedFields = {
  prompt: Text(TEXT_CHARS_MAX, { minLength: 1, description: 'The question.' }),
  kind: OneOf(uncertaintyKinds),
  confidence: Confidence,
} as const;

const ActionKey = Text(128, {
  minLength: 1,
  description:
    'Names the action of a tool that the question is about, within its job. An answer to such a ' +
    'question is taken at most once, and dies with the job.',
});

export const ACTION_WORDS_MAX = 200;
/** Of an action as JSON: the preview of a rule reads 500. */
export const ACTION_CHARS_MAX = 8_000;
const OptionValue = Text(2_000, { minLength: 1 });

/** An action of a tool, in a form that rules compare. */
export const AskedAction = Type.Object(
  {
    kind: Text(40, { minLength: 1, description: 'Such as execute, edit or fetch.' }),
    words: Type.Array(Text(4_000), {
      minItems: 1,
      maxItems: ACTION_WORDS_MAX,
      description:
        'The words of a command line that runs one program with exactly these words. Otherwise one ' +
        'text: the whole line, the path, or the address.',
    }),
    allow: Type.Optional(OptionValue),
    refuse: Type.Optional(OptionValue),
  },
  {
    description:
      'Only from agents, with actionKey: what the tool wants to do, and which of the options allow ' +
      'and refuse it once; up to 8,000 characters as JSON. A rule may answer such a question.',
  },
);
export type AskedAction = Static<typeof AskedAction>;

/** Coding tools whose sessions ask people by a hook. */
export const hookTools = ['claude', 'codex'] as const;
export type HookTool = (typeof hookTools)[number];

/** A session of a coding tool that a person has started on their own machine. */
export const OwnSession = Type.Object(
  {
    tool: OneOf(hookTools),
    machine: Text(200, { description: 'The name of the machine.' }),
    sessionId: Text(200, { description: "The tool's own name for the session." }),
  },
  { description: 'A session of a coding tool that a person has started on their own machine.' },
);
export type OwnSession = Static<typeof OwnSession>;

export const CreateUncertaintyRequest = Type.Object({
  workspaceId: Id('workspace'),
  runId: Type.Optional(
    Id('run', 'Required without jobId. Default: the run of the job, if it has one.'),
  ),
  jobId: Type.Optional(
    Id('job', 'The job that asks. If it is blocked, the answer puts it back to pending.'),
  ),
  agentId: Type.Optional(Id('agent', 'With claimGeneration: the agent that holds the job.')),
  claimGeneration: Type.Optional(ClaimGeneration),
  actionKey: Type.Optional(ActionKey),
  action: Type.Optional(AskedAction),
  ...askedFields,
  context: Defaulted(
    Text(TEXT_CHARS_MAX, { description: 'Background for the person who answers.' }),
    '',
  ),
  impact: Defaulted(Text(2_000, { description: 'A level in words, such as high.' }), ''),
  reversibility: Defaulted(Text(2_000, { description: 'A level in words, such as easy.' }), ''),
  assumedValue: Defaulted(
    Text(TEXT_CHARS_MAX, {
      description: 'The value that applies unless a person answers otherwise.',
    }),
    '',
  ),
  assumedReasoning: Defaulted(Text(TEXT_CHARS_MAX), ''),
  autoPromoteThreshold: Defaulted(Confidence, AUTO_PROMOTE_THRESHOLD_DEFAULT),
  options: Defaulted(
    List(UncertaintyOption, 50, 'Suggested answers. Other answers are accepted too.'),
    [],
  ),
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
    createdBy: Nullable(
      Text(200, { description: 'The name of the person or program, or null for the deadline.' }),
    ),
    createdById: Nullable(
      Text(200, {
        description: 'The id of the person or program. Null for the deadline, and if unknown.',
      }),
    ),
    createdAt: Timestamp(),
    ruleId: Type.Optional(
      Id('decisionRule', 'The rule of that person that answered. Absent: they did it themselves.'),
    ),
  },
  { description: 'One answer to an uncertainty.' },
);
export type Resolution = Static<typeof Resolution>;

export const Uncertainty = Type.Object(
  {
    uncertaintyId: Id('uncertainty'),
    decisionRequestId: Nullable(Id('decisionRequest', 'Null until it is promoted.')),
    workspaceId: Id('workspace'),
    repoId: Nullable(
      Id(
        'repository',
        'That of the job or the run. Null: a session asked outside of one, or a hub of an older version wrote it.',
      ),
    ),
    runId: Nullable(Id('run', 'Null: the job that asked has no run.')),
    jobId: Nullable(Id('job')),
    status: OneOf(uncertaintyStatuses),
    promoted: Type.Boolean(),
    title: Text(TITLE_CHARS_MAX, {
      description: 'The first line of the prompt with text in it, cut if it is long.',
    }),
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
    overdue: Type.Boolean({ description: 'It is open, and deadlineAt has passed.' }),
    resolution: Nullable(Resolution),
    resolutions: List(Resolution, 1_000, 'All resolutions, oldest first. The last one applies.'),
    handOverAt: Nullable(
      Timestamp(
        'When the last resolution is handed over to a job. Until then it can be withdrawn. Null: ' +
          'without a resolution, or after the hand-over.',
      ),
    ),
    createdAt: Timestamp(),
    promotedAt: Nullable(Timestamp()),
    resolvedAt: Nullable(Timestamp('When the resolution that applies was added.')),
    actionKey: Nullable(ActionKey),
    takenAt: Nullable(Timestamp('When an agent took the answer for the action that it is about.')),
    action: Type.Optional(AskedAction),
    session: Type.Optional(OwnSession),
  },
  {
    description:
      'A question that an agent could not answer. Once promoted, it is a decision request.',
  },
);
export type Uncertainty = Static<typeof Uncertainty>;

const { uncertaintyId, repoId, runId, status, title, kind, confidence, createdAt, ...otherFields } =
  Uncertainty.properties;

/** An uncertainty of a list: whole, or a summary. */
export const ListedUncertainty = Type.Object(
  {
    uncertaintyId,
    repoId,
    runId,
    status,
    title,
    kind,
    confidence,
    createdAt,
    ...Type.Partial(Type.Object(otherFields)).properties,
    answer: Type.Optional(
      Type.Object(
        {
          mode: OneOf(resolutionModes),
          by: Nullable(Text(200, { description: 'Null for the deadline.' })),
          title: Text(TITLE_CHARS_MAX, { description: 'The first line of the value.' }),
        },
        { description: 'Only in a summary: the resolution that applies.' },
      ),
    ),
    waitingJobs: Type.Optional(
      Integer(
        0,
        WAITING_JOBS_MAX,
        'Only in the inbox: how many jobs do not run until all questions of the row are answered.',
      ),
    ),
    alikeIds: Type.Optional(
      List(
        Id('uncertainty'),
        ALIKE_QUESTIONS_MAX - 1,
        'Only in the inbox: the other open questions with the same text and choices.',
      ),
    ),
  },
  { description: 'The fields of an uncertainty. With view summary, most are absent.' },
);
export type ListedUncertainty = Static<typeof ListedUncertainty>;

export const AlikeResult = Type.Object({
  uncertaintyId: Id('uncertainty'),
  result: OneOf(['resolved', 'refused'], {
    description: 'refused: it was resolved before. See error and message.',
  }),
  resolutionId: Type.Optional(Id('resolution')),
  error: Type.Optional(Text(100, { description: 'The code of the refusal.' })),
  message: Type.Optional(Text(1_000, { description: 'The reason of the refusal.' })),
});
export type AlikeResult = Static<typeof AlikeResult>;

/** Filters of lists and counts. */
export const uncertaintyFilters = {
  kind: Type.Optional(OneOf(uncertaintyKinds)),
  repoId: Type.Optional(Id('repository')),
  runId: Type.Optional(Id('run')),
  jobId: Type.Optional(Id('job')),
  promoted: Type.Optional(Type.Boolean()),
  mine: Type.Optional(
    Type.Boolean({
      description:
        'True: only those of jobs that the caller enqueued, and those that a machine of the ' +
        'caller asked without a job. False: the others.',
    }),
  ),
} as const;

const UncertaintyCount = Integer(0, UNCERTAINTY_COUNT_MAX);

/** The number of uncertainties in each status. */
export const UncertaintyCounts = Type.Object({
  assumed: UncertaintyCount,
  open: UncertaintyCount,
  resolved: UncertaintyCount,
});
export type UncertaintyCounts = Static<typeof UncertaintyCounts>;

/** The facts beside a question: where it came from, and what waits for the answer. */
export const DecisionSituation = Type.Object(
  {
    writtenBy: OneOf(['tool', 'person', 'service'], {
      description:
        'Who wrote the question: the coding tool of a job, with the token of its job; a machine ' +
        'of a person; or a service.',
    }),
    writtenByName: Nullable(Text(200)),
    trust: OneOf(trustLabels, {
      description:
        'external: a coding tool wrote it, and may repeat what it has read anywhere. Otherwise ' +
        'the token of a member or a service was used.',
    }),
    run: Nullable(
      Type.Object({
        runId: Id('run'),
        runRef: Run.properties.runRef,
        title: Run.properties.title,
        status: Run.properties.status,
      }),
    ),
    repository: Nullable(
      Type.Object(
        { repoId: Id('repository'), label: Repository.properties.label },
        { description: 'Null: a session asked in a folder that is no linked repository.' },
      ),
    ),
    job: Nullable(
      Type.Object(
        {
          jobId: Id('job'),
          title: Text(TITLE_CHARS_MAX),
          status: OneOf(jobStatuses),
          attempt: Integer(0, 1_000_000),
        },
        { description: 'The job that asked. Null: none did, or retention has deleted it.' },
      ),
    ),
    agent: Nullable(
      Type.Object(
        {
          agentId: Id('agent'),
          displayName: Agent.properties.displayName,
          status: Agent.properties.status,
        },
        { description: 'The agent that holds the job, or held it last.' },
      ),
    ),
    waitingJobs: Integer(
      0,
      WAITING_JOBS_MAX,
      'How many jobs do not run until it is answered: the job that asked, if it is blocked, and ' +
        'all that depend on it.',
    ),
  },
  { description: 'What waits for an answer, and where the question came from.' },
);
export type DecisionSituation = Static<typeof DecisionSituation>;
