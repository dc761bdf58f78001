import type { Reader, Tx } from '../db/engine.ts';
import { sql, updateRows } from '../db/row-write.ts';
import { allColumns } from '../db/schema/columns.ts';
import type { IntegrationSecretsTable } from '../db/schema/integrations.ts';

export type IntegrationSecretRow = IntegrationSecretsTable;

/** The live secrets of a workspace, oldest first. */
export function listIntegrationSecrets(
  reader: Reader,
  workspaceId: string,
): Promise<IntegrationSecretRow[]> {
  return reader.allSql<IntegrationSecretRow>(
    `SELECT ${allColumns.integration_secrets} FROM integration_secrets WHERE workspace_id = ? AND revoked_at IS NULL
     ORDER BY secret_id`,
    [workspaceId],
  );
}

/** Reads a live secret by its hash alone: the secret determines the workspace. */
export function readIntegrationSecret(
  reader: Reader,
  secretHash: string,
): Promise<IntegrationSecretRow | undefined> {
  return reader.firstSql<IntegrationSecretRow>(
    `SELECT ${allColumns.integration_secrets} FROM integration_secrets WHERE secret_hash = ? AND revoked_at IS NULL`,
    [secretHash],
  );
}

/** Revokes a secret. Returns false if it does not exist or was revoked already. */
export async function markIntegrationSecretRevoked(
  tx: Tx,
  workspaceId: string,
  secretId: string,
): Promise<boolean> {
  const changes = await updateRows(
    tx,
    'integration_secrets',
    { workspace_id: workspaceId, secret_id: secretId, revoked_at: null },
    { revoked_at: tx.nowMs },
  );
  return changes > 0;
}

/** Records a use, unless a recent one is recorded. */
export async function recordSecretUse(
  tx: Tx,
  { workspace_id, secret_id }: IntegrationSecretRow,
  before: number,
): Promise<void> {
  const isOlder = sql('last_used_at IS NULL OR last_used_at < ?', before);
  await updateRows(
    tx,
    'integration_secrets',
    { workspace_id, secret_id, also: isOlder },
    { last_used_at: tx.nowMs },
  );
}

/** The live secrets of all workspaces. */
export function listAllIntegrationSecrets(reader: Reader): Promise<IntegrationSecretRow[]> {
  return reader.allSql<IntegrationSecretRow>(
    `SELECT ${allColumns.integration_secrets} FROM integration_secrets WHERE revoked_at IS NULL
     ORDER BY workspace_id, secret_id`,
    [],
  );
}
