import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWorkspaceByAdmin, mintTokenByAdmin, readConfig } from '@signalbox/hub';
import { createTestDatabase, findFreePorts } from '@signalbox/local-postgres';
import { createClient } from '@signalbox/sdk';
import { type HubProcess, startHubProcess } from './hub-process.ts';
import { startJobLoad } from './job-load.ts';
import { startLoadBalancer } from './load-balancer.ts';
import { makeTempDir } from './temp-dir.ts';

const template = { fingerprint: 'empty', prepare: async () => undefined };

test('two hubs are restarted one after the other, and no client of the balancer notices', {
  timeout: 120_000,
}, async (t) => {
  const database = await createTestDatabase(template);
  const dataDir = makeTempDir(t);
  const env = { SVC_DATABASE_URL: database.url };
  const hubs: HubProcess[] = [];
  const start = (port: number) => startHubProcess({ dataDir, env, port });
  const ports = await findFreePorts(2);
  for (const port of ports) hubs.push(await start(port));
  t.after(async () => {
    await Promise.all(hubs.map((hub) => hub.stop()));
    await database.drop();
  });
  const config = { ...readConfig(env), dataDir };
  const { workspaceId } = await createWorkspaceByAdmin(config, {
    slug: 'rolling',
    name: 'Rolling',
  });
  const { token } = await mintTokenByAdmin(config, { workspaceSlug: 'rolling', name: 'all' });
  const { baseUrl } = await startLoadBalancer(t, ports);
  const load = await startJobLoad(createClient({ baseUrl, token }), workspaceId);
  for (const [at, port] of ports.entries()) {
    const end = await load.during(async () => hubs[at]?.stop());
    assert.equal(end?.code, 0, 'it stops by itself');
    await load.during(async () => {
      hubs[at] = await start(port);
    });
  }
  await load.end();
});
