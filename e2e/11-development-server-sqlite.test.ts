import assert from 'node:assert/strict';
import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { findFreePorts } from '@signalbox/local-postgres';
import { projectRoot, startNode } from './node-process.ts';
import { makeTempDir } from './temp-dir.ts';

test('npm run dev serves the console from its sources, and restarts the hub after a change', async (t) => {
  const [hubPort = 0, consolePort = 0] = await findFreePorts(2);
  const folder = makeTempDir(t);
  const dev = startNode(
    ['scripts/dev.ts', '--port', String(hubPort), '--data-dir', join(folder, 'data')],
    // From the sources: a bundle of them would not change with a source.
    { env: { SIGNALBOX_DEV_CONSOLE_PORT: String(consolePort), NODE_OPTIONS: '' } },
  );
  // The process ends its children itself, so it must not be killed.
  t.after(async () => {
    dev.child.kill('SIGTERM');
    await dev.ended;
  });
  const consoleUrl = `http://127.0.0.1:${consolePort}`;
  await dev.waitFor(new RegExp(`${consoleUrl}/first-owner#token=`));
  await dev.waitFor(/VITE v\d+/);

  const page = await (await fetch(`${consoleUrl}/`)).text();
  assert.match(page, /\/@vite\/client/, 'the page reloads itself');
  const answer = await fetch(`${consoleUrl}/console-api/v1/session/get`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: consoleUrl },
    body: '{}',
  });
  const { ok } = (await answer.json()) as { ok: boolean };
  assert.equal(ok, true, 'calls of the page reach the hub');

  // A new time of change is a change for the watcher; the file stays as it is.
  const now = new Date();
  utimesSync(join(projectRoot, 'packages/hub/src/start/config.ts'), now, now);
  await dev.waitFor(/Restarting[\s\S]*Signalbox listens on/);

  dev.child.kill('SIGINT');
  const { code } = await dev.ended;
  assert.equal(code, 0);
});
