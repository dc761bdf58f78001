import assert from 'node:assert/strict';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import { startHubChild } from '../support/hub-child.ts';
import { startTraced, whyNoStrace } from '../support/system-calls.ts';
import { makeTempDir } from '../support/temp-dir.ts';

const MAIN = join(import.meta.dirname, '../../src/start/main.ts');
const START = `import(${JSON.stringify(MAIN)}).then((main) => main.startFromEnvironment())`;
/** Syncs of the hub's own thread before the disk fails; the start needs fewer. */
const SYNCS_BEFORE = 40;

const { repositories, workspaces } = endpoints;

async function post(baseUrl: string, path: string, body: unknown) {
  const response = await fetch(baseUrl + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const answer = (await response.json()) as Record<string, string>;
  return { status: response.status, answer };
}

test('a hub whose disk fails refuses, ends without touching the log, and loses nothing', {
  skip: whyNoStrace() ?? false,
}, async (t) => {
  const dataDir = makeTempDir(t);
  // SQLite calls fsync, the hub fdatasync; with one thread, strace counts all of them.
  const faults = ['-e', 'trace=fdatasync', '-e', 'signal=none', '-o', '/dev/null'].concat([
    '-e',
    `inject=fdatasync:error=EIO:when=${SYNCS_BEFORE}+`,
  ]);
  const env = {
    SVC_PORT: '0',
    SVC_DATA_DIR: dataDir,
    SVC_LOG_LEVEL: 'silent',
    SVC_DEV_ALLOW_UNAUTH: 'true',
    UV_THREADPOOL_SIZE: '1',
  };
  const hub = await startTraced(t, faults, ['-e', START], env);
  const ended = once(hub.child, 'exit');
  const [, baseUrl = ''] = /listens on (\S+)$/.exec(hub.firstLine) ?? [];
  const { answer } = await post(baseUrl, workspaces.resolve.path, { slug: 'dev' });
  const { workspaceId } = answer;
  const hash = (number: number) => number.toString(16).padStart(64, '0');
  let kept = 0;
  for (;;) {
    const body = { workspaceId, remoteUrlHash: hash(kept) };
    const { status, answer: refused } = await post(baseUrl, repositories.upsert.path, body);
    if (status !== 200) {
      assert.equal(status, 503);
      assert.match(refused.message ?? '', /may or may not be kept/);
      break;
    }
    kept += 1;
  }
  assert.ok(kept > 0, 'the disk failed under load, not at the start');
  const [code] = (await ended) as [number | null];
  assert.equal(code, 1);
  assert.ok(
    statSync(join(dataDir, 'signalbox.db-wal')).size > 0,
    'the log waits for the next start',
  );

  const next = await startHubChild(t, dataDir);
  const { answer: list } = await post(next.baseUrl, repositories.list.path, {
    workspaceId,
    limit: 200,
  });
  const found = list.repos as unknown as { remoteUrlHash: string }[];
  const hashes = new Set(found.map(({ remoteUrlHash }) => remoteUrlHash));
  for (let number = 0; number < kept; number++) assert.ok(hashes.has(hash(number)), `${number}`);
});
