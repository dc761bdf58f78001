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
import type { Reader } from '../db/engine.ts';
import { asObject } from '../queue/matching.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { cancelRecord } from './cancel.ts';
import { presentJob } from './present.ts';
import { hasNotEnded, workIdOf } from './read-work.ts';
import { requireJob } from './require-job.ts';
import { updateJob } from './store.ts';
import { readVariantJobs, type VariantRow } from './store-rounds.ts';
import { readWholeJobs, type WholeJob } from './store-whole.ts';

type ChooseInput = RequestInput<typeof endpoints.jobs.chooseVariant.request>;

/** The contract's limit for a file. */
const LINES_MAX = 1_000_000_000;

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
        const variant_chosen = workIdOf(row) === workIdOf(chosen) ? 1 : 0;
        await updateJob(tx, row, { variant_chosen });
        if (variant_chosen === 1 || !hasNotEnded(row.status)) continue;
        const other = await requireJob(tx, workspaceId, row.job_id);
        await cancelRecord(deps, tx, principal, other, 'Another variant was chosen.');
      }
      await appendAudit(tx, {
        workspaceId,
        actor: principal.principalId,
        action: 'job.choose_variant',
        subject: workIdOf(chosen),
        data: {},
      });
    }
    const { entry, row } = await requireJob(tx, workspaceId, jobId);
    const variants = await listVariants(tx, workspaceId, chosen.variant_of);
    return { job: presentJob(entry, row), variants };
  });
}

/** Compares the variants of a work by the result of the latest round of each. */
export async function listVariants(
  reader: Reader,
  workspaceId: string,
  variantOf: string,
): Promise<JobVariant[]> {
  const rows = await readVariantJobs(reader, workspaceId, variantOf);
  const works = [...Map.groupBy(rows, workIdOf).entries()].map(([jobId, rounds]) => {
    const newest = rounds.toSorted((one, other) => other.round - one.round);
    // A round that was canceled continues nothing.
    const latest = newest.find(({ status }) => status !== 'canceled') ?? newest[0];
    return { jobId, rounds, resultId: latest?.job_id ?? jobId };
  });
  const results = await readWholeJobs(
    reader,
    workspaceId,
    works.map(({ resultId }) => resultId),
  );
  return works.flatMap(({ jobId, rounds, resultId }) => {
    const result = results.find(({ job_id }) => job_id === resultId);
    return result === undefined ? [] : [presentVariant(jobId, result, rounds)];
  });
}

function presentVariant(
  jobId: string,
  result: WholeJob,
  rounds: readonly VariantRow[],
): JobVariant {
  const evidence: Evidence = result.evidence === null ? {} : JSON.parse(result.evidence);
  const checks = recordsOf(evidence.checks);
  const costs = rounds.flatMap(({ usage }) => {
    const { costUsd }: Usage = usage === null ? {} : JSON.parse(usage);
    return costUsd ?? [];
  });
  return {
    jobId,
    tool: result.tool,
    model: result.model,
    status: result.status,
    verdict: result.verdict,
    checks: {
      passed: checks.filter(({ outcome }) => outcome === 'passed').length,
      total: checks.length,
    },
    files: evidence.changedFiles?.length ?? null,
    linesAdded: sumOf(evidence.files, 'added'),
    linesDeleted: sumOf(evidence.files, 'deleted'),
    startedAt: nullableTimestampOf(result.started_at),
    finishedAt: nullableTimestampOf(result.finished_at),
    costUsd: costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost, 0),
    isChosen: result.variant_chosen === null ? null : result.variant_chosen === 1,
  };
}

/** An agent may send these fields in any form. */
function recordsOf(list: unknown): Record<string, unknown>[] {
  const each: unknown[] = Array.isArray(list) ? list : [];
  return each.map(asObject).filter((record) => record !== null);
}

/** Null: the agent shares no counts. */
function sumOf(files: unknown, name: 'added' | 'deleted'): number | null {
  if (!Array.isArray(files)) return null;
  const counts = recordsOf(files).map((file) => file[name]);
  return counts.reduce<number>((sum, count) => sum + (isCount(count) ? count : 0), 0);
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= LINES_MAX;
}
