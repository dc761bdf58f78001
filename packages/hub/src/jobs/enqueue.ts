import type {
  AnswerOf,
  ChildJob,
  endpoints,
  Job,
  RequestInput,
  Variant,
} from '@signalbox/contract';
import { HubError, invalidField } from '../base/errors.ts';
import { type Principal, serviceName } from '../base/principal.ts';
import type { Tx } from '../db/engine.ts';
import { insertRow } from '../db/row-write.ts';
import { answerOnce } from '../idempotency/answer-once.ts';
import { needsOf, toolAsked } from '../queue/matching.ts';
import type { EntryDraft } from '../queue/queue.ts';
import type { Preference } from '../queue/store.ts';
import { requireRepository } from '../repositories/read.ts';
import { requireRun } from '../runs/upsert.ts';
import { type HookDeps, type JobKey, runHooks } from '../start/hooks.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { type BasePlace, jobOfBase, placeBase, readBase } from './base.ts';
import { findPreference } from './preference.ts';
import { presentJob } from './present.ts';
import type { JobRecord } from './require-job.ts';
import { requirementsFor } from './retry.ts';
import { requireReviewed } from './reviewed-job.ts';
import { type JobRow, readJob } from './store.ts';
import { recordFirstJobEvent } from './store-events.ts';
import { updateMessageCount } from './store-rounds.ts';
import { storedTitleOf } from './title.ts';
import { placeInTree, requireRunHasRoom, type TreePlace } from './tree-limits.ts';

type EnqueueInput = RequestInput<typeof endpoints.jobs.enqueue.request>;

/** The input of a new job: an enqueue request, or a child of a completion. */
type JobDraft = RequestInput<typeof ChildJob> & {
  workspaceId: string;
  repoId: string;
  parentJobId?: string | undefined;
  reviewsJobId?: string | undefined;
  attachments?: readonly string[] | undefined;
};

/**
 * Enqueues a job; one idempotency key makes one job.
 *
 * @throws HubError IDEMPOTENCY_CONFLICT, and what `addJob` throws.
 */
export function enqueueJob(
  deps: HubDeps,
  principal: Principal,
  input: EnqueueInput,
): Promise<AnswerOf<typeof endpoints.jobs.enqueue>> {
  const { workspaceId, idempotencyKey: key } = input;
  const keys = [
    ...(key === undefined ? [] : [`enqueue ${key}`]),
    ...[input.reviewsJobId, jobOfBase(input)].filter((id) => id !== null && id !== undefined),
  ];
  return deps.database.writeConcurrent({ workspaceId, keys }, (tx) =>
    answerOnce(tx, { operation: 'jobsEnqueue', principal, input }, async () => {
      const { variants = [], ...draft } = input;
      if (variants.length > 0) return addVariants(deps, tx, creatorOf(principal), draft, variants);
      const { entry, row } = await addJob(deps, tx, creatorOf(principal), draft);
      return { jobId: row.job_id, job: presentJob(entry, row) };
    }),
  );
}

/** Adds a job for each variant of the same work. */
async function addVariants(
  deps: HubDeps,
  tx: Tx,
  createdBy: Creator,
  draft: JobDraft,
  variants: readonly Variant[],
): Promise<{ jobId: string; job: Job; variantJobIds: string[] }> {
  const variantOf = deps.ids('job');
  const added: JobRecord[] = [];
  for (const [at, wish] of variants.entries()) {
    const place = { variant_of: variantOf };
    const jobId = at === 0 ? variantOf : deps.ids('job');
    const requirements = requirementsFor(draft.requirements ?? {}, wish);
    added.push(await addJob(deps, tx, createdBy, { ...draft, requirements }, { jobId, place }));
  }
  const [{ entry, row }] = added as [JobRecord];
  const variantJobIds = added.map((each) => each.row.job_id);
  return { jobId: row.job_id, job: presentJob(entry, row), variantJobIds };
}

/** Who enqueues a job: a principal with its name, an agent, a trigger or the deadline. */
export interface Creator {
  id: string;
  /** Null: an agent, a trigger or the hub. */
  name: string | null;
}

export function creatorOf({ principalId, displayName }: Principal): Creator {
  return { id: principalId, name: displayName };
}

/** The fields of a round, a variant or a landing beside those of a new job. */
type WorkPlace = BasePlace &
  Pick<
    JobRow,
    'continues_job_id' | 'work_job_id' | 'round' | 'variant_of' | 'variant_chosen' | 'lands_job_id'
  >;

interface Additions {
  /** Absent: a new one. */
  jobId?: string;
  /** Added to the data of the first event. */
  origin?: Record<string, unknown>;
  /** Absent fields are those of a job that continues none and is no variant. */
  place?: Partial<WorkPlace>;
  /** Absent: any suitable agent may claim it. */
  preference?: Preference | null;
}

const ownWork: Omit<WorkPlace, keyof BasePlace> = {
  continues_job_id: null,
  work_job_id: null,
  round: 1,
  variant_of: null,
  variant_chosen: null,
  lands_job_id: null,
};

/**
 * Adds a job within a transaction: checks its references, enqueues its entry, and writes its row
 * and the first event of its timeline.
 *
 * @throws HubError REPO_NOT_FOUND, RUN_NOT_FOUND, JOB_NOT_FOUND, LIMIT_REACHED, INVALID_REQUEST
 */
export async function addJob(
  deps: HookDeps,
  tx: Tx,
  createdBy: Creator,
  draft: JobDraft,
  { jobId = deps.ids('job'), origin, place: workPlace, preference = null }: Additions = {},
): Promise<JobRecord> {
  const { workspaceId } = draft;
  await requireRepository(tx, workspaceId, draft.repoId);
  if (draft.runId !== undefined) {
    await requireRun(tx, workspaceId, draft.runId);
    await requireRunHasRoom(tx, workspaceId, draft.runId);
  }
  const dependencies: JobRow[] = [];
  for (const id of draft.dependsOn) {
    dependencies.push(await requireReferredJob(tx, workspaceId, id, '/dependsOn'));
  }
  const based = await readBase(tx, draft);
  const dependsOn = based?.isAwaited ? [...draft.dependsOn, based.row.job_id] : draft.dependsOn;
  const parent =
    draft.parentJobId === undefined
      ? null
      : await requireReferredJob(tx, workspaceId, draft.parentJobId, '/parentJobId');
  const place = await placeInTree(tx, workspaceId, parent);
  const attachments = await attach(deps, tx, { workspaceId, jobId }, draft.attachments ?? []);
  const row = {
    ...rowOf(jobId, { ...draft, dependsOn }, createdBy),
    ...place,
    ...ownWork,
    ...placeBase(draft, based?.row, dependencies),
    ...workPlace,
    attachments,
  };
  const { reviewsJobId } = draft;
  const reviewed =
    reviewsJobId === undefined ? null : await requireReviewed(tx, draft, reviewsJobId);
  // Its commit may be on one machine only.
  const source = reviewed ?? (based?.isOnBranch ? based : null);
  const entry = await deps.queue.enqueue(tx, {
    ...entryOf(jobId, { ...draft, dependsOn }),
    preference: source === null ? preference : await findPreference(tx, source),
  });
  insertRow(tx, 'jobs', row);
  // An update that changes nothing: the page of the work hears of its review.
  if (reviewed !== null) await updateMessageCount(tx, reviewed.row);
  recordFirstJobEvent(tx, entry, { kind: 'enqueued', data: origin ?? null });
  await runHooks(deps.hooks.onJobEnqueued, deps, tx, { entry, row });
  return { entry, row };
}

/** The files for the tool, as their column has them. */
async function attach(
  { hooks }: Pick<HookDeps, 'hooks'>,
  tx: Tx,
  job: JobKey,
  uploadIds: readonly string[],
): Promise<string | null> {
  if (uploadIds.length === 0) return null;
  // Retention could delete an upload meanwhile.
  tx.requireExclusive();
  return JSON.stringify(await hooks.attachUploads(tx, job, [...new Set(uploadIds)]));
}

function entryOf(jobId: string, draft: JobDraft): EntryDraft {
  return {
    workspaceId: draft.workspaceId,
    entryId: jobId,
    lane: {
      queue: 'jobs',
      repoId: draft.repoId,
      kind: draft.kind,
      requirements: JSON.stringify(needsOf(draft.kind, draft.requirements)),
    },
    priority: draft.priority,
    attemptsMax: draft.maxAttempts,
    delayMs: draft.delayMs,
    dependsOn: draft.dependsOn,
    concurrencyKey: draft.concurrencyKey ?? null,
  };
}

async function requireReferredJob(tx: Tx, workspaceId: string, jobId: string, path: string) {
  const job = await readJob(tx, workspaceId, jobId);
  if (job !== undefined) return job;
  const { message } = invalidField(path, 'must name a job of this workspace');
  throw new HubError('JOB_NOT_FOUND', message);
}

function rowOf(
  jobId: string,
  draft: JobDraft,
  createdBy: Creator,
): Omit<JobRow, keyof (TreePlace & WorkPlace) | 'attachments'> {
  return {
    workspace_id: draft.workspaceId,
    job_id: jobId,
    repo_id: draft.repoId,
    run_id: draft.runId ?? null,
    kind: draft.kind,
    role: draft.role,
    prompt: draft.prompt,
    requirements: draft.requirements === undefined ? null : JSON.stringify(draft.requirements),
    parent_job_id: draft.parentJobId ?? null,
    reviews_job_id: draft.reviewsJobId ?? null,
    depends_on: JSON.stringify([...new Set(draft.dependsOn)]),
    budget: draft.budget === undefined ? null : JSON.stringify(draft.budget),
    created_by: createdBy.id,
    created_by_name: serviceName(createdBy.id) === createdBy.name ? null : createdBy.name,
    outcome: null,
    outcome_reason: null,
    message: null,
    evidence: null,
    usage: null,
    completion_hash: null,
    completion_attempt: null,
    completion_answer: null,
    waiting_on_uncertainty_id: null,
    decisions: '[]',
    title: storedTitleOf(draft.prompt),
    changed: null,
    verdict: null,
    message_count: 0,
    messages_generation: null,
    work_ended: null,
    ...toolAsked(draft.requirements),
  };
}
