import { assistantScopes } from '@signalbox/contract';

export const AUTHORIZE_PATH = '/oauth/authorize';
/** The page of the console where a person allows an assistant. */
export const CONSENT_PAGE = '/allow-assistant';
export const TOKEN_PATH = '/oauth/token';
export const REVOKE_PATH = '/oauth/revoke';
export const REGISTER_PATH = '/oauth/register';
const RESOURCE_PATH = '/mcp';
const RESOURCE_METADATA_PATH = '/.well-known/oauth-protected-resource';

/** Clients look for the metadata of a resource at both (RFC 9728, section 3.1). */
export const resourceMetadataPaths = [
  RESOURCE_METADATA_PATH,
  `${RESOURCE_METADATA_PATH}${RESOURCE_PATH}`,
];
export const SERVER_METADATA_PATH = '/.well-known/oauth-authorization-server';

/** The name of what the tokens are for (RFC 8707). */
export function resourceOf(baseUrl: string): string {
  return baseUrl + RESOURCE_PATH;
}

/** The name under which the hub issues tokens. */
export function issuerOf(baseUrl: string): string {
  return new URL(baseUrl).origin;
}

/** Protected resource metadata (RFC 9728, section 2). */
export function describeResource(baseUrl: string): object {
  return {
    resource: resourceOf(baseUrl),
    resource_name: 'Signalbox',
    authorization_servers: [issuerOf(baseUrl)],
    scopes_supported: assistantScopes,
    bearer_methods_supported: ['header'],
  };
}

/** Authorization server metadata (RFC 8414, section 2). */
export function describeServer(baseUrl: string): object {
  return {
    issuer: issuerOf(baseUrl),
    authorization_endpoint: baseUrl + AUTHORIZE_PATH,
    token_endpoint: baseUrl + TOKEN_PATH,
    registration_endpoint: baseUrl + REGISTER_PATH,
    revocation_endpoint: baseUrl + REVOKE_PATH,
    scopes_supported: assistantScopes,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    // Without `none`, clients do not use their metadata documents.
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    // RFC 9207.
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
  };
}

/**
 * Tells a caller of `/mcp` where to get a token, or which scopes it lacks (RFC 6750, section 3;
 * RFC 9728, section 5.1).
 */
export function challengeOf(
  baseUrl: string,
  error: 'invalid_token' | 'insufficient_scope' | null,
  scopes: readonly string[] = assistantScopes,
): string {
  const metadata = baseUrl + RESOURCE_METADATA_PATH + RESOURCE_PATH;
  const reason = error === null ? '' : `error="${error}", `;
  return `Bearer ${reason}scope="${scopes.join(' ')}", resource_metadata="${metadata}"`;
}
