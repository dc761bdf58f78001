import { WorkspaceSlug } from '@signalbox/contract';
import { refusalOfCreation } from '../access/policy.ts';
import { insertMembership, listMembershipsOfPerson } from '../access/store.ts';
import { appendAudit } from '../audit/append.ts';
import { compileLater } from '../base/compile-later.ts';
import { HubError, invalidField } from '../base/errors.ts';
import { type Principal, personIdOf } from '../base/principal.ts';
import type { Tx } from '../db/engine.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import type { WorkspaceCreation } from '../start/setting-values.ts';
import { insertWorkspace, readWorkspaceBySlug, type WorkspaceRow } from './store.ts';

export type WorkspaceDeps = Pick<HubDeps, 'database' | 'ids'>;

/** Always exists in development mode (docs/reference/protocol.md, section 2.3). */
const DEVELOPMENT_SLUG = 'dev';
const NAME_CHARS_MAX = 200;
const OPERATOR = 'operator';

const slugSchema = compileLater(WorkspaceSlug);

/**
 * Creates a workspace whose owner is the person who asks.
 * @throws HubError NOT_ALLOWED, as the operator has set; SLUG_TAKEN
 */
export function createOwnWorkspace(
  deps: WorkspaceDeps & { workspaceCreation: WorkspaceCreation },
  principal: Principal,
  { slug, name }: { slug: string; name: string },
): Promise<WorkspaceRow> {
  const personId = personIdOf(principal);
  // The workspace has no id yet. Others can only compete for its slug.
  return deps.database.write([slug, personId], async (tx) => {
    const memberships = await listMembershipsOfPerson(tx, personId);
    const roles = memberships.map(({ role }) => role);
    const refusal = refusalOfCreation(deps.workspaceCreation, roles);
    if (refusal !== null) throw new HubError('NOT_ALLOWED', refusal);
    const row = await createWorkspace(deps, tx, { slug, name, createdBy: personId });
    await insertMembership(tx, {
      workspace_id: row.workspace_id,
      person_id: personId,
      role: 'owner',
      created_at: tx.nowMs,
    });
    return row;
  });
}

/**
 * Creates a workspace without members.
 *
 * @param draft.createdBy a person's id; by default the operator.
 * @throws HubError INVALID_REQUEST, SLUG_TAKEN
 */
export async function createWorkspace(
  { ids }: Pick<WorkspaceDeps, 'ids'>,
  tx: Tx,
  draft: { slug: string; name: string; createdBy?: string },
): Promise<WorkspaceRow> {
  const { slug, name, createdBy = OPERATOR } = draft;
  if (!slugSchema().Check(slug)) {
    throw invalidField('/slug', 'must be 1 to 63 lower-case letters, digits and inner dashes');
  }
  if (name.length < 1 || name.length > NAME_CHARS_MAX) {
    throw invalidField('/name', `must be 1 to ${NAME_CHARS_MAX} characters`);
  }
  if ((await readWorkspaceBySlug(tx, slug)) !== undefined) throw new HubError('SLUG_TAKEN');
  const row = await insertWorkspace(tx, {
    workspace_id: ids('workspace'),
    slug,
    name,
    created_by_operator: createdBy === OPERATOR ? 1 : 0,
  });
  await appendAudit(tx, {
    workspaceId: row.workspace_id,
    actor: createdBy,
    action: 'workspace.create',
    subject: row.workspace_id,
    data: { slug },
  });
  return row;
}

/** Creates the workspace `dev` of development mode, unless it exists. */
export function ensureDevelopmentWorkspace(deps: WorkspaceDeps): Promise<WorkspaceRow> {
  return deps.database.write(
    DEVELOPMENT_SLUG,
    async (tx) =>
      (await readWorkspaceBySlug(tx, DEVELOPMENT_SLUG)) ??
      createWorkspace(deps, tx, { slug: DEVELOPMENT_SLUG, name: 'Development' }),
  );
}
