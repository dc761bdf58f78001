import { appendAudit } from '../audit/append.ts';
import type { Tx } from '../db/engine.ts';
import type { HubDeps } from '../hub-deps.ts';
import type { Principal } from '../principal.ts';
import { requireRepository } from '../repositories/read.ts';
import { updateRepository } from '../repositories/store.ts';
import { updateWorkspacePause } from '../workspaces/store.ts';

interface PauseInput {
  workspaceId: string;
  repoId?: string | undefined;
  reason?: string | undefined;
}

/** Pauses the queue of a workspace or a repository. Running jobs continue. */
export function pauseQueue(deps: HubDeps, principal: Principal, input: PauseInput): Promise<void> {
  return deps.database.write(input.workspaceId, async (tx) => {
    await setPaused(deps, tx, input, tx.nowMs);
    await auditPause(tx, principal, 'queue.pause', input);
  });
}

/** Ends a pause of the same workspace or repository. */
export function resumeQueue(deps: HubDeps, principal: Principal, input: PauseInput): Promise<void> {
  return deps.database.write(input.workspaceId, async (tx) => {
    await setPaused(deps, tx, input, null);
    await auditPause(tx, principal, 'queue.resume', input);
    tx.afterCommit(() => deps.waiters.wakeWorkspace(input.workspaceId));
  });
}

async function setPaused(
  { database }: HubDeps,
  tx: Tx,
  { workspaceId, repoId }: PauseInput,
  pausedAtMs: number | null,
): Promise<void> {
  if (repoId === undefined) {
    await updateWorkspacePause(tx, workspaceId, pausedAtMs);
    return;
  }
  const repository = await requireRepository(tx, workspaceId, repoId);
  await updateRepository(database, tx, { ...repository, queue_paused_at: pausedAtMs });
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
