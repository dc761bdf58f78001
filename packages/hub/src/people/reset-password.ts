import {
  type consoleEndpoints,
  PASSWORD_RESET_MS,
  type PasswordResetStatus,
  type RequestInput,
} from '@signalbox/contract';
import { listMembershipsOfPerson, readRole } from '../access/store.ts';
import { appendAccountAudit, appendAudit } from '../audit/append.ts';
import { assert, HubError, invalidField } from '../base/errors.ts';
import type { RequestContext } from '../base/principal.ts';
import type { Reader, Tx } from '../db/engine.ts';
import { deleteRows, insertRow, sql } from '../db/row-write.ts';
import { type HookDeps, runHooks } from '../start/hooks.ts';
import type { TokenCache } from '../tokens/cache.ts';
import type { PeopleDeps } from './deps.ts';
import { refuseSharedPassword } from './find-account.ts';
import { drawLinkToken, hashLinkToken } from './link-token.ts';
import { hashNewPassword } from './passwords.ts';
import { beginSession, findSession } from './sessions.ts';
import { endSignInLinks, SIGN_IN_LINKS_SCOPE } from './sign-in-link.ts';
import {
  foldEmail,
  listPeopleByEmail,
  type PersonRow,
  readPerson,
  revokeOtherSessions,
  updatePasswordHash,
} from './store.ts';
import {
  markPasswordResetsReplaced,
  markPasswordResetUsed,
  type PasswordResetRow,
  readPasswordReset,
} from './store-password-resets.ts';
import { writeAccount } from './write-account.ts';

/** How long an expired link is kept, so that its page can say why it does not work. */
const EXPIRED_KEPT_MS = 30 * 24 * 60 * 60 * 1_000;

export interface PasswordResetDeps extends PeopleDeps, HookDeps {
  tokenCache: Pick<TokenCache, 'clear'>;
}

type SetPasswordInput = RequestInput<typeof consoleEndpoints.passwordResets.setPassword.request>;
type Origin = Pick<RequestContext, 'address' | 'userAgent' | 'cookies'>;

/**
 * Sets the password of the person whom a link is for, and signs them in: the holder of the link
 * chooses the password, so signing in with it would prove nothing more.
 *
 * Somebody else may have known the old password. So all other access that the account gave ends in
 * the same transaction: sessions and sign-in links here; device tokens, service tokens that the
 * person created, and open invitations that they created by `onPasswordReset`.
 *
 * @returns the person, and the secret for the session's cookie.
 * @throws HubError PASSWORD_RESET_LINK_INVALID; RATE_LIMITED; INVALID_REQUEST, if it is common.
 */
export async function setPasswordByReset(
  deps: PasswordResetDeps,
  { linkToken, newPassword }: SetPasswordInput,
  origin: Origin,
): Promise<{ person: PersonRow; secret: string }> {
  const { database, clock, tokenCache, hooks } = deps;
  const linkHash = hashLinkToken(linkToken);
  const reset = await readPasswordReset(database.reader, linkHash);
  // Check before hashing, so that anonymous callers cannot make the hub hash passwords.
  if (reset === undefined || judgeReset(reset, clock.nowMs()) !== 'open') throw linkInvalid();
  const { person_id: personId } = reset;
  const known = await requirePerson(database.reader, personId);
  await refuseSharedPassword(deps, known, newPassword);
  const to = await hashNewPassword(deps, newPassword, { person: known, path: '/newPassword' });
  const previous = await findSession(deps, origin.cookies);
  return writeAccount(
    database,
    personId,
    async (tx) => {
      // Of several concurrent requests with one link, the first uses it up.
      if (!(await markPasswordResetUsed(tx, linkHash))) throw linkInvalid();
      const person = await requirePerson(tx, personId);
      await updatePasswordHash(tx, personId, { from: person.password_hash, to });
      const { sessionId, secret } = await beginSession(deps, tx, personId, origin, previous);
      const sessionsEnded = await revokeOtherSessions(tx, personId, sessionId);
      await endSignInLinks(tx);
      await appendAccountAudit(tx, personId, {
        action: 'password-reset.use',
        subject: personId,
        data: { address: origin.address, sessionsEnded },
      });
      await runHooks(hooks.onPasswordReset, deps, tx, { personId });
      tx.afterCommit(() => tokenCache.clear());
      return { person, secret };
    },
    [SIGN_IN_LINKS_SCOPE],
  );
}

export interface CheckedPasswordReset {
  status: PasswordResetStatus;
  /** The person's address and the end of the link; null unless the link is open. */
  open: { email: string; expiresAtMs: number } | null;
}

/** Says whether a link can be used, and for whom it is. Does not use it up. */
export async function checkPasswordReset(
  { database: { reader }, clock }: Pick<PeopleDeps, 'database' | 'clock'>,
  linkToken: string,
): Promise<CheckedPasswordReset> {
  const reset = await readPasswordReset(reader, hashLinkToken(linkToken));
  if (reset === undefined) return { status: 'unknown', open: null };
  const status = judgeReset(reset, clock.nowMs());
  if (status !== 'open') return { status, open: null };
  const { email } = await requirePerson(reader, reset.person_id);
  return { status, open: { email, expiresAtMs: reset.expires_at } };
}

function judgeReset(
  { used_at, replaced_at, expires_at }: PasswordResetRow,
  nowMs: number,
): Exclude<PasswordResetStatus, 'unknown'> {
  if (used_at !== null) return 'used';
  if (replaced_at !== null) return 'replaced';
  return expires_at > nowMs ? 'open' : 'expired';
}

async function requirePerson(reader: Reader, personId: string): Promise<PersonRow> {
  const person = await readPerson(reader, personId);
  assert(person !== undefined, 'people are never deleted');
  return person;
}

function linkInvalid(): HubError {
  return new HubError('PASSWORD_RESET_LINK_INVALID');
}

export interface CreatedPasswordReset {
  person: PersonRow;
  /** Shown once; the hub stores only its hash. */
  linkToken: string;
  expiresAtMs: number;
}

interface ResetDraft {
  email: string;
  /** Says which account is meant when several have the address. */
  workspaceId?: string | undefined;
  createdBy: string;
}

/**
 * Creates a link for a person who has lost their password. It replaces their open link.
 *
 * @returns null if no person has the address.
 * @throws HubError INVALID_REQUEST when several accounts have it.
 */
export async function createPasswordReset(
  tx: Tx,
  { email, workspaceId, createdBy }: ResetDraft,
): Promise<CreatedPasswordReset | null> {
  const person = await findOnly(tx, await listPeopleByEmail(tx, foldEmail(email)), workspaceId);
  if (person === null) return null;
  const { person_id: personId } = person;
  const isOld = sql('expires_at < ?', tx.nowMs - EXPIRED_KEPT_MS);
  await deleteRows(tx, 'password_resets', { also: isOld });
  const replaced = await markPasswordResetsReplaced(tx, personId);
  const linkToken = drawLinkToken();
  const expiresAtMs = tx.nowMs + PASSWORD_RESET_MS;
  insertRow(tx, 'password_resets', {
    link_hash: hashLinkToken(linkToken),
    person_id: personId,
    created_by: createdBy,
    created_at: tx.nowMs,
    expires_at: expiresAtMs,
    used_at: null,
    replaced_at: null,
  });
  for (const { workspace_id } of await listMembershipsOfPerson(tx, personId)) {
    await appendAudit(tx, {
      workspaceId: workspace_id,
      actor: createdBy,
      action: 'password-reset.create',
      subject: personId,
      data: { email: person.email, replaced },
    });
  }
  return { person, linkToken, expiresAtMs };
}

/** @throws HubError INVALID_REQUEST when several accounts have the address. */
async function findOnly(
  tx: Tx,
  accounts: readonly PersonRow[],
  workspaceId: string | undefined,
): Promise<PersonRow | null> {
  const found: PersonRow[] = [];
  for (const account of accounts) {
    const isMember =
      workspaceId === undefined || (await readRole(tx, account.person_id, workspaceId)) !== null;
    if (isMember) found.push(account);
  }
  if (found.length <= 1) return found[0] ?? null;
  throw invalidField(
    '/email',
    `belongs to ${found.length} accounts: name a workspace of one of them`,
  );
}

/** The URL to send. The token is in the fragment, which browsers do not send to servers. */
export function passwordResetUrl(baseUrl: string, linkToken: string): string {
  return new URL(`/reset-password#token=${linkToken}`, baseUrl).href;
}
