import type { consoleEndpoints, RequestInput } from '@signalbox/contract';
import { appendAudit } from '../audit/actions.ts';
import type { Role } from '../db/schema.ts';
import { HubError } from '../errors.ts';
import { requireAct } from '../members/role-actions.ts';
import { insertMembership } from '../people/store.ts';
import { type Principal, personIdOf } from '../principal.ts';
import { createWorkspace, type WorkspaceDeps } from './actions.ts';
import {
  readWorkspace,
  updateWorkspaceSettings,
  type WorkspaceRow,
  type WorkspaceSettings,
} from './store.ts';

type UpdateInput = RequestInput<typeof consoleEndpoints.workspaceSettings.update.request>;

/**
 * Makes a workspace of which whoever asks is the owner.
 * @throws HubError SLUG_TAKEN
 */
export function createOwnWorkspace(
  deps: WorkspaceDeps,
  principal: Principal,
  { slug, name }: { slug: string; name: string },
): Promise<WorkspaceRow> {
  const personId = personIdOf(principal);
  return deps.database.write(async (tx) => {
    const row = await createWorkspace(deps, tx, { slug, name, createdBy: personId });
    await insertMembership(deps.database, tx, {
      workspace_id: row.workspace_id,
      person_id: personId,
      role: 'owner',
      created_at: tx.nowMs,
    });
    return row;
  });
}

/** The settings, and what the person is in the workspace. */
export async function readSettings(
  { database: { reader } }: Pick<WorkspaceDeps, 'database'>,
  principal: Principal,
  workspaceId: string,
): Promise<{ row: WorkspaceRow; role: Role }> {
  const { role } = await requireAct(reader, principal, workspaceId, 'workspace.read');
  const row = await readWorkspace(reader, workspaceId);
  if (row === undefined) throw new HubError('WORKSPACE_NOT_FOUND');
  return { row, role };
}

/** Changes what is sent. @throws HubError NOT_ALLOWED */
export function updateSettings(
  { database }: Pick<WorkspaceDeps, 'database'>,
  principal: Principal,
  { workspaceId, name, dataPolicy = {} }: UpdateInput,
): Promise<WorkspaceRow> {
  return database.write(async (tx) => {
    const { personId } = await requireAct(tx, principal, workspaceId, 'workspace.update');
    const row = await readWorkspace(tx, workspaceId);
    if (row === undefined) throw new HubError('WORKSPACE_NOT_FOUND');
    const { contentStorage, retentionDays, redactSecrets } = dataPolicy;
    const wanted: WorkspaceSettings = {
      name: name ?? row.name,
      content_storage: contentStorage ?? row.content_storage,
      retention_days: retentionDays === undefined ? row.retention_days : retentionDays,
      redact_secrets: (redactSecrets ?? row.redact_secrets === 1) ? 1 : 0,
    };
    const changes = listChanges(row, wanted);
    if (Object.keys(changes).length === 0) return row;
    await updateWorkspaceSettings(database, tx, workspaceId, wanted);
    await appendAudit(tx, {
      workspaceId,
      actor: personId,
      action: 'workspace.update',
      subject: workspaceId,
      data: changes,
    });
    return { ...row, ...wanted };
  });
}

/** Each setting that differs, with what it was and what it becomes. */
function listChanges(
  row: WorkspaceSettings,
  wanted: WorkspaceSettings,
): Record<string, { from: unknown; to: unknown }> {
  const names = Object.keys(wanted) as (keyof WorkspaceSettings)[];
  return Object.fromEntries(
    names
      .filter((name) => row[name] !== wanted[name])
      .map((name) => [name, { from: row[name], to: wanted[name] }]),
  );
}
