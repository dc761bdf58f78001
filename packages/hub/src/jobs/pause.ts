import type { QueuePause } from '@signalbox/contract';
import { appendAudit } from '../audit/append.ts';
import { timestampOf } from '../base/clock.ts';
import { assert } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Tx } from '../db/engine.ts';
import { requireRepository } from '../repositories/read.ts';
import { listPausedRepositories, updateRepository } from '../repositories/store.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import {
  notPaused,
  type PauseColumns,
  readWorkspace,
  updateWorkspace,
} from '../workspaces/store.ts';

/** Paused repositories that are listed; the contract has the same limit. */
const PAUSED_REPOSITORIES_MAX = 200;

interface PauseInput {
  workspaceId: string;
  repoId?: string | undefined;
  reason?: string | undefined;
}

/**
 * Pauses the queue of a workspace or a repository. Running jobs continue. A pause that exists keeps
 * its time, and its author and reason unless the request has a reason.
 */
export function pauseQueue(deps: HubDeps, principal: Principal, input: PauseInput): Promise<void> {
  const { workspaceId, reason } = input;
  return deps.database.write(workspaceId, async (tx) => {
    await changePause(tx, input, ({ queue_paused_at }) =>
      queue_paused_at !== null && reason === undefined
        ? { queue_paused_at }
        : {
            queue_paused_at: queue_paused_at ?? tx.nowMs,
            queue_paused_by: principal.displayName,
            queue_pause_reason: reason ?? null,
          },
    );
    await auditPause(tx, principal, 'queue.pause', input);
  });
}

/** Ends a pause of the same workspace or repository. */
export function resumeQueue(deps: HubDeps, principal: Principal, input: PauseInput): Promise<void> {
  return deps.database.write(input.workspaceId, async (tx) => {
    await changePause(tx, input, () => notPaused);
    await auditPause(tx, principal, 'queue.resume', input);
    tx.afterCommit(() => deps.waiters.wakeWorkspace(input.workspaceId));
  });
}

/** Lists what is paused: the workspace first, then repositories, the latest pause first. */
export async function listPauses(
  { database: { reader } }: Pick<HubDeps, 'database'>,
  workspaceId: string,
): Promise<QueuePause[]> {
  const [workspace, repositories] = await Promise.all([
    readWorkspace(reader, workspaceId),
    listPausedRepositories(reader, workspaceId, PAUSED_REPOSITORIES_MAX),
  ]);
  const ofWorkspace = workspace === undefined ? null : presentPause(workspace, null);
  const ofRepositories = repositories.map((row) => presentPause(row, row.repo_id));
  return [ofWorkspace, ...ofRepositories].filter((pause) => pause !== null);
}

function presentPause(row: PauseColumns, repoId: string | null): QueuePause | null {
  if (row.queue_paused_at === null) return null;
  return {
    repoId,
    pausedAt: timestampOf(row.queue_paused_at),
    pausedBy: row.queue_paused_by,
    reason: row.queue_pause_reason,
  };
}

async function changePause(
  tx: Tx,
  { workspaceId, repoId }: PauseInput,
  change: (known: PauseColumns) => Partial<PauseColumns>,
): Promise<void> {
  if (repoId !== undefined) {
    const repository = await requireRepository(tx, workspaceId, repoId);
    await updateRepository(tx, repository, change(repository));
    return;
  }
  const workspace = await readWorkspace(tx, workspaceId);
  assert(workspace !== undefined, 'the workspace of a request exists');
  await updateWorkspace(tx, workspaceId, change(workspace));
}

async function auditPause(tx: Tx, principal: Principal, action: string, input: PauseInput) {
  await appendAudit(tx, {
    workspaceId: input.workspaceId,
    actor: principal.principalId,
    action,
    subject: input.repoId ?? input.workspaceId,
    data: input.reason === undefined ? {} : { reason: input.reason },
  });
}
