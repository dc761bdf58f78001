import { type IdSource, WorkspaceSlug } from '@signalbox/contract';
import { Compile } from 'typebox/compile';
import { appendAudit } from '../audit/append.ts';
import type { Database, Tx } from '../db/engine.ts';
import { HubError, invalidField } from '../errors.ts';
import { insertWorkspace, readWorkspace, readWorkspaceBySlug, type WorkspaceRow } from './store.ts';

export interface WorkspaceDeps {
  database: Database;
  ids: IdSource;
}

/** The workspace that is always there in development mode (contract, section 2). */
const DEVELOPMENT_SLUG = 'dev';
const NAME_CHARS_MAX = 200;

const slugSchema = Compile(WorkspaceSlug);

/**
 * Makes a workspace.
 *
 * @param draft.createdBy a person's id; the operator when absent.
 * @throws HubError INVALID_REQUEST, or SLUG_TAKEN.
 */
export async function createWorkspace(
  { database, ids }: WorkspaceDeps,
  tx: Tx,
  draft: { slug: string; name: string; createdBy?: string },
): Promise<WorkspaceRow> {
  const { slug, name, createdBy = 'operator' } = draft;
  if (!slugSchema.Check(slug)) {
    throw invalidField('/slug', 'takes 1 to 63 lower-case letters, digits and inner dashes');
  }
  if (name.length < 1 || name.length > NAME_CHARS_MAX) {
    throw invalidField('/name', `takes 1 to ${NAME_CHARS_MAX} characters`);
  }
  if ((await readWorkspaceBySlug(tx, slug)) !== undefined) throw new HubError('SLUG_TAKEN');
  const row = await insertWorkspace(database, tx, { workspace_id: ids('workspace'), slug, name });
  await appendAudit(tx, {
    workspaceId: row.workspace_id,
    actor: createdBy,
    action: 'workspace.create',
    subject: row.workspace_id,
    data: { slug },
  });
  return row;
}

/** Makes the workspace `dev` when it is not there; for development mode. */
export function ensureDevelopmentWorkspace(deps: WorkspaceDeps): Promise<WorkspaceRow> {
  return deps.database.write(
    null,
    async (tx) =>
      (await readWorkspaceBySlug(tx, DEVELOPMENT_SLUG)) ??
      createWorkspace(deps, tx, { slug: DEVELOPMENT_SLUG, name: 'Development' }),
  );
}

/** Null when there is none. */
export async function findWorkspace(
  database: Database,
  workspaceId: string,
): Promise<WorkspaceRow | null> {
  return (await readWorkspace(database.reader, workspaceId)) ?? null;
}
