import type { CloudAiInput } from '@signalbox/contract';
import type { Tx } from '../db/engine.ts';
import type { HubDeps } from '../hub-deps.ts';
import type { Needs } from '../queue/matching.ts';
import { type CloudAiJobRow, insertCloudAiJob } from './store.ts';

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

/** Adds a cloud AI job within an action; what it refers to is known to be there. */
export async function addCloudAiJob(
  deps: Pick<HubDeps, 'ids' | 'queue'>,
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
