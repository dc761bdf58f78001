import type { CloudAiInput, endpoints, RequestInput } from '@signalbox/contract';
import type { Reader, Tx } from '../db/engine.ts';
import { HubError } from '../errors.ts';
import { answerOnce } from '../idempotency/store.ts';
import { requireJob } from '../jobs/actions.ts';
import type { JobDeps } from '../jobs/deps.ts';
import type { Principal } from '../principal.ts';
import type { Entry } from '../queue/entry.ts';
import type { Needs } from '../queue/matching.ts';
import { readEntry } from '../queue/queue-sqlite.ts';
import { requireRun } from '../runs/actions.ts';
import { type CloudAiJobRow, insertCloudAiJob, readCloudAiJob } from './store.ts';

type EnqueueInput = RequestInput<typeof endpoints.cloudAiJobs.enqueue.request>;

export interface CloudAiJobRecord {
  entry: Entry;
  row: CloudAiJobRow;
}

/** What a new cloud AI job is made from. */
export interface CloudAiJobDraft {
  workspaceId: string;
  kind: string;
  /** Absent: any model will do. */
  model?: string | undefined;
  input: CloudAiInput;
  responseSchema?: Record<string, unknown> | undefined;
  runId?: string | undefined;
  jobId?: string | undefined;
  priority: number;
  maxAttempts: number;
  /** Of the hub's own jobs: what they are about. */
  subjectId?: string | undefined;
  createdBy: string;
}

/**
 * Enqueues a model call; one idempotency key makes one.
 * @throws HubError RUN_NOT_FOUND, JOB_NOT_FOUND, IDEMPOTENCY_CONFLICT
 */
export function enqueueCloudAiJob(
  deps: JobDeps,
  principal: Principal,
  input: EnqueueInput,
): Promise<{ cloudAiJobId: string; idempotent?: boolean }> {
  const { idempotencyKey: key, ...body } = input;
  const { workspaceId, runId, jobId } = input;
  return deps.database.write((tx) =>
    answerOnce(tx, { workspaceId, operation: 'cloudAiJobsEnqueue', key, body }, async () => {
      if (runId !== undefined) await requireRun(tx, workspaceId, runId);
      if (jobId !== undefined) await requireJob(tx, workspaceId, jobId);
      const row = await addCloudAiJob(deps, tx, { ...body, createdBy: principal.principalId });
      return { cloudAiJobId: row.cloud_ai_job_id };
    }),
  );
}

/** Adds a cloud AI job within an action; what it refers to is known to be there. */
export async function addCloudAiJob(
  deps: Pick<JobDeps, 'ids' | 'queue'>,
  tx: Tx,
  draft: CloudAiJobDraft,
): Promise<CloudAiJobRow> {
  const { workspaceId, kind, model, responseSchema } = draft;
  const needs: Needs = model === undefined ? {} : { models: [model] };
  const cloudAiJobId = deps.ids('cloudAiJob');
  await deps.queue.enqueue(tx, {
    workspaceId,
    entryId: cloudAiJobId,
    lane: { queue: 'cloud-ai-jobs', repoId: '', kind, requirements: JSON.stringify(needs) },
    priority: draft.priority,
    attemptsMax: draft.maxAttempts,
    delayMs: 0,
    dependsOn: [],
    concurrencyKey: null,
  });
  const row: CloudAiJobRow = {
    workspace_id: workspaceId,
    cloud_ai_job_id: cloudAiJobId,
    kind,
    model: model ?? null,
    input: JSON.stringify(draft.input),
    response_schema: responseSchema === undefined ? null : JSON.stringify(responseSchema),
    run_id: draft.runId ?? null,
    job_id: draft.jobId ?? null,
    subject_id: draft.subjectId ?? null,
    created_by: draft.createdBy,
    outcome: null,
    result: null,
    usage: null,
    message: null,
    completion_hash: null,
  };
  await insertCloudAiJob(tx, row);
  return row;
}

/** @throws HubError CLOUD_AI_JOB_NOT_FOUND, the same for unknown and foreign ids. */
export async function requireCloudAiJob(
  reader: Reader,
  workspaceId: string,
  cloudAiJobId: string,
): Promise<CloudAiJobRecord> {
  const row = await readCloudAiJob(reader, workspaceId, cloudAiJobId);
  const entry = row && (await readEntry(reader, workspaceId, cloudAiJobId));
  if (row === undefined || entry === undefined) throw new HubError('CLOUD_AI_JOB_NOT_FOUND');
  return { entry, row };
}
