import type {
  Evidence,
  endpoints,
  Job,
  JobVariant,
  RequestInput,
  Usage,
} from '@signalbox/contract';
import { appendAudit } from '../audit/append.ts';
import { nullableTimestampOf } from '../base/clock.ts';
import { HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Reader, Tx } from '../db/engine.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { cancelRecord } from './cancel.ts';
import { presentJob } from './present.ts';
import { requireJob } from './require-job.ts';
import { readVariantJobs, updateVariantChosen, type VariantRow } from './store-variants.ts';
import { readWholeJobs, type WholeJob } from './store-whole.ts';

type ChooseInput = RequestInput<typeof endpoints.jobs.chooseVariant.request>;

const hasEnded = (status: string) => ['done', 'failed', 'canceled'].includes(status);

/**
 * Chooses a variant, and closes the others: what has not ended is canceled.
 *
 * @throws HubError JOB_NOT_FOUND, INVALID_REQUEST
 */
export function chooseVariant(
  deps: HubDeps,
  principal: Principal,
  { workspaceId, jobId }: ChooseInput,
): Promise<{ job: Job; variants: JobVariant[] }> {
  return deps.database.write(workspaceId, async (tx) => {
    const { row: chosen } = await requireJob(tx, workspaceId, jobId);
    if (chosen.variant_of === null) {
      throw new HubError('INVALID_REQUEST', 'The job is no variant: there is nothing to choose.');
    }
    if (chosen.variant_chosen === 0) {
      throw new HubError('INVALID_REQUEST', 'Another variant was chosen already, for good.');
    }
    if (chosen.variant_chosen === null) {
      for (const row of await readVariantJobs(tx, workspaceId, chosen.variant_of)) {
        const variant_chosen = workOf(row) === workOf(chosen) ? 1 : 0;
        const key = { workspace_id: workspaceId, job_id: row.job_id };
        await updateVariantChosen(tx, { ...key, variant_chosen });
        if (variant_chosen === 0) await cancelOther(deps, tx, principal, key);
      }
      await appendAudit(tx, {
        ...{ workspaceId, actor: principal.principalId, action: 'job.choose_variant' },
        ...{ subject: workOf(chosen), data: {} },
      });
    }
    const { entry, row } = await requireJob(tx, workspaceId, jobId);
    const variants = await listVariants(tx, workspaceId, chosen.variant_of);
    return { job: presentJob(entry, row), variants };
  });
}

async function cancelOther(
  deps: HubDeps,
  tx: Tx,
  principal: Principal,
  { workspace_id: workspaceId, job_id: jobId }: Pick<WholeJob, 'workspace_id' | 'job_id'>,
): Promise<void> {
  const other = await requireJob(tx, workspaceId, jobId);
  if (hasEnded(other.entry.status)) return;
  await cancelRecord(deps, tx, principal, other, 'Another variant was chosen.');
}

/** The first job of a piece of work. */
function workOf({ job_id, work_job_id }: Pick<VariantRow, 'job_id' | 'work_job_id'>): string {
  return work_job_id ?? job_id;
}

/** Compares the variants of a work by the result of the latest round of each. */
export async function listVariants(
  reader: Reader,
  workspaceId: string,
  variantOf: string,
): Promise<JobVariant[]> {
  const rows = await readVariantJobs(reader, workspaceId, variantOf);
  const jobs = await readWholeJobs(
    reader,
    workspaceId,
    rows.map(({ job_id }) => job_id),
  );
  const works = Map.groupBy(jobs, workOf);
  return rows
    .filter(({ round }) => round === 1)
    .flatMap(({ job_id: firstId }) => {
      const rounds = works.get(firstId) ?? [];
      const latest = rounds.toSorted((a, b) => b.round - a.round);
      // A round that was canceled continues nothing.
      const result = latest.find(({ status }) => status !== 'canceled') ?? latest[0];
      return result === undefined ? [] : [presentVariant(firstId, result, rounds)];
    });
}

function presentVariant(jobId: string, result: WholeJob, rounds: readonly WholeJob[]): JobVariant {
  const evidence: Evidence = result.evidence === null ? {} : JSON.parse(result.evidence);
  const counts = Array.isArray(evidence.files) ? evidence.files : null;
  const sumOf = (name: 'added' | 'deleted') =>
    counts?.reduce((sum: number, file) => sum + (file[name] ?? 0), 0) ?? null;
  const checks = Array.isArray(evidence.checks) ? evidence.checks : [];
  const costs = rounds.flatMap(({ usage }) => {
    const { costUsd }: Usage = usage === null ? {} : JSON.parse(usage);
    return costUsd ?? [];
  });
  return {
    jobId,
    ...{ tool: result.tool, model: result.model, status: result.status, verdict: result.verdict },
    checks: {
      passed: checks.filter(({ outcome }) => outcome === 'passed').length,
      total: checks.length,
    },
    files: evidence.changedFiles?.length ?? null,
    linesAdded: sumOf('added'),
    linesDeleted: sumOf('deleted'),
    startedAt: nullableTimestampOf(result.started_at),
    finishedAt: nullableTimestampOf(result.finished_at),
    costUsd: costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost, 0),
    isChosen: result.variant_chosen === null ? null : result.variant_chosen === 1,
  };
}
