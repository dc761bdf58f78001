import assert from 'node:assert/strict';
import { hash, randomBytes } from 'node:crypto';
import { type AssistantScope, consoleEndpoints } from '@signalbox/contract';
import type { Visitor } from './visitor.ts';

const { assistantConsents } = consoleEndpoints;

export const REDIRECT_URI = 'http://127.0.0.1:4711/callback';

/** An answer of the token endpoint or of registration. */
export interface OauthAnswer {
  status: number;
  body: Record<string, unknown>;
}

/** A login that an assistant has. */
export interface AssistantLogin {
  accessToken: string;
  refreshToken: string;
  clientId: string;
  answer: Record<string, unknown>;
}

export interface AskOptions {
  baseUrl: string;
  /** Default: one that registers itself. */
  clientId?: string;
  /** Parameters that differ; null leaves one out. */
  params?: Readonly<Record<string, string | null>>;
}

/** An authorization request, and the secret that proves it later. */
export async function makeRequest({ baseUrl, clientId, params = {} }: AskOptions) {
  const verifier = randomBytes(32).toString('base64url');
  const id = clientId ?? (await registerTestClient(baseUrl));
  const all: Record<string, string | null> = {
    response_type: 'code',
    client_id: id,
    redirect_uri: REDIRECT_URI,
    code_challenge: hash('sha256', verifier, 'base64url'),
    code_challenge_method: 'S256',
    resource: `${baseUrl}/mcp`,
    state: 'k3',
    ...params,
  };
  const kept = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null);
  return { query: new URLSearchParams(kept).toString(), verifier, clientId: id };
}

export async function registerTestClient(baseUrl: string): Promise<string> {
  const { body } = await postJson(`${baseUrl}/oauth/register`, {
    client_name: 'Test assistant',
    redirect_uris: ['http://127.0.0.1/callback', 'https://app.example/cb'],
    token_endpoint_auth_method: 'none',
  });
  assert.ok(typeof body.client_id === 'string', JSON.stringify(body));
  return body.client_id;
}

/** Has a person allow a request. Returns the parameters of the answer. */
export async function allow(
  browser: Visitor,
  workspaceId: string,
  query: string,
  scopes: AssistantScope[] = ['read'],
): Promise<URLSearchParams> {
  const answer = { query, decision: 'allow' as const, workspaceId, scopes };
  const { redirectTo } = await browser.call(assistantConsents.answer, answer);
  return new URL(redirectTo).searchParams;
}

/** The form that exchanges a code. */
export function codeForm(
  request: Awaited<ReturnType<typeof makeRequest>>,
  code: string | null,
): Record<string, string> {
  assert.ok(code !== null);
  return {
    grant_type: 'authorization_code',
    code,
    redirect_uri: REDIRECT_URI,
    client_id: request.clientId,
    code_verifier: request.verifier,
  };
}

/** Logs an assistant in as a person who allows it. */
export async function logAssistantIn(
  baseUrl: string,
  browser: Visitor,
  workspaceId: string,
  scopes: AssistantScope[] = ['read'],
): Promise<AssistantLogin> {
  const request = await makeRequest({ baseUrl });
  const code = (await allow(browser, workspaceId, request.query, scopes)).get('code');
  const { status, body } = await postForm(`${baseUrl}/oauth/token`, codeForm(request, code));
  assert.equal(status, 200, JSON.stringify(body));
  return loginOf(request.clientId, body);
}

export function loginOf(clientId: string, answer: Record<string, unknown>): AssistantLogin {
  const accessToken = String(answer.access_token);
  return { accessToken, refreshToken: String(answer.refresh_token), clientId, answer };
}

export function refreshOf(
  baseUrl: string,
  { refreshToken, clientId }: Pick<AssistantLogin, 'refreshToken' | 'clientId'>,
  more: Record<string, string> = {},
): Promise<OauthAnswer> {
  const form = { grant_type: 'refresh_token', refresh_token: refreshToken, client_id: clientId };
  return postForm(`${baseUrl}/oauth/token`, { ...form, ...more });
}

export async function postForm(url: string, form: Record<string, string>): Promise<OauthAnswer> {
  const response = await fetch(url, { method: 'POST', body: new URLSearchParams(form) });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

export async function postJson(url: string, body: object): Promise<OauthAnswer> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}
