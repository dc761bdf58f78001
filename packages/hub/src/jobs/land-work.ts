import {
  type endpoints,
  type Job,
  LANDING_MODE,
  type RequestInput,
  type Work,
} from '@signalbox/contract';
import { appendAudit } from '../audit/append.ts';
import { HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Tx } from '../db/engine.ts';
import { answerOnce } from '../idempotency/answer-once.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { announceWork, requireLatest, requireWork } from './change-work.ts';
import { addJob, creatorOf } from './enqueue.ts';
import { findPreference } from './preference.ts';
import { presentJob } from './present.ts';
import { hasNotEnded, type WorkRecord } from './read-work.ts';
import { type JobRecord, requireJob } from './require-job.ts';
import { readJob } from './store.ts';
import { writeWork } from './store-works.ts';
import { titleOf } from './title.ts';

type LandInput = RequestInput<typeof endpoints.works.land.request>;

/**
 * Enqueues the landing of an approved work; one that is pending, running or done is returned.
 *
 * @throws HubError JOB_NOT_FOUND, INVALID_REQUEST, IDEMPOTENCY_CONFLICT, and what `addJob` throws.
 */
export function landWork(
  deps: HubDeps,
  principal: Principal,
  input: LandInput,
): Promise<{ work: Work; job: Job; idempotent?: boolean }> {
  const { workspaceId, jobId } = input;
  return deps.database.write(workspaceId, (tx) =>
    answerOnce(tx, { operation: 'worksLand', principal, input }, async () => {
      const found = await requireWork(deps, tx, workspaceId, jobId);
      const { entry, row } = await findOrAddLanding(deps, tx, principal, found, jobId);
      const work = await announceWork(deps, tx, found);
      return { work, job: presentJob(entry, row) };
    }),
  );
}

async function findOrAddLanding(
  deps: HubDeps,
  tx: Tx,
  principal: Principal,
  record: WorkRecord,
  jobId: string,
): Promise<JobRecord> {
  const { work, latest } = record;
  const { landing } = work;
  const isLatest = latest.job_id === jobId;
  if (isLatest && landing !== null && (hasNotEnded(landing.status) || landing.status === 'done')) {
    return requireJob(tx, latest.workspace_id, landing.jobId);
  }
  requireLatest(record, jobId);
  requireApproval(work);
  return addLanding(deps, tx, principal, record);
}

/** @throws HubError INVALID_REQUEST */
function requireApproval({ approval, missing }: Work): void {
  if (approval === null) {
    throw new HubError('INVALID_REQUEST', 'The work is not approved: approve it first.');
  }
  if (approval.override !== null || missing.length === 0) return;
  const way = 'See to that first, or approve it again with an override.';
  throw new HubError('INVALID_REQUEST', `Since the approval: ${missing.join(' ')} ${way}`);
}

async function addLanding(
  deps: HubDeps,
  tx: Tx,
  principal: Principal,
  { work, latest }: WorkRecord,
): Promise<JobRecord> {
  const { workspace_id: workspaceId, repo_id: repoId, job_id: landsJobId } = latest;
  // Retention may have deleted the first round.
  const first = (await readJob(tx, workspaceId, work.workJobId)) ?? latest;
  const added = await addJob(
    deps,
    tx,
    creatorOf(principal),
    {
      workspaceId,
      repoId,
      kind: 'work',
      role: 'landing',
      prompt: `Land: ${first.title ?? titleOf(first.prompt)}`,
      // An agent that knows no landings would run a tool on this prompt.
      requirements: { executionMode: LANDING_MODE },
      priority: latest.priority,
      maxAttempts: 5,
      delayMs: 0,
      dependsOn: [],
      // Each landing checks the combined result, so the next one begins after it.
      concurrencyKey: `landing ${repoId}`,
    },
    {
      origin: { landsJobId },
      place: { lands_job_id: landsJobId, base_branch: latest.base_branch },
      preference: await findPreference(tx, { entry: latest, row: latest }),
    },
  );
  const key = { workspace_id: workspaceId, work_job_id: work.workJobId };
  await writeWork(tx, key, { landing_job_id: added.row.job_id, landing_conflicts: null });
  await appendAudit(tx, {
    workspaceId,
    actor: principal.principalId,
    action: 'work.land',
    subject: work.workJobId,
    data: { jobId: added.row.job_id, landsJobId },
  });
  return added;
}
