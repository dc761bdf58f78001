import { timingSafeEqual } from 'node:crypto';
import { SIGN_IN_LINK_MS } from '@signalbox/contract';
import { listMembershipsOfPerson } from '../access/store.ts';
import { appendAccountAudit, appendAudit } from '../audit/append.ts';
import { assert, HubError } from '../base/errors.ts';
import type { Reader, Tx } from '../db/engine.ts';
import { deleteHubSetting, readHubSetting, writeHubSetting } from '../db/hub-settings.ts';
import type { PeopleDeps } from './deps.ts';
import { drawLinkToken, hashLinkToken } from './link-token.ts';
import { beginSession, type Cookies, findSession, type Origin } from './sessions.ts';
import { type PersonRow, readPerson } from './store.ts';
import { writeAccount } from './write-account.ts';

/*
 * One-time links that sign a person in without a password. Only the operator creates them, with
 * direct access to the database, which they could change in any case.
 */

/** The hub setting with the open links, the latest last. */
const LINKS_SETTING = 'sign_in_links';
/** The scope of writes on it. */
export const SIGN_IN_LINKS_SCOPE = 'sign-in-links';
/** Further links replace the oldest ones. */
const LINKS_MAX = 16;

interface OpenLink {
  hash: string;
  personId: string;
  expiresAtMs: number;
}

/**
 * Creates a link for a person. The caller's scope has `SIGN_IN_LINKS_SCOPE` and the person's
 * workspaces.
 *
 * @returns the link's token.
 */
export async function createSignInLink(
  tx: Tx,
  { personId, createdBy }: { personId: string; createdBy: string },
): Promise<string> {
  const linkToken = drawLinkToken();
  const expiresAtMs = tx.nowMs + SIGN_IN_LINK_MS;
  const link = { hash: hashLinkToken(linkToken), personId, expiresAtMs };
  const open = await readOpenLinks(tx, tx.nowMs);
  await writeLinks(tx, [...open, link].slice(-LINKS_MAX));
  for (const { workspace_id: workspaceId } of await listMembershipsOfPerson(tx, personId)) {
    const entry = { workspaceId, actor: createdBy, subject: personId };
    await appendAudit(tx, { ...entry, action: 'sign-in-link.create' });
  }
  return linkToken;
}

/**
 * Uses up a link and starts a session. Ends the session of the request's cookie, if any.
 *
 * @returns the person, and the secret for the cookie.
 * @throws HubError SIGN_IN_LINK_INVALID
 */
export async function signInByLink(
  deps: PeopleDeps,
  linkToken: string,
  origin: Origin,
  cookies: Cookies,
): Promise<{ person: PersonRow; secret: string }> {
  const { database, clock } = deps;
  const found = findLink(await readOpenLinks(database.reader, clock.nowMs()), linkToken);
  if (found === undefined) throw new HubError('SIGN_IN_LINK_INVALID');
  const { personId } = found;
  const previous = await findSession(deps, cookies);
  return writeAccount(
    database,
    personId,
    async (tx) => {
      const open = await readOpenLinks(tx, tx.nowMs);
      // Of several concurrent requests with one link, the first uses it up.
      const link = findLink(open, linkToken);
      if (link === undefined) throw new HubError('SIGN_IN_LINK_INVALID');
      await writeLinks(
        tx,
        open.filter(({ hash }) => hash !== link.hash),
      );
      const person = await readPerson(tx, personId);
      assert(person !== undefined, 'people are never deleted');
      const { sessionId, secret } = await beginSession(deps, tx, personId, origin, previous);
      await appendAccountAudit(tx, personId, {
        action: 'session.sign-in',
        subject: sessionId,
        data: { address: origin.address, by: 'link' },
      });
      return { person, secret };
    },
    [SIGN_IN_LINKS_SCOPE],
  );
}

/** Ends the open links of all people. */
export function endSignInLinks(tx: Tx): Promise<void> {
  return deleteHubSetting(tx, LINKS_SETTING);
}

/** The URL to print. The token is in the fragment, which browsers do not send to servers. */
export function signInLinkUrl(baseUrl: string, linkToken: string): string {
  return new URL(`/sign-in-link#token=${linkToken}`, baseUrl).href;
}

function findLink(open: readonly OpenLink[], linkToken: string): OpenLink | undefined {
  const actual = Buffer.from(hashLinkToken(linkToken));
  return open.find(({ hash }) => timingSafeEqual(actual, Buffer.from(hash)));
}

async function readOpenLinks(reader: Reader, nowMs: number): Promise<OpenLink[]> {
  const text = await readHubSetting(reader, LINKS_SETTING);
  // Only `writeLinks` writes the setting.
  const links = text === null ? [] : (JSON.parse(text) as OpenLink[]);
  return links.filter(({ expiresAtMs }) => expiresAtMs > nowMs);
}

function writeLinks(tx: Tx, links: readonly OpenLink[]): Promise<void> {
  if (links.length === 0) return deleteHubSetting(tx, LINKS_SETTING);
  return writeHubSetting(tx, LINKS_SETTING, JSON.stringify(links));
}
