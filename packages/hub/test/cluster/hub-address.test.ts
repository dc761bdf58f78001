import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { findLinkAddress, writeHubAddress } from '../../src/cluster/hub-address.ts';
import { createWorkspaceByAdmin, inviteMemberByAdmin } from '../../src/start/admin.ts';
import { readConfig } from '../../src/start/config.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { takeDatabase } from '../support/test-engine.ts';
import { startTestHub } from '../support/test-hub.ts';

/** A running hub on a free port, and the settings of an admin command on the same database. */
async function startHub(t: TestContext) {
  const { hub, dataDir } = await startTestHub(t);
  const taken = await takeDatabase(dataDir);
  t.after(() => taken.release());
  return { hub, dataDir, config: { ...readConfig({}), ...taken.config, dataDir } };
}

test('an admin command finds the address of the hub that runs on its data directory', async (t) => {
  const { hub, config } = await startHub(t);
  await createWorkspaceByAdmin(config, { slug: 'acme', name: 'Acme' });
  const { invitationUrl, address } = await inviteMemberByAdmin(config, {
    workspaceSlug: 'acme',
    email: 'grace@acme.dev',
    role: 'member',
  });
  assert.deepEqual(address, { baseUrl: hub.baseUrl, source: 'running-hub' });
  assert.notEqual(new URL(invitationUrl).port, '4400');
  assert.ok(invitationUrl.startsWith(`${hub.baseUrl}/invitation#token=`));
});

test('a base URL that is set takes precedence over the address of the hub', async (t) => {
  const { hub, config, dataDir } = await startHub(t);
  const baseUrl = 'https://signalbox.acme.dev';
  const found = await findLinkAddress({ ...config, baseUrl }, dataDir, hub.database.reader);
  assert.deepEqual(found, { baseUrl, source: 'setting' });
});

test('a hub that stops removes its address', async (t) => {
  const { hub, dataDir } = await startHub(t);
  const file = join(dataDir, 'hub.address');
  assert.ok(existsSync(file));
  await hub.stop();
  assert.equal(existsSync(file), false);
});

test('the address of a hub that was killed is not used', async (t) => {
  const { hub, config } = await startHub(t);
  // The data directory of another hub, which no process has locked.
  const abandoned = makeTempDir(t);
  writeHubAddress(abandoned, { hubId: 'hub_dead', baseUrl: 'http://127.0.0.1:9' });
  const settings = { ...config, host: '::1', port: 4411 };
  const found = await findLinkAddress(settings, abandoned, hub.database.reader);
  assert.deepEqual(found, { baseUrl: 'http://[::1]:4411', source: 'assumed' });
});

test('a hub that stops keeps the address that another hub has written since', async (t) => {
  const { hub, dataDir } = await startHub(t);
  writeHubAddress(dataDir, { hubId: 'hub_other', baseUrl: 'http://127.0.0.1:9' });
  await hub.stop();
  assert.ok(existsSync(join(dataDir, 'hub.address')));
});
