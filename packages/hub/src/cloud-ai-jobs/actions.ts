import type { endpoints, RequestInput } from '@signalbox/contract';
import type { Reader } from '../db/engine.ts';
import { HubError } from '../errors.ts';
import type { HubDeps } from '../hub-deps.ts';
import { answerOnce } from '../idempotency/answer-once.ts';
import { requireJob } from '../jobs/actions.ts';
import type { Principal } from '../principal.ts';
import type { Entry } from '../queue/entry.ts';
import { requireRun } from '../runs/actions.ts';
import { addCloudAiJob } from './adding-actions.ts';
import { type CloudAiJobRow, readWholeCloudAiJob } from './store.ts';

type EnqueueInput = RequestInput<typeof endpoints.cloudAiJobs.enqueue.request>;

export interface CloudAiJobRecord {
  entry: Entry;
  row: CloudAiJobRow;
}

/**
 * Enqueues a model call; one idempotency key makes one.
 * @throws HubError RUN_NOT_FOUND, JOB_NOT_FOUND, IDEMPOTENCY_CONFLICT
 */
export function enqueueCloudAiJob(
  deps: HubDeps,
  principal: Principal,
  input: EnqueueInput,
): Promise<{ cloudAiJobId: string; idempotent?: boolean }> {
  const { idempotencyKey: key, ...body } = input;
  const { workspaceId, runId, jobId } = input;
  return deps.database.write(workspaceId, (tx) =>
    answerOnce(tx, { workspaceId, operation: 'cloudAiJobsEnqueue', key, body }, async () => {
      if (runId !== undefined) await requireRun(tx, workspaceId, runId);
      if (jobId !== undefined) await requireJob(tx, workspaceId, jobId);
      const row = await addCloudAiJob(deps, tx, { ...body, createdBy: principal.principalId });
      return { cloudAiJobId: row.cloud_ai_job_id };
    }),
  );
}

/** @throws HubError CLOUD_AI_JOB_NOT_FOUND, the same for unknown and foreign ids. */
export async function requireCloudAiJob(
  reader: Reader,
  workspaceId: string,
  cloudAiJobId: string,
): Promise<CloudAiJobRecord> {
  const job = await readWholeCloudAiJob(reader, workspaceId, cloudAiJobId);
  if (job === undefined) throw new HubError('CLOUD_AI_JOB_NOT_FOUND');
  return { entry: job, row: job };
}
