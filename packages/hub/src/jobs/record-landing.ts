import type { endpoints, LandingResult, RequestInput, Work } from '@signalbox/contract';
import { timestampOf } from '../base/clock.ts';
import { invalidField } from '../base/errors.ts';
import type { Tx } from '../db/engine.ts';
import { workIdOf } from './read-work.ts';
import { type JobRow, readJob } from './store.ts';
import { updateMessageCount } from './store-rounds.ts';
import { markEnded, writeWork } from './store-works.ts';

type CompleteInput = Pick<
  RequestInput<typeof endpoints.jobs.complete.request>,
  'outcome' | 'landing'
>;

/** @throws HubError INVALID_REQUEST: the result does not fit the job or its outcome. */
export function checkLanding({ lands_job_id }: JobRow, { outcome, landing }: CompleteInput): void {
  if (lands_job_id === null) {
    if (landing !== undefined) throw invalidField('/landing', 'is for the landing of a work');
    return;
  }
  const hasLanded = landing !== undefined && landing.result !== 'conflicts';
  if (hasLanded !== (outcome === 'done')) {
    throw invalidField('/landing', 'must say how it landed if it is done, and only then');
  }
  if (landing?.result === 'landed' && landing.commitSha === undefined) {
    throw invalidField('/landing/commitSha', 'is needed: the commit of the base');
  }
}

/** Records in the work how its landing has ended; the work that has landed leaves the lists. */
export async function recordLanding(
  tx: Tx,
  { workspace_id, lands_job_id }: JobRow,
  landing: LandingResult | undefined,
): Promise<void> {
  const round = lands_job_id === null ? undefined : await readJob(tx, workspace_id, lands_job_id);
  if (round === undefined) return;
  const key = { workspace_id, work_job_id: workIdOf(round) };
  if (landing === undefined) {
    await writeWork(tx, key, { landing_conflicts: null });
  } else if (landing.result === 'conflicts') {
    const { into, conflicts: files = [] } = landing;
    await writeWork(tx, key, { landing_conflicts: JSON.stringify({ into, files }) });
  } else {
    const { into, commitSha = null, pullRequestUrl = null } = landing;
    const at = timestampOf(tx.nowMs);
    const landed: Work['landed'] = { into, commitSha, at, by: null, pullRequestUrl };
    await writeWork(tx, key, { landing_conflicts: null, landed: JSON.stringify(landed) });
    await markEnded(tx, key, 'landed');
  }
  // An update that changes nothing: the page of the round hears of it.
  await updateMessageCount(tx, round);
}
