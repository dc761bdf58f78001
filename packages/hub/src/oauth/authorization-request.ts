import { type AssistantScope, assistantScopes } from '@signalbox/contract';
import { parseForm } from '../http/form-body.ts';
import { type ClientDeps, findClient, type OauthClient } from './clients.ts';
import { resourceOf } from './metadata.ts';
import { OauthError } from './oauth-error.ts';
import { isRedirectUriOf } from './policy.ts';

/** A request that was checked. */
export interface AuthorizationRequest {
  client: OauthClient;
  redirectUri: string;
  scopes: AssistantScope[];
  /** Sent back as it came. */
  state: string | null;
  codeChallenge: string;
}

/** SHA-256 in base64url (RFC 7636, section 4.2). */
const challengePattern = /^[A-Za-z0-9_-]{43}$/;

/**
 * Checks an authorization request (RFC 6749, section 4.1.1) with all that it needs here: PKCE by
 * S256 (RFC 7636) and the resource (RFC 8707).
 *
 * @throws OauthError invalid_request, invalid_client, invalid_target, invalid_scope
 */
export async function checkAuthorizationRequest(
  deps: ClientDeps & { baseUrl: string },
  query: string,
): Promise<AuthorizationRequest> {
  const asked = parseForm(query);
  const read = (name: string) => {
    const value = asked[name];
    if (value === undefined || value === '') throw invalid(`${name} is missing`);
    return value;
  };
  if (read('response_type') !== 'code') throw invalid('response_type must be code');
  if (read('code_challenge_method') !== 'S256') throw invalid('code_challenge_method must be S256');
  const codeChallenge = read('code_challenge');
  if (!challengePattern.test(codeChallenge)) throw invalid('code_challenge is not one of S256');
  if (read('resource') !== resourceOf(deps.baseUrl)) {
    throw new OauthError('invalid_target', `The resource must be ${resourceOf(deps.baseUrl)}.`);
  }
  const redirectUri = read('redirect_uri');
  const client = await findClient(deps, read('client_id'));
  if (!isRedirectUriOf(client.redirectUris, redirectUri)) {
    throw invalid('the client has not named this redirect_uri');
  }
  const scopes = scopesIn(asked.scope);
  return { client, redirectUri, scopes, state: asked.state ?? null, codeChallenge };
}

/** Those that the hub knows; all, for the person to choose, if none is named. */
function scopesIn(text: string | undefined): AssistantScope[] {
  if (text === undefined || text === '') return [...assistantScopes];
  const asked = new Set(text.split(' '));
  const scopes = assistantScopes.filter((scope) => asked.has(scope));
  if (scopes.length > 0) return scopes;
  throw new OauthError('invalid_scope', `The scopes are ${assistantScopes.join(', ')}.`);
}

function invalid(why: string): OauthError {
  return new OauthError('invalid_request', `The request of the assistant is not valid: ${why}.`);
}
