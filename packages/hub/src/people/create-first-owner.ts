import { timingSafeEqual } from 'node:crypto';
import type { consoleEndpoints, RequestInput } from '@signalbox/contract';
import { insertMembership } from '../access/store.ts';
import { appendAudit } from '../audit/append.ts';
import { HubError } from '../base/errors.ts';
import type { RequestContext } from '../base/principal.ts';
import type { Database, Reader, Tx } from '../db/engine.ts';
import { deleteHubSetting, readHubSetting, writeHubSetting } from '../db/hub-settings.ts';
import { insertWorkspace, readWorkspaceBySlug, type WorkspaceRow } from '../workspaces/store.ts';
import type { PeopleDeps } from './deps.ts';
import { drawLinkToken, hashLinkToken } from './link-token.ts';
import { hashNewPassword } from './passwords.ts';
import { beginSession } from './sessions.ts';
import { foldEmail, hasPeople, insertPerson, type PersonRow } from './store.ts';

type CreateInput = RequestInput<typeof consoleEndpoints.firstOwner.create.request>;

/** The hub setting with the hashes of the valid links, the latest last. */
const LINK_SETTING = 'first_owner_link';
/** The scope of writes on these links and of the first account. */
export const FIRST_OWNER_SCOPE = 'first-owner';
/** Hubs that start at the same time print one link each; this many stay valid. */
const LINKS_MAX = 16;

/**
 * Uses up a first-owner link. Creates person, workspace, membership and session in one transaction,
 * so that of several concurrent requests exactly one succeeds.
 *
 * @returns the owner, and the secret for the session's cookie.
 * @throws HubError FIRST_OWNER_LINK_INVALID, SLUG_TAKEN, INVALID_REQUEST for a common password.
 */
export async function createFirstOwner(
  deps: PeopleDeps,
  input: CreateInput,
  origin: Pick<RequestContext, 'address' | 'userAgent'>,
): Promise<{ person: PersonRow; secret: string }> {
  const { database } = deps;
  // Check before hashing, so that anonymous callers cannot make the hub hash passwords.
  if (!(await isLinkValid(database.reader, input.linkToken))) throw linkInvalid();
  const passwordHash = await hashNewPassword(deps, input.password, { person: input });
  const scope = [FIRST_OWNER_SCOPE, input.workspaceSlug, foldEmail(input.email)];
  return database.write(scope, async (tx) => {
    if (!(await isLinkValid(tx, input.linkToken))) throw linkInvalid();
    const { person, workspace } = await insertFirstOwner(deps, tx, { ...input, passwordHash });
    const { sessionId, secret } = await beginSession(deps, tx, person.person_id, origin);
    await appendAudit(tx, {
      workspaceId: workspace.workspace_id,
      actor: person.person_id,
      action: 'first-owner.create',
      subject: person.person_id,
      data: { workspaceSlug: workspace.slug, sessionId, address: origin.address },
    });
    return { person, secret };
  });
}

/** The first person of a hub, and their workspace. */
export type OwnerDraft = Pick<CreateInput, 'name' | 'email' | 'workspaceSlug' | 'workspaceName'>;

/**
 * Inserts person, workspace and membership, and ends the printed links. The caller checks in the
 * same transaction that the hub has no people.
 *
 * @throws HubError SLUG_TAKEN
 */
export async function insertFirstOwner(
  { ids }: Pick<PeopleDeps, 'ids'>,
  tx: Tx,
  draft: OwnerDraft & { passwordHash: string },
): Promise<{ person: PersonRow; workspace: WorkspaceRow }> {
  const { name, email, passwordHash, workspaceSlug, workspaceName } = draft;
  if ((await readWorkspaceBySlug(tx, workspaceSlug)) !== undefined) {
    throw new HubError('SLUG_TAKEN');
  }
  const person: PersonRow = {
    person_id: ids('person'),
    email: foldEmail(email),
    name,
    password_hash: passwordHash,
    created_at: tx.nowMs,
    quiet_hours: null,
    absent_until: null,
    digest_hours: 0,
  };
  await insertPerson(tx, person);
  const workspace = await insertWorkspace(tx, {
    workspace_id: ids('workspace'),
    slug: workspaceSlug,
    name: workspaceName,
    created_by_operator: 1,
  });
  await insertMembership(tx, {
    workspace_id: workspace.workspace_id,
    person_id: person.person_id,
    role: 'owner',
    created_at: tx.nowMs,
  });
  await deleteHubSetting(tx, LINK_SETTING);
  return { person, workspace };
}

function linkInvalid(): HubError {
  return new HubError(
    'FIRST_OWNER_LINK_INVALID',
    'The first-owner link was already used, or a newer one was printed. If this hub has no owner ' +
      'yet, restart it: it prints a new link.',
  );
}

/**
 * Creates a new link for the first owner, which replaces the previous ones.
 *
 * @param keepsOthers whether previous links stay valid, because other hubs have printed them.
 * @returns the link's token, or null if people exist and no link is needed.
 */
export function issueFirstOwnerLink(
  database: Database,
  keepsOthers = false,
): Promise<string | null> {
  const linkToken = drawLinkToken();
  return database.write(FIRST_OWNER_SCOPE, async (tx) => {
    if (await hasPeople(tx)) return null;
    const others = keepsOthers ? await readLinkHashes(tx) : [];
    const links = [...others, hashLinkToken(linkToken)].slice(-LINKS_MAX);
    await writeHubSetting(tx, LINK_SETTING, links.join(' '));
    return linkToken;
  });
}

/** Revokes all links that were printed. A hub that starts after an outage prints a new one. */
export function revokeFirstOwnerLinks(tx: Tx): Promise<void> {
  return deleteHubSetting(tx, LINK_SETTING);
}

/** The URL to print. The token is in the fragment, which browsers do not send to servers. */
export function firstOwnerUrl(baseUrl: string, linkToken: string): string {
  return new URL(`/first-owner#token=${linkToken}`, baseUrl).href;
}

/** Whether a link can be used. Does not use it up. */
export async function isLinkValid(reader: Reader, linkToken: string): Promise<boolean> {
  const actual = Buffer.from(hashLinkToken(linkToken));
  const expected = await readLinkHashes(reader);
  const isKnown = expected.some((link) => timingSafeEqual(actual, Buffer.from(link)));
  return isKnown && !(await hasPeople(reader));
}

async function readLinkHashes(reader: Reader): Promise<string[]> {
  const links = await readHubSetting(reader, LINK_SETTING);
  return links === null ? [] : links.split(' ');
}
