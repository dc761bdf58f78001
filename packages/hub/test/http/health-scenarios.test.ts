import assert from 'node:assert/strict';
import { endpoints } from '@signalbox/contract';
import { runScenarios } from '../support/api-scenario.ts';
import { CANARY } from '../support/api-world.ts';

const { health, workspaces, tokens } = endpoints;

runScenarios('health, description and plain HTTP', [
  {
    name: 'health needs no token',
    endpoint: health.health,
    credential: 'none',
    expect: { body: { ok: true }, check: (body) => assert.deepEqual(body, { ok: true }) },
  },
  {
    name: 'health ignores a bad token',
    endpoint: health.health,
    credential: 'malformed',
    expect: {},
  },
  {
    name: 'the description needs no token and is not wrapped in ok',
    endpoint: health.openapi,
    credential: 'none',
    expect: { body: { openapi: '3.1.1' }, check: (body) => assert.ok(!('ok' in body)) },
  },
  {
    name: 'a POST to health is 405 with Allow',
    endpoint: { method: 'POST', path: health.health.path },
    body: {},
    expect: { error: 'METHOD_NOT_ALLOWED', headers: { allow: 'GET' } },
  },
  {
    name: 'a GET of a call is 405 with Allow, even without a token',
    endpoint: { method: 'GET', path: workspaces.resolve.path },
    credential: 'none',
    expect: { error: 'METHOD_NOT_ALLOWED', headers: { allow: 'POST' } },
  },
  {
    name: 'an unknown path is 404 with a link to the list of paths',
    endpoint: { method: 'POST', path: '/control-plane/v1/jobs/steal' },
    body: {},
    expect: { error: 'NOT_FOUND', contains: ['/control-plane/openapi.json'] },
  },
  {
    name: 'a path with a trailing slash is unknown',
    endpoint: { method: 'POST', path: `${workspaces.resolve.path}/` },
    body: {},
    expect: { error: 'NOT_FOUND' },
  },
  {
    name: 'the page of another site may not read the answer',
    endpoint: health.health,
    headers: { origin: 'https://evil.example' },
    expect: {
      headers: { 'access-control-allow-origin': null, 'x-content-type-options': 'nosniff' },
    },
  },
]);

runScenarios('workspaces/resolve', [
  {
    name: 'finds the workspace of the token by its slug',
    endpoint: workspaces.resolve,
    body: { slug: 'home' },
    expect: {
      body: ({ home }) => ({
        workspaceId: home.workspaceId,
        workspace: { workspaceId: home.workspaceId, slug: 'home', name: 'home' },
      }),
    },
  },
  {
    name: 'finds it with a token of any scope',
    endpoint: workspaces.resolve,
    credential: 'integrateOnly',
    body: { slug: 'home' },
    expect: { contains: ['"slug":"home"'] },
  },
  {
    name: 'finds nothing under an unknown slug, without an error',
    endpoint: workspaces.resolve,
    body: { slug: 'nowhere' },
    expect: { body: { workspaceId: null, workspace: null } },
  },
  {
    name: 'finds nothing where the token has no access',
    endpoint: workspaces.resolve,
    body: { slug: CANARY },
    expect: { body: { workspaceId: null, workspace: null } },
  },
  {
    name: 'accepts any text as a slug, even an invalid slug',
    endpoint: workspaces.resolve,
    body: { slug: 'Not A Slug!' },
    expect: { body: { workspaceId: null } },
  },
  {
    name: 'is case-sensitive',
    endpoint: workspaces.resolve,
    body: { slug: 'HOME' },
    expect: { body: { workspaceId: null } },
  },
  {
    name: 'refuses a request without a slug and names the field',
    endpoint: workspaces.resolve,
    body: {},
    expect: {
      error: 'INVALID_REQUEST',
      body: { details: [{ path: '/slug', message: 'is required' }] },
    },
  },
  {
    name: 'refuses a slug that is not a string',
    endpoint: workspaces.resolve,
    body: { slug: 7 },
    expect: { error: 'INVALID_REQUEST', contains: ['/slug'] },
  },
  {
    name: 'refuses a request without a token',
    endpoint: workspaces.resolve,
    credential: 'none',
    body: { slug: 'home' },
    expect: { error: 'TOKEN_MISSING', headers: { 'www-authenticate': 'Bearer' } },
  },
  {
    name: 'reports an unknown field and answers the request',
    endpoint: workspaces.resolve,
    body: { slug: 'home', slugg: 'x' },
    expect: { headers: { 'x-ignored-fields': 'slugg' } },
  },
]);

runScenarios('auth/token', [
  {
    name: 'whoami identifies the principal and does not return the token',
    endpoint: tokens.whoami,
    body: {},
    expect: {
      body: ({ home }) => ({
        kind: 'service',
        principalId: 'service:test',
        workspaceId: home.workspaceId,
        workspaceSlug: 'home',
        scopes: ['agent', 'enqueue', 'read', 'decide', 'integrate'],
      }),
      absent: ({ home }) => [home.token],
    },
  },
  {
    name: 'whoami of a job token has the kind job and only the scopes of such a token',
    endpoint: tokens.whoami,
    credential: 'otherJob',
    body: {},
    expect: { body: { kind: 'job', scopes: ['agent', 'read'] } },
  },
  {
    name: 'whoami of a viewer’s machine has only the scope read',
    endpoint: tokens.whoami,
    credential: 'viewer',
    body: {},
    expect: { body: { kind: 'device', scopes: ['read'] } },
  },
  {
    name: 'a job token cannot be revoked, because it ends with its lease',
    endpoint: tokens.revoke,
    credential: 'otherJob',
    body: {},
    expect: { error: 'NOT_ALLOWED', contains: ['lease'] },
  },
  {
    name: 'revoke needs nothing but the header',
    endpoint: tokens.revoke,
    credential: 'decideOnly',
    expect: { body: { revoked: true } },
  },
  {
    name: 'the same token is refused afterwards',
    endpoint: tokens.revoke,
    credential: 'decideOnly',
    expect: { error: 'TOKEN_REVOKED' },
  },
  {
    name: 'another token of the workspace still works',
    endpoint: tokens.whoami,
    credential: 'readOnly',
    body: {},
    expect: { body: { scopes: ['read'] } },
  },
]);
