import type { Reader } from '../../db/engine.ts';
import { allColumns, columnsWithout } from '../../db/schema/columns.ts';
import type { MailAccountsTable } from '../../db/schema/context.ts';

export type MailAccountRow = MailAccountsTable;

/** A mail account without its secret. */
export type MailAccountHead = Omit<MailAccountRow, 'sealed_secret'>;

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
    `SELECT ${columnsWithout('mail_accounts', ['sealed_secret'])} FROM mail_accounts
     WHERE workspace_id = ? ORDER BY name`,
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

/** The servers of all workspaces' accounts. */
export function listMailServers(reader: Reader): Promise<{ host: string; port: number }[]> {
  return reader.allSql('SELECT DISTINCT host, port FROM mail_accounts ORDER BY host, port', []);
}
