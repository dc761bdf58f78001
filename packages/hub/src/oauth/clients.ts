import { randomBytes } from 'node:crypto';
import { addressBlockOf } from '../base/address-block.ts';
import { HubError } from '../base/errors.ts';
import type { PrivateHosts } from '../base/outbound-hosts.ts';
import { NO_WORKSPACE } from '../db/engine.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { fetchClientDocument, isDocumentUrl } from './client-document.ts';
import { readClientMetadata } from './client-metadata.ts';
import { OauthError } from './oauth-error.ts';
import {
  CLIENT_UNUSED_MS,
  REGISTRATIONS_MAX,
  REGISTRATIONS_OF_ADDRESS_MAX,
  REGISTRATIONS_WINDOW_MS,
} from './policy.ts';
import { countClients, insertClient, readClient } from './store.ts';

export interface ClientDeps extends Pick<HubDeps, 'database' | 'clock'> {
  /** `SVC_ALLOW_PRIVATE_HOSTS`. */
  allowed: PrivateHosts;
  log: { error(context: object, message: string): void };
}

/** A program that asks for access. All are public clients: none can keep a secret. */
export interface OauthClient {
  clientId: string;
  /** Proved by its document; null: it has registered itself. */
  host: string | null;
  name: string | null;
  redirectUris: readonly string[];
}

const CLIENT_ID_BYTES = 16;

/** @throws OauthError invalid_client */
export async function findClient(deps: ClientDeps, clientId: string): Promise<OauthClient> {
  if (isDocumentUrl(clientId)) {
    const { name, redirectUris } = await fetchClientDocument(clientId, deps);
    return { clientId, host: new URL(clientId).host, name, redirectUris };
  }
  const { reader } = deps.database;
  const row = await readClient(reader, clientId);
  if (row === undefined || row.expires_at <= deps.clock.nowMs()) {
    throw new OauthError(
      'invalid_client',
      'The hub does not know this client: log in again from the assistant.',
    );
  }
  // insertClient writes only lists of texts.
  const redirectUris = JSON.parse(row.redirect_uris) as string[];
  return { clientId, host: null, name: row.name === '' ? null : row.name, redirectUris };
}

/**
 * Registers a client (RFC 7591, section 3), for hubs that cannot fetch its document. It is public,
 * also if it asked for a secret: the hub may replace what a client asks for (section 3.2.1).
 *
 * @returns the answer.
 * @throws OauthError invalid_client_metadata, invalid_redirect_uri; HubError RATE_LIMITED
 */
export async function registerClient(
  { database }: Pick<ClientDeps, 'database'>,
  json: unknown,
  address: string,
): Promise<object> {
  const { name, redirectUris } = readClientMetadata(json);
  const clientId = `client_${randomBytes(CLIENT_ID_BYTES).toString('hex')}`;
  const addressBlock = addressBlockOf(address);
  const createdAtMs = await database.write(NO_WORKSPACE, async (tx) => {
    const { ofAddress, unused } = await countClients(tx, {
      addressBlock,
      sinceMs: tx.nowMs - REGISTRATIONS_WINDOW_MS,
      endBeforeMs: tx.nowMs + CLIENT_UNUSED_MS,
    });
    if (ofAddress >= REGISTRATIONS_OF_ADDRESS_MAX || unused >= REGISTRATIONS_MAX) {
      throw new HubError('RATE_LIMITED', 'Too many clients have registered: try again later.', {
        retryAfterMs: REGISTRATIONS_WINDOW_MS,
      });
    }
    insertClient(tx, {
      client_id: clientId,
      name: name ?? '',
      redirect_uris: JSON.stringify(redirectUris),
      address_block: addressBlock,
      expires_at: tx.nowMs + CLIENT_UNUSED_MS,
    });
    return tx.nowMs;
  });
  return {
    client_id: clientId,
    client_id_issued_at: Math.floor(createdAtMs / 1_000),
    ...(name === null ? {} : { client_name: name }),
    redirect_uris: redirectUris,
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  };
}
