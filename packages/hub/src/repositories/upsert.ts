import type { endpoints, RequestInput } from '@signalbox/contract';
import { appendAudit } from '../audit/append.ts';
import type { Principal } from '../base/principal.ts';
import type { Tx } from '../db/engine.ts';
import { insertRow } from '../db/row-write.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { askOrderOf, checkAskOrder } from './ask-order.ts';
import {
  insertTokenRepository,
  type RepositoryRow,
  readRepositoryByHash,
  updateRepository,
} from './store.ts';

type UpsertInput = RequestInput<typeof endpoints.repositories.upsert.request>;

/**
 * Creates the repository if its hash is unknown in the workspace; otherwise updates the fields that
 * the request contains.
 *
 * @throws HubError NOT_ALLOWED, INVALID_REQUEST for the order in which people are told
 */
export function upsertRepository(
  deps: Pick<HubDeps, 'database' | 'ids' | 'waiters'>,
  principal: Principal,
  input: UpsertInput,
): Promise<{ row: RepositoryRow; created: boolean }> {
  const { database, ids, waiters } = deps;
  const { workspaceId, remoteUrlHash } = input;
  return database.write(workspaceId, async (tx) => {
    const known = await readRepositoryByHash(tx, workspaceId, remoteUrlHash);
    const row: RepositoryRow = {
      workspace_id: workspaceId,
      repo_id: known?.repo_id ?? ids('repository'),
      remote_url_hash: remoteUrlHash,
      label: input.label ?? known?.label ?? '',
      status: input.status ?? known?.status ?? 'active',
      queue_paused_at: known?.queue_paused_at ?? null,
      queue_paused_by: known?.queue_paused_by ?? null,
      queue_pause_reason: known?.queue_pause_reason ?? null,
      ask_order:
        input.askOrder === undefined
          ? (known?.ask_order ?? null)
          : await checkAskOrder(tx, principal, workspaceId, input.askOrder),
      created_at: known?.created_at ?? tx.nowMs,
      updated_at: tx.nowMs,
    };
    if (known === undefined) insertRow(tx, 'repositories', row);
    else {
      const { label, status, ask_order, updated_at } = row;
      await updateRepository(tx, row, { label, status, ask_order, updated_at });
    }
    // People do not run agents.
    if (principal.kind !== 'person') {
      await insertTokenRepository(tx, workspaceId, principal.tokenId, row.repo_id);
    }
    if (known !== undefined) await auditChange(tx, principal, known, row);
    tx.afterCommit(() => waiters.wakeWorkspace(workspaceId));
    return { row, created: known === undefined };
  });
}

/** Records a changed label, status or order. */
async function auditChange(
  tx: Tx,
  principal: Principal,
  before: RepositoryRow,
  after: RepositoryRow,
): Promise<void> {
  const data = {
    ...(before.label === after.label ? {} : { label: after.label }),
    ...(before.status === after.status ? {} : { status: after.status }),
    ...(before.ask_order === after.ask_order ? {} : { askOrder: askOrderOf(after) }),
  };
  if (Object.keys(data).length === 0) return;
  await appendAudit(tx, {
    workspaceId: after.workspace_id,
    actor: principal.principalId,
    action: 'repository.update',
    subject: after.repo_id,
    data,
  });
}
