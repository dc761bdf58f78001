import { randomUUIDv7, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import {
  type consoleEndpoints,
  MAIL_ACCOUNTS_MAX,
  type MailAccount,
  type RequestInput,
} from '@signalbox/contract';
import { appendAudit } from '../../audit/append.ts';
import { timestampOf } from '../../base/clock.ts';
import { HubError, invalidField } from '../../base/errors.ts';
import { isHostName, isPrivateAddress } from '../../base/outbound-hosts.ts';
import type { Database } from '../../db/engine.ts';
import { deleteRows, upsertRow } from '../../db/row-write.ts';
import { sealMailSecret } from './account-secret.ts';
import {
  hasMailAccountName,
  listMailAccountHeads,
  type MailAccountHead,
  type MailAccountRow,
  readMailAccount,
} from './store.ts';

type PutInput = RequestInput<typeof consoleEndpoints.mailAccounts.put.request>;

interface AccountDeps {
  database: Database;
  secretKey: Buffer;
}

/**
 * Adds a mail account to a workspace, or replaces one. Audited, without the secret.
 *
 * @param actor the principal's id.
 * @throws HubError INVALID_REQUEST, MAIL_ACCOUNT_NOT_FOUND
 */
export async function putMailAccount(
  { database, secretKey }: AccountDeps,
  actor: string,
  draft: PutInput,
): Promise<MailAccount> {
  checkDraft(draft);
  const { workspaceId } = draft;
  const accountId = draft.accountId ?? `mail_${randomUUIDv7().replaceAll('-', '')}`;
  const place = { workspaceId, accountId };
  // Encrypted before the transaction, which should wait for the database only.
  const sealed =
    draft.secret === undefined ? undefined : sealMailSecret(draft.secret, secretKey, place);
  return database.write(workspaceId, async (tx) => {
    const known = await readMailAccount(tx, workspaceId, accountId);
    if (known === undefined && draft.accountId !== undefined) {
      throw new HubError('MAIL_ACCOUNT_NOT_FOUND');
    }
    if (await hasMailAccountName(tx, workspaceId, draft.name, accountId)) {
      throw invalidField('/name', 'must not be the name of another mail account');
    }
    if (known === undefined) {
      const accounts = await listMailAccountHeads(tx, workspaceId);
      if (accounts.length >= MAIL_ACCOUNTS_MAX) {
        const limit = `exceeds the limit of ${MAIL_ACCOUNTS_MAX} mail accounts: delete one first`;
        throw invalidField('', limit);
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
    await upsertRow(tx, 'mail_accounts', row, ['workspace_id', 'account_id']);
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

/** Deletes an account with its secret. @throws HubError MAIL_ACCOUNT_NOT_FOUND */
export function deleteMailAccount(
  { database }: Pick<AccountDeps, 'database'>,
  actor: string,
  { workspaceId, accountId }: { workspaceId: string; accountId: string },
): Promise<void> {
  return database.write(workspaceId, async (tx) => {
    const account = { workspace_id: workspaceId, account_id: accountId };
    const deleted = await deleteRows(tx, 'mail_accounts', account);
    if (deleted === 0) throw new HubError('MAIL_ACCOUNT_NOT_FOUND');
    const action = 'mail-account.remove';
    await appendAudit(tx, { workspaceId, actor, action, subject: accountId });
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

/**
 * The stored secret stays only while host, port, TLS mode, certificate authority, user and kind
 * stay the same. Otherwise a change of the host, or of the authority by someone between, would
 * send it to another server.
 *
 * @throws HubError INVALID_REQUEST
 */
function keepSecret(draft: PutInput, known: MailAccountRow | undefined): string {
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

/** Checks what the schema does not. @throws HubError INVALID_REQUEST */
function checkDraft({ name, userName, secret, host, tlsMode, ...others }: PutInput): void {
  checkLine('/name', name);
  checkLine('/userName', userName);
  checkLine('/secret', secret ?? '');
  if (!isHostName(host)) throw invalidField('/host', 'must be a host name or an IP address');
  if (tlsMode === 'none' && isIP(host) !== 0 && !isPrivateAddress(host)) {
    throw invalidField('/tlsMode', 'must not be none for a host on the public internet');
  }
  checkCertificate(others.caCertificate ?? null);
  for (const mailbox of others.mailboxes ?? []) checkLine('/mailboxes', mailbox);
}

function checkLine(path: string, text: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they would end a protocol line.
  if (/[\u0000-\u001f\u007f]/.test(text)) throw invalidField(path, 'must be on one line');
}

function checkCertificate(pem: string | null): void {
  if (pem === null) return;
  try {
    new X509Certificate(pem);
  } catch {
    throw invalidField('/caCertificate', 'must be a certificate in PEM format');
  }
}
