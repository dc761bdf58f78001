import type { Reader, Tx } from '../../db/engine.ts';
import { deleteRows, upsertRow } from '../../db/row-write.ts';
import { allColumns } from '../../db/schema/columns.ts';
import type { MailAccountsTable } from '../../db/schema/context.ts';

export type MailAccountRow = MailAccountsTable;

/** A mail account without its secret. */
export type MailAccountHead = Omit<MailAccountRow, 'sealed_secret'>;

const headColumns = `workspace_id, account_id, name, host, port, tls_mode, ca_certificate, user_name,
  auth_kind, mailboxes, created_by, created_at, updated_at`;

export function readMailAccount(
  reader: Reader,
  workspaceId: string,
  accountId: string,
): Promise<MailAccountRow | undefined> {
  return reader.firstSql<MailAccountRow>(
    `SELECT ${allColumns.mail_accounts} FROM mail_accounts WHERE workspace_id = ? AND account_id = ?`,
    [workspaceId, accountId],
  );
}

export async function hasMailAccountName(
  reader: Reader,
  workspaceId: string,
  name: string,
  exceptAccountId: string,
): Promise<boolean> {
  const row = await reader.firstSql(
    'SELECT 1 FROM mail_accounts WHERE workspace_id = ? AND name = ? AND account_id <> ?',
    [workspaceId, name, exceptAccountId],
  );
  return row !== undefined;
}

export function listMailAccountHeads(
  reader: Reader,
  workspaceId: string,
): Promise<MailAccountHead[]> {
  return reader.allSql<MailAccountHead>(
    `SELECT ${headColumns} FROM mail_accounts WHERE workspace_id = ? ORDER BY name`,
    [workspaceId],
  );
}

/** Lists accounts with their encrypted secrets, by name. */
export function listSealedMailAccounts(
  reader: Reader,
  workspaceId: string,
  limit: number,
): Promise<MailAccountRow[]> {
  return reader.allSql<MailAccountRow>(
    `SELECT ${allColumns.mail_accounts} FROM mail_accounts WHERE workspace_id = ? ORDER BY name LIMIT ?`,
    [workspaceId, limit],
  );
}

export async function writeMailAccount(tx: Tx, row: MailAccountRow): Promise<void> {
  await upsertRow(tx, 'mail_accounts', row, ['workspace_id', 'account_id']);
}

export async function deleteMailAccountRow(
  tx: Tx,
  workspaceId: string,
  accountId: string,
): Promise<boolean> {
  const changes = await deleteRows(tx, 'mail_accounts', {
    workspace_id: workspaceId,
    account_id: accountId,
  });
  return changes > 0;
}

/** The servers of all workspaces' accounts. */
export function listMailServers(reader: Reader): Promise<{ host: string; port: number }[]> {
  return reader.allSql('SELECT DISTINCT host, port FROM mail_accounts ORDER BY host, port', []);
}
