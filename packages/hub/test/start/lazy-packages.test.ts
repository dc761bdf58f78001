import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

/** Packages of which the first call that needs one loads it. */
const late = ['typebox/build/compile', 'undici', '@modelcontextprotocol', '@slack', 'zod'];

/** Starts a hub, answers its check of health, and prints the packages that it loaded by then. */
const script = `
  import { registerHooks } from 'node:module';
  const loaded = new Set();
  registerHooks({
    load(url, context, next) {
      const name = /node_modules\\/([^/]+(?:\\/build\\/compile)?)/.exec(url)?.[1];
      if (name !== undefined) loaded.add(name);
      return next(url, context);
    },
  });
  const { createHub, readConfig } = await import(process.env.HUB_INDEX);
  const hub = await createHub({ config: readConfig(process.env) });
  await hub.listen();
  // Node's own HTTP client: fetch and WebSocket.
  if (process.moduleLoadList.some((name) => name.endsWith('undici'))) loaded.add('undici');
  const { status } = await fetch(hub.baseUrl + '/control-plane/health');
  process.stdout.write(JSON.stringify({ status, loaded: [...loaded] }));
  await hub.stop();
`;

test('a start loads no compiler of schemas, no HTTP client, no MCP and no Slack', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'signalbox-start-'));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--eval', script],
    {
      env: {
        PATH: process.env.PATH,
        SVC_DATA_DIR: dataDir,
        SVC_PORT: '0',
        SVC_LOG_LEVEL: 'silent',
        HUB_INDEX: new URL('../../src/index.ts', import.meta.url).href,
      },
    },
  );
  const { status, loaded } = JSON.parse(stdout) as { status: number; loaded: string[] };
  assert.equal(status, 200);
  // The hub is loaded with its packages, so those that are missing would have been seen.
  assert.ok(loaded.includes('fastify') && loaded.includes('typebox'));
  assert.deepEqual(
    loaded.filter((name) => late.includes(name)),
    [],
  );
});
