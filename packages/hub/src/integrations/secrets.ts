import {
  type consoleEndpoints,
  INTEGRATION_SECRETS_MAX,
  type RequestInput,
} from '@signalbox/contract';
import { requireAct } from '../access/require-act.ts';
import { appendAudit } from '../audit/append.ts';
import { invalidField } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import { insertRow } from '../db/row-write.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { drawToken, hashToken } from '../tokens/store.ts';
import {
  type IntegrationSecretRow,
  listIntegrationSecrets,
  markIntegrationSecretRevoked,
} from './store-secrets.ts';

type MintInput = RequestInput<typeof consoleEndpoints.integrationSecrets.mint.request>;
type SecretRef = RequestInput<typeof consoleEndpoints.integrationSecrets.revoke.request>;

/**
 * Mints a secret that sends events to one workspace. It is shown once; the hub stores its hash.
 * @throws HubError NOT_ALLOWED; INVALID_REQUEST when the workspace has too many.
 */
export function mintIntegrationSecret(
  { database, ids }: Pick<HubDeps, 'database' | 'ids'>,
  principal: Principal,
  { workspaceId, name }: MintInput,
): Promise<{ secret: string; row: IntegrationSecretRow }> {
  return database.write(workspaceId, async (tx) => {
    const { personId } = await requireAct(tx, principal, workspaceId, 'integration-secret.manage');
    if ((await listIntegrationSecrets(tx, workspaceId)).length >= INTEGRATION_SECRETS_MAX) {
      const limit = `exceeds the limit of ${INTEGRATION_SECRETS_MAX} secrets: revoke one first`;
      throw invalidField('', limit);
    }
    const secret = drawToken('integration');
    const row: IntegrationSecretRow = {
      workspace_id: workspaceId,
      secret_id: ids('integrationSecret'),
      secret_hash: hashToken(secret),
      name,
      created_by: personId,
      created_at: tx.nowMs,
      last_used_at: null,
      revoked_at: null,
    };
    insertRow(tx, 'integration_secrets', row);
    const entry = { workspaceId, actor: personId, action: 'integration-secret.mint' };
    await appendAudit(tx, { ...entry, subject: row.secret_id, data: { name } });
    return { secret, row };
  });
}

/** @throws HubError NOT_ALLOWED */
export async function listSecrets(
  { database: { reader } }: Pick<HubDeps, 'database'>,
  principal: Principal,
  workspaceId: string,
): Promise<IntegrationSecretRow[]> {
  await requireAct(reader, principal, workspaceId, 'integration-secret.manage');
  return listIntegrationSecrets(reader, workspaceId);
}

/** @returns false if the workspace has no such live secret. @throws HubError NOT_ALLOWED */
export function revokeIntegrationSecret(
  { database }: Pick<HubDeps, 'database'>,
  principal: Principal,
  { workspaceId, secretId }: SecretRef,
): Promise<boolean> {
  return database.write(workspaceId, async (tx) => {
    const { personId } = await requireAct(tx, principal, workspaceId, 'integration-secret.manage');
    if (!(await markIntegrationSecretRevoked(tx, workspaceId, secretId))) return false;
    const action = 'integration-secret.revoke';
    await appendAudit(tx, { workspaceId, actor: personId, action, subject: secretId });
    return true;
  });
}
