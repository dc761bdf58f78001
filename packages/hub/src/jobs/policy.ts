import { type Evidence, type JobKind, type JobOutcome, verdicts } from '@signalbox/contract';
import type { Principal } from '../base/principal.ts';
import { asObject, mayWrite } from '../queue/matching.ts';
import type { JobRow } from './store.ts';

/** Whether the caller may take a job from its holder: people may, programs may not. */
export function mayRelease(principal: Principal): boolean {
  return principal.kind !== 'service' && principal.kind !== 'job';
}

/** The commit of a job's evidence, which has any form; null without one. */
export function commitOf({ evidence }: Pick<JobRow, 'evidence'>): string | null {
  const { commitSha } = asObject(JSON.parse(evidence ?? 'null')) ?? {};
  return typeof commitSha === 'string' && commitSha !== '' ? commitSha : null;
}

/** The verdict of the evidence of a job that is done; null if it has none, or one unknown here. */
export function verdictOf({
  outcome,
  evidence,
}: {
  outcome: JobOutcome;
  evidence?: Evidence | undefined;
}): JobRow['verdict'] {
  if (outcome !== 'done') return null;
  return verdicts.find((verdict) => verdict === evidence?.verdict) ?? null;
}

/**
 * Whether a job that is done changed the repository, as its evidence says: 1 with a commit or a
 * changed file, 0 without any although the job was to change something. Null: the job is not done,
 * its evidence does not say, or it was only to read.
 */
export function judgeChange(
  row: Pick<JobRow, 'kind' | 'requirements'>,
  { outcome, evidence }: { outcome: JobOutcome; evidence?: Evidence | undefined },
): JobRow['changed'] {
  if (outcome !== 'done' || evidence === undefined) return null;
  const { commitSha, changedFiles } = evidence;
  if ((commitSha ?? '') !== '' || (changedFiles?.length ?? 0) > 0) return 1;
  if (commitSha === undefined && changedFiles === undefined) return null;
  const requirements: unknown =
    row.requirements === null ? undefined : JSON.parse(row.requirements);
  // The row has a kind that passed the contract's schema when it was written.
  return mayWrite(row.kind as JobKind, requirements) ? 0 : null;
}
