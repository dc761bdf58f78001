import { randomUUIDv7, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { appendAudit } from '../../audit/append.ts';
import { timestampOf } from '../../base/clock.ts';
import { invalidField } from '../../base/errors.ts';
import { isHostName, isPrivateAddress } from '../../base/outbound-hosts.ts';
import type { Database } from '../../db/engine.ts';
import { sealMailSecret } from './account-secret.ts';
import {
  deleteMailAccountRow,
  hasMailAccountName,
  listMailAccountHeads,
  type MailAccountHead,
  type MailAccountRow,
  readMailAccount,
  writeMailAccount,
} from './store.ts';

/** A mail account as the API returns it. The secret never leaves the hub. */
export interface MailAccount {
  accountId: string;
  name: string;
  host: string;
  port: number;
  tlsMode: 'tls' | 'starttls' | 'none';
  caCertificate: string | null;
  userName: string;
  authKind: 'password' | 'oauth';
  mailboxes: string[];
  createdAt: string;
  updatedAt: string;
}

export interface MailAccountDraft {
  workspaceId: string;
  /** Replaces this account. Absent for a new one. */
  accountId?: string | undefined;
  /** Unique in the workspace. Agents see it in messages about a failing account. */
  name: string;
  host: string;
  port: number;
  /** `tls` from the first byte; `starttls` before the sign-in; `none` for private hosts only. */
  tlsMode: 'tls' | 'starttls' | 'none';
  /** PEM of a certificate authority to trust in addition to the public ones. */
  caCertificate?: string | null | undefined;
  userName: string;
  authKind: 'password' | 'oauth';
  /**
   * The password or the OAuth access token. Absent: the stored one, but only while host, port, TLS
   * mode, certificate authority, user and kind stay the same. Otherwise a change of the host, or of
   * the authority by someone between, would send the stored secret to another server.
   */
  secret?: string | undefined;
  /** Mailboxes to search. Absent or empty: all mail, or the inbox, sent mail and archive. */
  mailboxes?: string[] | undefined;
}

interface AccountDeps {
  database: Database;
  secretKey: Buffer;
}

const NAME_CHARS_MAX = 100;
const USER_CHARS_MAX = 320;
const SECRET_CHARS_MAX = 10_000;
const CERTIFICATE_CHARS_MAX = 20_000;
const PORT_MAX = 65_535;
const MAILBOXES_MAX = 5;
const MAILBOX_CHARS_MAX = 255;
const ACCOUNTS_MAX = 20;

/**
 * Adds a mail account to a workspace, or replaces one. Audited, without the secret.
 *
 * @param actor the principal's id.
 * @returns null when the workspace has no account `accountId`.
 * @throws HubError INVALID_REQUEST
 */
export async function putMailAccount(
  { database, secretKey }: AccountDeps,
  actor: string,
  draft: MailAccountDraft,
): Promise<MailAccount | null> {
  checkDraft(draft);
  const { workspaceId } = draft;
  const accountId = draft.accountId ?? `mail_${randomUUIDv7().replaceAll('-', '')}`;
  const place = { workspaceId, accountId };
  // Encrypted before the transaction, which should wait for the database only.
  const sealed =
    draft.secret === undefined ? undefined : sealMailSecret(draft.secret, secretKey, place);
  return database.write(workspaceId, async (tx) => {
    const known = await readMailAccount(tx, workspaceId, accountId);
    if (known === undefined && draft.accountId !== undefined) return null;
    if (await hasMailAccountName(tx, workspaceId, draft.name, accountId)) {
      throw invalidField('/name', 'must not be the name of another mail account');
    }
    if (known === undefined) {
      const accounts = await listMailAccountHeads(tx, workspaceId);
      if (accounts.length >= ACCOUNTS_MAX) {
        throw invalidField(
          '',
          `exceeds the limit of ${ACCOUNTS_MAX} mail accounts: delete one first`,
        );
      }
    }
    const row = {
      workspace_id: workspaceId,
      account_id: accountId,
      name: draft.name,
      host: draft.host,
      port: draft.port,
      tls_mode: draft.tlsMode,
      ca_certificate: draft.caCertificate ?? null,
      user_name: draft.userName,
      auth_kind: draft.authKind,
      sealed_secret: sealed ?? keepSecret(draft, known),
      mailboxes: JSON.stringify(draft.mailboxes ?? []),
      created_by: known?.created_by ?? actor,
      created_at: known?.created_at ?? tx.nowMs,
      updated_at: tx.nowMs,
    };
    await writeMailAccount(tx, row);
    const { name, host, port, tlsMode, userName, authKind } = draft;
    await appendAudit(tx, {
      workspaceId,
      actor,
      action: known === undefined ? 'mail-account.create' : 'mail-account.update',
      subject: accountId,
      data: { name, host, port, tlsMode, userName, authKind, newSecret: sealed !== undefined },
    });
    return presentMailAccount(row);
  });
}

/** Deletes an account with its secret. False when it does not exist. */
export function deleteMailAccount(
  { database }: Pick<AccountDeps, 'database'>,
  actor: string,
  where: { workspaceId: string; accountId: string },
): Promise<boolean> {
  const { workspaceId, accountId } = where;
  return database.write(workspaceId, async (tx) => {
    const deleted = await deleteMailAccountRow(tx, workspaceId, accountId);
    if (deleted) {
      const action = 'mail-account.remove';
      await appendAudit(tx, { workspaceId, actor, action, subject: accountId });
    }
    return deleted;
  });
}

/** Lists the accounts of a workspace by name. */
export async function listMailAccounts(
  { database }: Pick<AccountDeps, 'database'>,
  workspaceId: string,
): Promise<MailAccount[]> {
  const rows = await listMailAccountHeads(database.reader, workspaceId);
  return rows.map(presentMailAccount);
}

function presentMailAccount(row: MailAccountHead): MailAccount {
  return {
    accountId: row.account_id,
    name: row.name,
    host: row.host,
    port: row.port,
    tlsMode: row.tls_mode,
    caCertificate: row.ca_certificate,
    userName: row.user_name,
    authKind: row.auth_kind,
    mailboxes: JSON.parse(row.mailboxes) as string[],
    createdAt: timestampOf(row.created_at),
    updatedAt: timestampOf(row.updated_at),
  };
}

function keepSecret(draft: MailAccountDraft, known: MailAccountRow | undefined): string {
  const isSame =
    known !== undefined &&
    known.host === draft.host &&
    known.port === draft.port &&
    known.tls_mode === draft.tlsMode &&
    known.ca_certificate === (draft.caCertificate ?? null) &&
    known.user_name === draft.userName &&
    known.auth_kind === draft.authKind;
  if (isSame) return known.sealed_secret;
  throw invalidField(
    '/secret',
    'must be sent for a new account or when host, port, TLS mode, CA certificate, user or kind ' +
      'change',
  );
}

function checkDraft(draft: MailAccountDraft): void {
  const { host, port, tlsMode } = draft;
  checkLine('/name', draft.name, NAME_CHARS_MAX);
  checkLine('/userName', draft.userName, USER_CHARS_MAX);
  if (draft.secret !== undefined) checkLine('/secret', draft.secret, SECRET_CHARS_MAX);
  if (!isHostName(host)) throw invalidField('/host', 'must be a host name or an IP address');
  if (!Number.isInteger(port) || port < 1 || port > PORT_MAX) {
    throw invalidField('/port', `must be a port from 1 to ${PORT_MAX}`);
  }
  if (tlsMode === 'none' && isIP(host) !== 0 && !isPrivateAddress(host)) {
    throw invalidField('/tlsMode', 'must not be none for a host on the public internet');
  }
  checkCertificate(draft.caCertificate ?? null);
  const mailboxes = draft.mailboxes ?? [];
  if (mailboxes.length > MAILBOXES_MAX) {
    throw invalidField('/mailboxes', `must have at most ${MAILBOXES_MAX} mailboxes`);
  }
  for (const mailbox of mailboxes) checkLine('/mailboxes', mailbox, MAILBOX_CHARS_MAX);
}

function checkLine(path: string, text: string, charsMax: number): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they would end a protocol line.
  if (text.length < 1 || text.length > charsMax || /[\u0000-\u001f\u007f]/.test(text)) {
    throw invalidField(path, `must be 1 to ${charsMax} characters on one line`);
  }
}

function checkCertificate(pem: string | null): void {
  if (pem === null) return;
  try {
    if (pem.length > CERTIFICATE_CHARS_MAX) throw new RangeError('too long');
    new X509Certificate(pem);
  } catch {
    throw invalidField('/caCertificate', 'must be a certificate in PEM format');
  }
}
