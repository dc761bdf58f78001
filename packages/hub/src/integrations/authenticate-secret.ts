import type { IncomingHttpHeaders } from 'node:http';
import { INTEGRATION_SECRET_HEADER, parseToken } from '@signalbox/contract';
import type { Clock } from '../base/clock.ts';
import { HubError } from '../base/errors.ts';
import type { Database } from '../db/engine.ts';
import { hashToken } from '../tokens/store.ts';
import { checkIntegrationSecret } from './proofs.ts';
import { readIntegrationSecret, recordSecretUse } from './store-secrets.ts';

interface SecretDeps {
  database: Database;
  clock: Clock;
  /** `SVC_INTEGRATION_EVENT_SECRET`. */
  integrationSecrets: readonly string[];
  log: { error(context: object, message: string): void };
}

/** The precision of `lastUsedAt`, so that not every event writes. */
const LAST_USED_STEP_MS = 60 * 1_000;

/** The workspaces that a secret opens. */
export interface SecretAccess {
  /** Null: the hub's own secret, which opens the workspaces that the operator has set. */
  workspaceId: string | null;
}

/**
 * Checks the secret of an ingest request: one of a workspace, or the hub's own.
 * @throws HubError INTEGRATION_UNAUTHORIZED
 */
export async function authenticateSecret(
  deps: SecretDeps,
  headers: IncomingHttpHeaders,
): Promise<SecretAccess> {
  const sent = headers[INTEGRATION_SECRET_HEADER];
  if (typeof sent !== 'string' || parseToken(sent)?.kind !== 'integration') {
    checkIntegrationSecret(deps.integrationSecrets, headers);
    return { workspaceId: null };
  }
  const { database, clock, log } = deps;
  const row = await readIntegrationSecret(database.reader, hashToken(sent));
  if (row === undefined) {
    throw new HubError(
      'INTEGRATION_UNAUTHORIZED',
      'The integration secret was revoked or does not exist: mint a new one at the console.',
    );
  }
  const before = clock.nowMs() - LAST_USED_STEP_MS;
  if (row.last_used_at === null || row.last_used_at < before) {
    database
      .writeConcurrent({ workspaceId: row.workspace_id, keys: [row.secret_id] }, (tx) =>
        recordSecretUse(tx, row, before),
      )
      .catch((error: unknown) =>
        log.error({ err: error }, 'The last use of an integration secret was not recorded.'),
      );
  }
  return { workspaceId: row.workspace_id };
}
