import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { consoleEndpoints, INTEGRATION_SECRET_HEADER } from '@signalbox/contract';
import type { Config } from '../../src/start/config.ts';
import { type IntegrationWorld, startIntegrationWorld } from '../support/integration-world.ts';

const { integrationSecrets, workspaceSettings } = consoleEndpoints;

/** The operator's workspace, and one that its owner made at the console. */
async function setup(t: TestContext, config: Partial<Config> = {}) {
  const world = await startIntegrationWorld(t, { config });
  const { workspace } = await world.atConsole(workspaceSettings.create, {
    slug: 'bmart',
    name: 'B-Mart',
  });
  const mint = (workspaceId: string, name = 'tracker') =>
    world.atConsole(integrationSecrets.mint, { workspaceId, name });
  return { ...world, own: world.home.workspaceId, other: workspace.workspaceId, mint };
}

async function codeOf(world: IntegrationWorld, fields: object, secret?: string) {
  const headers: Record<string, string> =
    secret === undefined ? {} : { [INTEGRATION_SECRET_HEADER]: secret };
  const { body } = await world.sendEvent(
    world.event({ workspaceId: undefined, ...fields }),
    headers,
  );
  const answer = body as { ok: boolean; error?: string };
  return answer.ok ? 'ok' : answer.error;
}

test('the secret of a workspace opens that workspace only, by id and by slug', async (t) => {
  const world = await setup(t);
  const { own, other } = world;
  const { secret, integrationSecret } = await world.mint(other);
  assert.match(secret, /^sbx_i_/);
  assert.equal(await codeOf(world, { workspaceId: other }, secret), 'ok');
  assert.equal(await codeOf(world, { workspaceSlug: 'bmart' }, secret), 'ok');
  assert.equal(await codeOf(world, { workspaceId: own }, secret), 'WORKSPACE_NOT_FOUND');
  assert.equal(await codeOf(world, { workspaceSlug: 'home' }, secret), 'WORKSPACE_NOT_FOUND');
  const cloudEvent = { specversion: '1.0', id: '1', source: 's', type: 't', workspaceid: own };
  const sent = await world.sendEvent(cloudEvent, { [INTEGRATION_SECRET_HEADER]: secret });
  assert.equal((sent.body as { error?: string }).error, 'WORKSPACE_NOT_FOUND');
  assert.equal(integrationSecret.lastUsedAt, null);
});

test('two secrets are valid during a rotation, and a revoked one ends', async (t) => {
  const world = await setup(t);
  const { own } = world;
  const [first, second] = [await world.mint(own, 'old'), await world.mint(own, 'new')];
  for (const { secret } of [first, second]) {
    assert.equal(await codeOf(world, { workspaceId: own }, secret), 'ok');
  }
  const ref = { workspaceId: own, secretId: first.integrationSecret.secretId };
  assert.equal((await world.atConsole(integrationSecrets.revoke, ref)).revoked, true);
  assert.equal((await world.atConsole(integrationSecrets.revoke, ref)).revoked, false);
  assert.equal(await codeOf(world, { workspaceId: own }, first.secret), 'INTEGRATION_UNAUTHORIZED');
  assert.equal(await codeOf(world, { workspaceId: own }, second.secret), 'ok');
  const { integrationSecrets: left } = await world.atConsole(integrationSecrets.list, {
    workspaceId: own,
  });
  assert.deepEqual(
    left.map(({ name }) => name),
    ['new'],
  );
  assert.equal(JSON.stringify(left).includes(second.secret), false);
});

const settings: [Config['integrationWorkspaces'], own: string, other: string][] = [
  ['operator', 'ok', 'WORKSPACE_NOT_FOUND'],
  ['all', 'ok', 'ok'],
  [['bmart'], 'WORKSPACE_NOT_FOUND', 'ok'],
];
for (const [integrationWorkspaces, own, other] of settings) {
  test(`the hub's own secret opens the workspaces of the setting ${integrationWorkspaces}`, async (t) => {
    const world = await setup(t, { integrationWorkspaces });
    assert.equal(await codeOf(world, { workspaceId: world.own }), own);
    assert.equal(await codeOf(world, { workspaceSlug: 'bmart' }), other);
    assert.equal(await codeOf(world, { workspaceSlug: 'unknown' }), 'WORKSPACE_NOT_FOUND');
  });
}

test('without a secret of the hub, those of workspaces are valid', async (t) => {
  const world = await setup(t, { integrationSecrets: [] });
  const { secret } = await world.mint(world.own);
  assert.equal(await codeOf(world, { workspaceId: world.own }, secret), 'ok');
  assert.equal(await codeOf(world, { workspaceId: world.own }), 'INTEGRATION_UNAUTHORIZED');
});
