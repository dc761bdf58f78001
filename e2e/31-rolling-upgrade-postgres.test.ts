import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { createWorkspaceByAdmin, mintTokenByAdmin, readConfig } from '@signalbox/hub';
import { createTestDatabase, findFreePorts } from '@signalbox/local-postgres';
import { createClient } from '@signalbox/sdk';
import { type HubProcess, startHubProcess } from './hub-process.ts';
import { startJobLoad } from './job-load.ts';
import { startLoadBalancer } from './load-balancer.ts';
import { projectRoot } from './node-process.ts';
import { makeTempDir } from './temp-dir.ts';

const template = { fingerprint: 'empty', prepare: async () => undefined };
const nextHub = join(projectRoot, 'e2e/next-hub.ts');
const READY = '/control-plane/ready';

test('two hubs are upgraded one after the other under load: no error but 503, and nothing is lost', {
  timeout: 180_000,
}, async (t) => {
  const database = await createTestDatabase(template);
  const dataDir = makeTempDir(t);
  const env = { SVC_DATABASE_URL: database.url };
  const hubs: HubProcess[] = [];
  const ports = await findFreePorts(2);
  for (const port of ports) hubs.push(await startHubProcess({ dataDir, env, port }));
  t.after(async () => {
    await Promise.all(hubs.map((hub) => hub.stop()));
    await database.drop();
  });
  const config = { ...readConfig(env), dataDir };
  const { workspaceId } = await createWorkspaceByAdmin(config, { slug: 'up', name: 'Upgraded' });
  const { token } = await mintTokenByAdmin(config, { workspaceSlug: 'up', name: 'all' });
  const { baseUrl } = await startLoadBalancer(t, ports, READY);
  const answers = new Map<number, number>();
  const client = createClient({
    baseUrl,
    token,
    // Enough to outlast the start of a hub on slow cores.
    maxAttempts: 30,
    fetch: async (input, init) => {
      const answer = await fetch(input, init);
      answers.set(answer.status, (answers.get(answer.status) ?? 0) + 1);
      return answer;
    },
  });
  const load = await startJobLoad(client, workspaceId);
  for (const [at, port] of ports.entries()) {
    const end = await load.during(async () => hubs[at]?.stop());
    assert.equal(end?.code, 0, 'it stops by itself');
    await load.during(async () => {
      hubs[at] = await startHubProcess({ dataDir, env, port, line: [nextHub] });
    });
    if (at > 0) continue;
    // The other one is the older from now on, and the balancer leaves it.
    const ready = await fetch(`http://127.0.0.1:${ports[1]}${READY}`);
    assert.equal(ready.status, 503);
    assert.match(await ready.text(), /A newer Signalbox has migrated the database/);
  }
  await load.end();
  const unexpected = [...answers.keys()].filter((status) => status !== 200 && status !== 503);
  assert.deepEqual(unexpected, [], JSON.stringify([...answers]));
});
