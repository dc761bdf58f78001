import assert from 'node:assert/strict';
import { test } from 'node:test';
import { consoleEndpoints, endpoints } from '@signalbox/contract';
import {
  type ConsoleScenario,
  runConsoleScenario,
  startConsoleWorld,
} from '../support/console-world.ts';
import { listAudit, logDeviceIn } from '../support/people.ts';
import { until } from '../support/until.ts';

const { serviceTokens, deviceTokens } = consoleEndpoints;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

test('service tokens: requests and answers', async (t) => {
  const world = await startConsoleWorld(t);
  const { workspaceId, other, hub, browsers } = world;
  const { list, mint, revoke } = serviceTokens;
  await logDeviceIn(hub, browsers.admin);
  const { tokens } = await browsers.admin.call(deviceTokens.list, { workspaceId });
  const deviceTokenId = tokens[0]?.tokenId;
  const scenarios: ConsoleScenario[] = [
    {
      name: 'an admin mints one with the default scopes',
      endpoint: mint,
      as: 'admin',
      body: { workspaceId, name: 'CI' },
      holds: {
        serviceToken: {
          name: 'CI',
          scopes: ['agent', 'enqueue', 'read', 'integrate'],
          createdBy: 'admin-1',
          lastUsedAt: null,
          createdAt: '2026-11-02T09:00:00.000Z',
          expiresAt: '2027-11-02T09:00:00.000Z',
        },
      },
    },
    {
      name: 'an admin mints one with chosen scopes and lifetime',
      endpoint: mint,
      as: 'owner',
      body: { workspaceId, name: 'bot', scopes: ['decide', 'read'], expiresInMs: DAY_MS },
      holds: {
        serviceToken: { scopes: ['read', 'decide'], expiresAt: '2026-11-03T09:00:00.000Z' },
      },
    },
    {
      name: 'an unknown scope is refused',
      endpoint: mint,
      as: 'owner',
      body: { workspaceId, name: 'bot', scopes: ['root'] },
      error: 'INVALID_REQUEST',
    },
    {
      name: 'an empty list of scopes is refused',
      endpoint: mint,
      as: 'owner',
      body: { workspaceId, name: 'bot', scopes: [] },
      error: 'INVALID_REQUEST',
    },
    {
      name: 'an invalid name is refused',
      endpoint: mint,
      as: 'owner',
      body: { workspaceId, name: '<b>' },
      error: 'INVALID_REQUEST',
    },
    {
      name: 'a lifetime of a second is refused',
      endpoint: mint,
      as: 'owner',
      body: { workspaceId, name: 'bot', expiresInMs: 1_000 },
      error: 'INVALID_REQUEST',
    },
    {
      name: 'the list is newest first',
      endpoint: list,
      as: 'admin',
      body: { workspaceId },
      holds: { tokens: [{ name: 'bot' }, { name: 'CI' }], nextCursor: null },
    },
    {
      name: 'the token of another workspace is not found',
      endpoint: revoke,
      as: 'owner',
      body: { workspaceId, tokenId: other.serviceTokenId },
      error: 'TOKEN_NOT_FOUND',
    },
    {
      name: "a machine's token is no service token",
      endpoint: revoke,
      as: 'owner',
      body: { workspaceId, tokenId: deviceTokenId },
      error: 'TOKEN_NOT_FOUND',
    },
  ];
  for (const scenario of scenarios) {
    await t.test(scenario.name, () => runConsoleScenario(world, scenario));
  }
});

test('a minted token works until it is revoked, and its use is recorded', async (t) => {
  const world = await startConsoleWorld(t);
  const { hub, workspaceId, browsers } = world;
  const { token, serviceToken } = await browsers.admin.call(serviceTokens.mint, {
    workspaceId,
    name: 'CI',
  });
  const { tokenId } = serviceToken;
  const program = hub.visitor().withToken(token);
  assert.equal((await program.call(endpoints.tokens.whoami, {})).principalId, 'service:CI');
  hub.clock.advance(2 * MINUTE_MS);
  await program.call(endpoints.tokens.whoami, {});
  // The use is recorded concurrently, at any time after the answer.
  await until('the use is recorded', async () => {
    const { tokens } = await browsers.owner.call(serviceTokens.list, { workspaceId });
    assert.ok(!JSON.stringify(tokens).includes(token));
    return tokens[0]?.lastUsedAt === '2026-11-02T09:02:00.000Z';
  });
  await browsers.owner.call(serviceTokens.revoke, { workspaceId, tokenId });
  assert.equal(await program.codeOf(endpoints.tokens.whoami, {}), 'TOKEN_REVOKED');
  const again = { workspaceId, tokenId };
  assert.equal(await browsers.owner.codeOf(serviceTokens.revoke, again), 'TOKEN_NOT_FOUND');
  assert.deepEqual((await browsers.owner.call(serviceTokens.list, { workspaceId })).tokens, []);
  const log = (await listAudit(hub, workspaceId)).filter(({ action }) => action.includes('token'));
  assert.deepEqual(
    log.map(({ action }) => action),
    ['token.mint', 'token.revoke'],
  );
  assert.ok(!JSON.stringify(log).includes(token));
});

test('a member lists and ends their own machines, an administrator those of all members', async (t) => {
  const world = await startConsoleWorld(t);
  const { hub, workspaceId, browsers, personIds } = world;
  const { admin, member, viewer } = browsers;
  const laptop = hub.visitor().withToken(await logDeviceIn(hub, member, { machineName: 'laptop' }));
  await logDeviceIn(hub, admin, { machineName: 'desk' });
  const namesOf = async (browser: typeof admin, of?: 'me' | 'everybody') => {
    const body = { workspaceId, ...(of === undefined ? {} : { of }) };
    const { tokens } = await browser.call(deviceTokens.list, body);
    return tokens.map(({ machineName, personId }) => [machineName, personId]);
  };
  const [memberMachine, desk] = [
    ['laptop', personIds.member],
    ['desk', personIds.admin],
  ];
  assert.deepEqual(await namesOf(member), [memberMachine]);
  assert.deepEqual(await namesOf(viewer), []);
  assert.deepEqual(await namesOf(admin, 'everybody'), [desk, memberMachine]);
  const everybody = { workspaceId, of: 'everybody' } as const;
  assert.equal(await member.codeOf(deviceTokens.list, everybody), 'NOT_ALLOWED');
  const { tokens } = await admin.call(deviceTokens.list, everybody);
  const [deskId = '', laptopId = ''] = tokens.map(({ tokenId }) => tokenId);
  const unknown = { workspaceId, tokenId: 'tok_none' };
  assert.equal(await member.codeOf(deviceTokens.revoke, unknown), 'TOKEN_NOT_FOUND');
  const foreign = { workspaceId, tokenId: deskId };
  assert.equal(await member.codeOf(deviceTokens.revoke, foreign), 'TOKEN_NOT_FOUND');
  const canary = { workspaceId, tokenId: world.other.deviceTokenId };
  assert.equal(await admin.codeOf(deviceTokens.revoke, canary), 'TOKEN_NOT_FOUND');
  assert.equal(await laptop.codeOf(endpoints.tokens.whoami, {}), 'ok');
  await admin.call(deviceTokens.revoke, { workspaceId, tokenId: laptopId });
  assert.equal(await laptop.codeOf(endpoints.tokens.whoami, {}), 'TOKEN_REVOKED');
  assert.deepEqual(await namesOf(member), []);
});

test('tokens are listed in pages, each once', async (t) => {
  const world = await startConsoleWorld(t);
  const { workspaceId, browsers } = world;
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    await browsers.owner.call(serviceTokens.mint, { workspaceId, name });
  }
  const first = await browsers.admin.call(serviceTokens.list, { workspaceId, limit: 3 });
  const second = await browsers.admin.call(serviceTokens.list, {
    workspaceId,
    limit: 3,
    cursor: first.nextCursor ?? '',
  });
  const names = [...first.tokens, ...second.tokens].map(({ name }) => name);
  assert.deepEqual([names, second.nextCursor], [['e', 'd', 'c', 'b', 'a'], null]);
});
