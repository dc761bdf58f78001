import assert from 'node:assert/strict';
import { endpoints } from '@signalbox/contract';
import { runScenarios } from '../support/api-scenario.ts';
import { CANARY, type World } from '../support/api-world.ts';

const { repositories } = endpoints;

const hash = 'a'.repeat(64);
/** The hash of a repository in the world's other workspace. */
const canaryHash = Buffer.from(CANARY.padEnd(32, '.').slice(0, 32)).toString('hex');
const inHome = (fields: Record<string, unknown>) => (world: World) => ({
  workspaceId: world.home.workspaceId,
  ...fields,
});

runScenarios('repos/upsert', [
  {
    name: 'creates a record with defaults',
    endpoint: repositories.upsert,
    body: inHome({ remoteUrlHash: hash }),
    expect: {
      body: { created: true, repo: { remoteUrlHash: hash, label: '', status: 'active' } },
    },
  },
  {
    name: 'updates the sent fields and keeps the rest',
    endpoint: repositories.upsert,
    body: inHome({ remoteUrlHash: hash, label: 'acme/api' }),
    expect: { body: { created: false, repo: { label: 'acme/api', status: 'active' } } },
  },
  {
    name: 'archives without touching the label',
    endpoint: repositories.upsert,
    credential: 'agentOnly',
    body: inHome({ remoteUrlHash: hash, status: 'archived' }),
    expect: { body: { created: false, repo: { label: 'acme/api', status: 'archived' } } },
  },
  {
    name: 'creates a separate record when another workspace has the same hash',
    endpoint: repositories.upsert,
    body: inHome({ remoteUrlHash: canaryHash, label: 'ours' }),
    expect: { body: { created: true, repo: { label: 'ours' } } },
  },
  ...[
    ['in upper case', 'A'.repeat(64)],
    ['that is too short', 'a'.repeat(63)],
    ['that is too long', 'a'.repeat(65)],
    ['with a line break at its end', `${hash}\n`],
    ['that is a URL', 'https://github.com/acme/api'],
    ['that is null', null],
  ].map(([what, remoteUrlHash]) => ({
    name: `refuses a hash ${what}`,
    endpoint: repositories.upsert,
    body: inHome({ remoteUrlHash }),
    expect: { error: 'INVALID_REQUEST' as const, contains: ['/remoteUrlHash'] },
  })),
  {
    name: 'refuses an unknown status',
    endpoint: repositories.upsert,
    body: inHome({ remoteUrlHash: hash, status: 'gone' }),
    expect: { error: 'INVALID_REQUEST', contains: ['active, archived'] },
  },
]);

runScenarios('repos/resolve, get and list', [
  {
    name: 'resolve finds nothing under an unknown hash, without an error',
    endpoint: repositories.resolve,
    body: inHome({ remoteUrlHash: hash }),
    expect: { check: (body) => assert.deepEqual(body, { ok: true, repoId: null, repo: null }) },
  },
  {
    name: 'resolve finds nothing under a hash that only another workspace has',
    endpoint: repositories.resolve,
    body: inHome({ remoteUrlHash: canaryHash }),
    expect: { check: (body) => assert.deepEqual(body, { ok: true, repoId: null, repo: null }) },
  },
  {
    name: 'resolve finds a repository of the workspace',
    endpoint: repositories.resolve,
    credential: 'viewer',
    body: inHome({
      remoteUrlHash: Buffer.from('first'.padEnd(32, '.')).toString('hex'),
    }),
    expect: { body: ({ home }) => ({ repoId: home.repoId, repo: { label: 'first' } }) },
  },
  {
    name: 'get reads all fields of a repository',
    endpoint: repositories.get,
    body: ({ home }) => ({ workspaceId: home.workspaceId, repoId: home.repoId }),
    expect: {
      check(body, { home }) {
        const repo = body.repo as Record<string, unknown>;
        assert.deepEqual(Object.keys(repo).sort(), [
          'askOrder',
          'createdAt',
          'label',
          'queuePausedAt',
          'remoteUrlHash',
          'repoId',
          'status',
          'updatedAt',
          'workspaceId',
        ]);
        assert.equal(repo.repoId, home.repoId);
      },
    },
  },
  {
    name: 'get refuses a request without the id',
    endpoint: repositories.get,
    body: inHome({}),
    expect: { error: 'INVALID_REQUEST', contains: ['/repoId'] },
  },
  {
    name: 'list shows the repositories of the workspace and no others',
    endpoint: repositories.list,
    body: inHome({}),
    expect: {
      body: { nextCursor: null },
      contains: ['"label":"first"'],
      absent: ({ other }) => [other.repoId],
    },
  },
]);
