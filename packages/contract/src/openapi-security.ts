import type { EndpointAuth } from './endpoint.ts';
import { INTEGRATION_SECRET_HEADER } from './endpoints/integrations.ts';
import type { JsonValue } from './openapi-schemas.ts';

/** The query parameter that holds the signature of a signed URL. */
export const SIGNATURE_PARAMETER = 'signature';

const schemes = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description:
      'A device token (sbx_d_…, from a device login), a service-principal token (sbx_s_…, minted ' +
      'by an operator) or the token of one job (sbx_j_…, from its claim). A hub started with ' +
      'SVC_DEV_ALLOW_UNAUTH=true also accepts requests without a token.',
  },
  'integration-secret': {
    type: 'apiKey',
    in: 'header',
    name: INTEGRATION_SECRET_HEADER,
    description:
      'The value of SVC_INTEGRATION_EVENT_SECRET. While it is unset, every call is refused.',
  },
  'chat-signature': {
    type: 'apiKey',
    in: 'header',
    name: 'x-slack-signature',
    description:
      'v0=… : HMAC-SHA-256 with SVC_CHAT_SIGNING_SECRET over v0, the timestamp header and the ' +
      'raw body, joined by colons.',
  },
  'signed-url': {
    type: 'apiKey',
    in: 'query',
    name: SIGNATURE_PARAMETER,
    description: 'Part of the URL from the hub; valid for 10 minutes and for that URL only.',
  },
} as const;

const schemeNames: Record<keyof typeof schemes, string> = {
  bearer: 'bearerToken',
  'integration-secret': 'integrationSecret',
  'chat-signature': 'chatSignature',
  'signed-url': 'signedUrl',
};

/** Console endpoints are not part of the machine-to-machine interface. */
function assertPublic(auth: EndpointAuth): asserts auth is Exclude<EndpointAuth, 'session'> {
  if (auth === 'session') throw new Error('A console endpoint does not belong in openapi.json');
}

/** The `security` of an operation; empty without authentication. */
export function describeSecurity(auth: EndpointAuth): JsonValue {
  assertPublic(auth);
  return auth === 'none' ? [] : [{ [schemeNames[auth]]: [] }];
}

/** `components.securitySchemes` for the given kinds of authentication. */
export function describeSecuritySchemes(auths: ReadonlySet<EndpointAuth>): JsonValue {
  const used = (Object.keys(schemes) as (keyof typeof schemes)[]).filter((auth) => auths.has(auth));
  return Object.fromEntries(used.map((auth) => [schemeNames[auth], { ...schemes[auth] }]));
}
