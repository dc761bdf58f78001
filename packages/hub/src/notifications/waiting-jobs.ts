import type { WaitingReason } from '@signalbox/contract';
import type { Tx } from '../db/engine.ts';
import { readJobSummaries } from '../jobs/store-whole.ts';
import { explainPage } from '../jobs/waiting-reasons.ts';
import { endedStatuses } from '../queue/store-retention.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import type { NotificationContent } from './content.ts';
import { endWaiting, holdNotification, listDueOfChannel, type NotificationRow } from './store.ts';

/** After this time a person hears that no agent takes a job; it is looked at as often. */
export const WAIT_MS = 10 * 60_000;
/** The jobs that one message tells of. */
const TOLD_MAX = 100;

/** Not those that end by themselves, as when agents are busy: no reason to call a person. */
const stuckReasons: readonly (WaitingReason | undefined)[] = [
  'no_agent_serves_repository',
  'no_agent_with_capabilities',
  'agents_paused',
];

type WaitState = 'ended' | 'fine' | 'stuck';

/**
 * Looks at the jobs of which a person is to be told by a channel when no agent can take them. One
 * message tells of all that are stuck; those that are not are looked at again later.
 *
 * @returns `row`: the notification with the number of other jobs; null: its job is not stuck.
 *   `record`: writes what was found, with the attempt to send it.
 */
export async function lookAtWaits(
  deps: Pick<HubDeps, 'database' | 'clock'>,
  row: NotificationRow,
): Promise<{ row: NotificationRow | null; record: (tx: Tx) => Promise<void> }> {
  const due = await listDueOfChannel(deps.database.reader, row, deps.clock.nowMs(), TOLD_MAX);
  const stateOf = await readWaitStates(deps, row.workspace_id, due);
  const isOwn = (other: NotificationRow) => other.notification_id === row.notification_id;
  const isStuck = stateOf(row) === 'stuck';
  const others = due.filter((other) => !isOwn(other) && stateOf(other) === 'stuck');
  const settled = due.filter((other) => stateOf(other) === 'ended');
  const fine = due.filter((other) => stateOf(other) === 'fine');
  const content = JSON.parse(row.content) as NotificationContent;
  const othersWaiting = (content.othersWaiting ?? 0) + others.length;
  return {
    row: isStuck ? { ...row, content: JSON.stringify({ ...content, othersWaiting }) } : null,
    async record(tx) {
      for (const other of fine) {
        await holdNotification(tx, other, { due_at: tx.nowMs + WAIT_MS, failure: null });
      }
      for (const other of settled) await settle(tx, other, null);
      if (!isStuck) return;
      for (const other of others) await settle(tx, other, 'Told with another job.');
    },
  };
}

function settle(tx: Tx, { workspace_id, notification_id }: NotificationRow, why: string | null) {
  return endWaiting(tx, { workspace_id, notification_id }, { state: 'settled', failure: why });
}

async function readWaitStates(
  deps: Pick<HubDeps, 'database' | 'clock'>,
  workspaceId: string,
  rows: readonly NotificationRow[],
): Promise<(row: NotificationRow) => WaitState> {
  const jobIds = rows.map(({ subject_id }) => subject_id);
  const jobs = await readJobSummaries(deps.database.reader, workspaceId, jobIds);
  const pending = jobs.filter(({ status }) => status === 'pending');
  const reasons = await explainPage(deps, workspaceId, pending);
  const statuses = new Map(jobs.map(({ job_id, status }) => [job_id, status]));
  return ({ subject_id: jobId }) => {
    // Retention has deleted a job that is not there.
    const status = statuses.get(jobId) ?? 'canceled';
    if (endedStatuses.some((ended) => ended === status)) return 'ended';
    return stuckReasons.includes(reasons.get(jobId)?.waitingReason) ? 'stuck' : 'fine';
  };
}
