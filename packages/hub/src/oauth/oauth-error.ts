/** A refusal in the form of RFC 6749, section 5.2, which RFC 7591 and RFC 7009 share. */
export class OauthError extends Error {
  readonly code:
    | 'invalid_request'
    | 'invalid_client'
    | 'invalid_grant'
    | 'invalid_scope'
    | 'invalid_target'
    | 'unsupported_grant_type'
    | 'invalid_redirect_uri'
    | 'invalid_client_metadata';

  constructor(code: OauthError['code'], message: string) {
    super(message);
    this.name = 'OauthError';
    this.code = code;
  }
}
