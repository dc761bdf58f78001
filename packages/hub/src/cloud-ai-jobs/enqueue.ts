import type { CloudAiInput, endpoints, RequestInput } from '@signalbox/contract';
import type { Principal } from '../base/principal.ts';
import type { Tx } from '../db/engine.ts';
import { insertRow } from '../db/row-write.ts';
import { answerOnce } from '../idempotency/answer-once.ts';
import { requireJob } from '../jobs/require-job.ts';
import type { Needs } from '../queue/matching.ts';
import { requireRun } from '../runs/upsert.ts';
import type { HookDeps } from '../start/hooks.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import type { CloudAiJobRow } from './store.ts';

type EnqueueInput = RequestInput<typeof endpoints.cloudAiJobs.enqueue.request>;

/** The input of a new cloud AI job. */
export interface CloudAiJobDraft {
  workspaceId: string;
  kind: string;
  /** Absent: any model. */
  model?: string | undefined;
  input: CloudAiInput;
  responseSchema?: Record<string, unknown> | undefined;
  runId?: string | undefined;
  jobId?: string | undefined;
  priority: number;
  maxAttempts: number;
  /** The subject of a job that the hub itself enqueues. */
  subjectId?: string | undefined;
  createdBy: string;
}

/**
 * Enqueues a model call; one idempotency key makes one.
 *
 * @throws HubError RUN_NOT_FOUND, JOB_NOT_FOUND, IDEMPOTENCY_CONFLICT
 */
export function enqueueCloudAiJob(
  deps: HubDeps,
  principal: Principal,
  input: EnqueueInput,
): Promise<{ cloudAiJobId: string; idempotent?: boolean }> {
  const { idempotencyKey: key, ...draft } = input;
  const { workspaceId, runId, jobId } = input;
  const operation = 'cloudAiJobsEnqueue';
  const keys = key === undefined ? [] : [`${operation} ${key}`];
  return deps.database.writeConcurrent({ workspaceId, keys }, (tx) =>
    answerOnce(tx, { operation, principal, input }, async () => {
      if (runId !== undefined) await requireRun(tx, workspaceId, runId);
      if (jobId !== undefined) await requireJob(tx, workspaceId, jobId);
      const row = await addCloudAiJob(deps, tx, { ...draft, createdBy: principal.principalId });
      return { cloudAiJobId: row.cloud_ai_job_id };
    }),
  );
}

/** Adds a cloud AI job within a transaction; the caller has checked its references. */
export async function addCloudAiJob(
  deps: Pick<HookDeps, 'ids' | 'queue'>,
  tx: Tx,
  draft: CloudAiJobDraft,
): Promise<CloudAiJobRow> {
  const { workspaceId, kind, model, responseSchema } = draft;
  const needs: Needs = model === undefined ? {} : { models: [model] };
  const cloudAiJobId = deps.ids('cloudAiJob');
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
  const entry = {
    workspaceId,
    entryId: cloudAiJobId,
    lane: { queue: 'cloud-ai-jobs', repoId: '', kind, requirements: JSON.stringify(needs) },
    priority: draft.priority,
    attemptsMax: draft.maxAttempts,
    delayMs: 0,
    dependsOn: [],
    concurrencyKey: null,
  } as const;
  await deps.queue.enqueue(tx, entry);
  insertRow(tx, 'cloud_ai_jobs', row);
  return row;
}
