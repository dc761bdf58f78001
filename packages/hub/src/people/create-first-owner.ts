import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { consoleEndpoints, RequestInput } from '@signalbox/contract';
import { appendAudit } from '../audit/append.ts';
import type { Database, Reader, Tx } from '../db/engine.ts';
import { HubError } from '../errors.ts';
import type { RequestContext } from '../principal.ts';
import { insertWorkspace, readWorkspaceBySlug } from '../workspaces/store.ts';
import { hashNewPassword } from './password-actions.ts';
import { beginSession, foldEmail, type PeopleDeps } from './sessions.ts';
import {
  deleteHubSetting,
  hasPeople,
  insertMembership,
  insertPerson,
  type PersonRow,
  readHubSetting,
  writeHubSetting,
} from './store.ts';

type CreateInput = RequestInput<typeof consoleEndpoints.firstOwner.create.request>;

/** Holds the hashes of the links that work, the latest last. */
const LINK_SETTING = 'first_owner_link';
/** Hubs that start together print a link each; more than these start one after the other. */
const LINKS_MAX = 16;
const LINK_BYTES = 32;

/**
 * Makes a new link for the first owner, which replaces the one before.
 *
 * @param keepsOthers whether those before still work, since other hubs have printed them.
 * @returns the link's token, or null when the hub has people and needs no link.
 */
export function issueFirstOwnerLink(
  database: Database,
  keepsOthers = false,
): Promise<string | null> {
  const linkToken = randomBytes(LINK_BYTES).toString('base64url');
  return database.write(null, async (tx) => {
    if (await hasPeople(tx)) return null;
    const others = keepsOthers ? await readLinkHashes(tx) : [];
    const links = [...others, hash('sha256', linkToken)].slice(-LINKS_MAX);
    await writeHubSetting(tx, LINK_SETTING, links.join(' '));
    return linkToken;
  });
}

/** Ends all links that were printed: the hub that starts after an outage prints a new one. */
export function forgetFirstOwnerLinks(tx: Tx): Promise<void> {
  return deleteHubSetting(tx, LINK_SETTING);
}

/** The address to print. The token stands in the fragment, which browsers send to nobody. */
export function firstOwnerUrl(baseUrl: string, linkToken: string): string {
  return new URL(`/first-owner#token=${linkToken}`, baseUrl).href;
}

/** Whether a link can still be used; uses nothing up. */
export async function isLinkValid(reader: Reader, linkToken: string): Promise<boolean> {
  const actual = Buffer.from(hash('sha256', linkToken));
  const expected = await readLinkHashes(reader);
  const isKnown = expected.some((link) => timingSafeEqual(actual, Buffer.from(link)));
  return isKnown && !(await hasPeople(reader));
}

async function readLinkHashes(reader: Reader): Promise<string[]> {
  const links = await readHubSetting(reader, LINK_SETTING);
  return links === null ? [] : links.split(' ');
}

/**
 * Uses the link up: person, workspace, ownership and session in one action, so that of many who
 * send it at once exactly one becomes the owner.
 *
 * @returns the owner, and the secret for the session's cookie.
 * @throws HubError FIRST_OWNER_LINK_INVALID, SLUG_TAKEN, INVALID_REQUEST for a common password.
 */
export async function createFirstOwner(
  deps: PeopleDeps,
  input: CreateInput,
  origin: Pick<RequestContext, 'address' | 'userAgent'>,
): Promise<{ person: PersonRow; secret: string }> {
  const { database, ids } = deps;
  // Strangers must not make the hub hash passwords.
  if (!(await isLinkValid(database.reader, input.linkToken))) throw linkInvalid();
  const passwordHash = await hashNewPassword(deps, input.password, { person: input });
  return database.write(null, async (tx) => {
    if (!(await isLinkValid(tx, input.linkToken))) throw linkInvalid();
    if ((await readWorkspaceBySlug(tx, input.workspaceSlug)) !== undefined) {
      throw new HubError('SLUG_TAKEN');
    }
    const person: PersonRow = {
      person_id: ids('person'),
      email: foldEmail(input.email),
      name: input.name,
      password_hash: passwordHash,
      created_at: tx.nowMs,
    };
    await insertPerson(database, tx, person);
    const workspace = await insertWorkspace(database, tx, {
      workspace_id: ids('workspace'),
      slug: input.workspaceSlug,
      name: input.workspaceName,
    });
    await insertMembership(database, tx, {
      workspace_id: workspace.workspace_id,
      person_id: person.person_id,
      role: 'owner',
      created_at: tx.nowMs,
    });
    await deleteHubSetting(tx, LINK_SETTING);
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

function linkInvalid(): HubError {
  return new HubError(
    'FIRST_OWNER_LINK_INVALID',
    'The first-owner link was used or is not the latest one: if this hub has no owner yet, ' +
      'restart it, and it prints a new link.',
  );
}
