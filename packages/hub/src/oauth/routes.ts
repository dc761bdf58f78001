import { consoleEndpoints } from '@signalbox/contract';
import { HubError } from '../base/errors.ts';
import { personIdOf } from '../base/principal.ts';
import type { Api } from '../http/bind.ts';
import { registerClient } from './clients.ts';
import { answerConsent, type ConsentDeps, openConsent } from './consent.ts';
import { type ExchangeDeps, exchangeToken, type Form, revokeByToken } from './exchange.ts';
import {
  AUTHORIZE_PATH,
  CONSENT_PAGE,
  describeResource,
  describeServer,
  REGISTER_PATH,
  REVOKE_PATH,
  resourceMetadataPaths,
  SERVER_METADATA_PATH,
  TOKEN_PATH,
} from './metadata.ts';
import { OauthError } from './oauth-error.ts';

type OauthDeps = ConsentDeps & ExchangeDeps;

/** The hub as the authorization server of its `/mcp`: OAuth 2.1 for people's assistants. */
export function bindOauthRoutes(api: Api, deps: OauthDeps): void {
  for (const path of resourceMetadataPaths) {
    api.bindStandard('GET', path, async () => ({ body: describeResource(deps.baseUrl) }));
  }
  api.bindStandard('GET', SERVER_METADATA_PATH, async () => ({
    body: describeServer(deps.baseUrl),
  }));
  // As a fragment, the query reaches the page unchanged.
  api.bindStandard('GET', AUTHORIZE_PATH, async ({ query }) => ({
    redirectTo: `${CONSENT_PAGE}#${query}`,
  }));
  api.bindStandard('POST', TOKEN_PATH, ({ body }) =>
    answer(() => exchangeToken(deps, formOf(body))),
  );
  api.bindStandard('POST', REVOKE_PATH, ({ body }) =>
    answer(() => revokeByToken(deps, formOf(body))),
  );
  api.bindStandard('POST', REGISTER_PATH, ({ body, address }) =>
    answer(() => registerClient(deps, body, address), 201),
  );
  const { assistantConsents } = consoleEndpoints;
  api.bind(assistantConsents.open, ({ query }, { principal }) =>
    openConsent(deps, query, personIdOf(principal)),
  );
  api.bind(assistantConsents.answer, async (input, { principal }) => ({
    redirectTo: await answerConsent(deps, input, personIdOf(principal)),
  }));
}

/** Answers in the form of RFC 6749, section 5. */
async function answer(act: () => Promise<object>, status = 200) {
  try {
    return { status, body: await act() };
  } catch (error) {
    if (!(error instanceof OauthError)) throw error;
    return { status: 400, body: { error: error.code, error_description: error.message } };
  }
}

function formOf(body: unknown): Form {
  const values = typeof body === 'object' && body !== null ? Object.values(body) : [];
  if (values.length > 0 && values.every((value) => typeof value === 'string')) return body as Form;
  throw new HubError('INVALID_REQUEST', 'Send a form: application/x-www-form-urlencoded.');
}
