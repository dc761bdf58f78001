import Type, { type Static } from 'typebox';
import {
  Id,
  Integer,
  Json,
  JsonObject,
  Nullable,
  OneOf,
  TEXT_CHARS_MAX,
  Text,
  Timestamp,
} from '../schema.ts';
import { jobStatuses, LeaseMs, Priority, Usage } from './jobs.ts';

/** Kinds that the hub itself enqueues when the workspace turns them on (contract, §6). */
export const hubCloudAiJobKinds = ['summarize_source', 'draft_decision_answer'] as const;

/** A model call either gives a result or does not; nothing blocks it. */
export const cloudAiJobOutcomes = ['done', 'failed'] as const;
export type CloudAiJobOutcome = (typeof cloudAiJobOutcomes)[number];

export const CloudAiJobKind = Text(64, {
  minLength: 1,
  description: 'Open. The hub itself enqueues summarize_source and draft_decision_answer.',
});
export const ModelName = Text(128, { minLength: 1 });

export const CloudAiInput = Type.Object(
  {
    system: Type.Optional(Text(TEXT_CHARS_MAX)),
    messages: Type.Array(
      Type.Object({ role: OneOf(['user', 'assistant']), content: Text(TEXT_CHARS_MAX) }),
      { minItems: 1, maxItems: 1_000 },
    ),
  },
  { description: 'What the model is given.' },
);
export type CloudAiInput = Static<typeof CloudAiInput>;

export const CloudAiResult = Type.Object(
  {
    text: Type.Optional(Text(TEXT_CHARS_MAX)),
    json: Type.Optional(Json('The value that responseSchema asked for.')),
  },
  { description: 'What the model gave.' },
);
export type CloudAiResult = Static<typeof CloudAiResult>;

export const CloudAiJob = Type.Object(
  {
    cloudAiJobId: Id('cloudAiJob'),
    workspaceId: Id('workspace'),
    kind: CloudAiJobKind,
    model: Nullable(ModelName),
    input: CloudAiInput,
    responseSchema: Nullable(JsonObject('JSON Schema of the wanted result.')),
    runId: Nullable(Id('run')),
    jobId: Nullable(Id('job')),
    priority: Priority,
    status: OneOf(jobStatuses),
    attempt: Integer(0, 1_000_000, 'Attempts claimed so far; the current claimGeneration.'),
    maxAttempts: Integer(1, 1_000_000),
    agentId: Nullable(Id('agent')),
    leaseMs: Nullable(LeaseMs),
    leaseExpiresAt: Nullable(Timestamp()),
    createdAt: Timestamp(),
    startedAt: Nullable(Timestamp('Of the latest attempt.')),
    finishedAt: Nullable(Timestamp()),
    outcome: Nullable(OneOf(cloudAiJobOutcomes)),
    result: Nullable(CloudAiResult),
    usage: Nullable(Usage),
    message: Nullable(Text(TEXT_CHARS_MAX)),
  },
  { description: 'A model call, run by whoever holds the provider keys.' },
);
export type CloudAiJob = Static<typeof CloudAiJob>;
