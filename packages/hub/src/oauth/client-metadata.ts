import { OauthError } from './oauth-error.ts';
import { parseRedirectUri } from './policy.ts';

/** The words of a client about itself, registered or in its document (RFC 7591, section 2). */
export interface ClientMetadata {
  /** Only in a document. */
  clientId: string | null;
  /** Null: it has none. */
  name: string | null;
  redirectUris: string[];
}

const REDIRECT_URIS_MAX = 20;
const REDIRECT_URI_CHARS_MAX = 2_000;
const NAME_CHARS_MAX = 200;

/**
 * Reads the fields that the hub uses. It ignores all others, such as logos, which it never loads.
 *
 * @throws OauthError invalid_client_metadata, invalid_redirect_uri
 */
export function readClientMetadata(json: unknown): ClientMetadata {
  if (typeof json !== 'object' || json === null) throw unreadable('it must be a JSON object');
  const fields = json as Readonly<Record<string, unknown>>;
  const { client_id: clientId, client_name: name, redirect_uris: uris } = fields;
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > REDIRECT_URIS_MAX) {
    throw new OauthError('invalid_redirect_uri', 'redirect_uris must be a list of 1 to 20');
  }
  return {
    clientId: typeof clientId === 'string' ? clientId : null,
    name:
      typeof name === 'string' && name !== '' ? name.slice(0, NAME_CHARS_MAX).toWellFormed() : null,
    redirectUris: uris.map(checkRedirectUri),
  };
}

function checkRedirectUri(uri: unknown): string {
  if (typeof uri === 'string' && uri.length <= REDIRECT_URI_CHARS_MAX && parseRedirectUri(uri)) {
    return uri;
  }
  const allowed = 'https, or http on 127.0.0.1, [::1] or localhost, without a fragment';
  throw new OauthError('invalid_redirect_uri', `each of redirect_uris must be ${allowed}`);
}

function unreadable(why: string): OauthError {
  return new OauthError('invalid_client_metadata', why);
}
