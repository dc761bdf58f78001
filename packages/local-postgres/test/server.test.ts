import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, watch } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { locateBinaries } from '../src/binaries.ts';
import { startLocalPostgres } from '../src/index.ts';
import { keeperSocketName } from '../src/keeper-protocol.ts';
import { ask } from './ask.ts';
import { startChild } from './child.ts';

test('a server answers over TCP and its socket, and stopping it removes its files', async () => {
  const server = await startLocalPostgres();
  for (const url of [server.url, server.socketUrl]) {
    const [row] = await ask(
      url,
      'SELECT pg_encoding_to_char(encoding) AS encoding, datcollate, ' +
        "current_setting('fsync') AS fsync FROM pg_database WHERE datname = 'postgres'",
    );
    assert.deepEqual(row, { encoding: 'UTF8', datcollate: 'C', fsync: 'off' });
  }
  assert.ok(existsSync(server.folder));
  await server.stop();
  assert.equal(existsSync(server.folder), false);
  await assert.rejects(ask(server.url, 'SELECT 1'), { code: 'ECONNREFUSED' });
});

test('a durable server waits for the disk and accepts settings', async (t) => {
  const server = await startLocalPostgres({ durable: true, settings: { work_mem: '9MB' } });
  t.after(() => server.stop());
  const settings = await ask(
    server.url,
    'SELECT name, setting FROM pg_settings WHERE name IN ' +
      "('fsync', 'synchronous_commit', 'full_page_writes', 'work_mem') ORDER BY name",
  );
  assert.deepEqual(
    settings.map(({ name, setting }) => `${name} ${setting}`),
    ['fsync on', 'full_page_writes on', 'synchronous_commit on', 'work_mem 9216'],
  );
});

test('two servers of one process run concurrently', async (t) => {
  const [first, second] = await Promise.all([startLocalPostgres(), startLocalPostgres()]);
  t.after(() => Promise.all([first.stop(), second.stop()]));
  await ask(first.url, 'CREATE TABLE mine (a int)');
  assert.deepEqual(await ask(second.url, "SELECT to_regclass('mine') AS found"), [{ found: null }]);
});

for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
  test(`a server ended by ${signal} is unavailable until it is restarted with its data`, async (t) => {
    const server = await startLocalPostgres({ durable: true });
    t.after(() => server.stop());
    await ask(server.url, 'CREATE TABLE kept AS SELECT 1 AS one');
    await assert.rejects(server.startAgain(), /did not start again: PostgreSQL is running/);
    await server.end(signal);
    await assert.rejects(ask(server.url, 'SELECT 1'), { code: 'ECONNREFUSED' });
    await server.startAgain();
    assert.deepEqual(await ask(server.url, 'TABLE kept'), [{ one: 1 }]);
  });
}

test('an ended server can be stopped', async () => {
  const server = await startLocalPostgres();
  await server.end('SIGINT');
  await server.stop();
  assert.equal(existsSync(server.folder), false);
});

for (const signal of ['SIGKILL', 'SIGTERM', 'SIGINT'] as const) {
  test(`servers of a process ended by ${signal} end with it and leave no files`, async (t) => {
    const child = await startChild(t, [{}, { durable: true }]);
    for (const { url } of child.servers) await ask(url, 'SELECT 1');
    const gone = child.servers.map(({ folder }) => waitUntilGone(t, folder));
    child.process.kill(signal);
    await Promise.all(gone);
    for (const { url } of child.servers) {
      await assert.rejects(ask(url, 'SELECT 1'), { code: 'ECONNREFUSED' });
    }
  });
}

test('a server does not keep its process alive', async (t) => {
  const child = await startChild(t, [{}]);
  const folder = child.servers[0]?.folder ?? '';
  const gone = waitUntilGone(t, folder);
  child.process.stdin?.end();
  assert.deepEqual(await once(child.process, 'exit'), [0, null]);
  await gone;
});

test('the next start ends a server with a killed keeper and removes its files', async (t) => {
  const tempFolder = useOwnTempFolder(t);
  const [server] = (await startChild(t, [{}])).servers;
  assert.ok(server !== undefined);
  const [, processId = ''] =
    /^(\d+)/.exec(readFileSync(join(server.folder, 'data/postmaster.pid'), 'utf8')) ?? [];
  const keeper = Number(
    /^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${processId}/status`, 'utf8'))?.[1],
  );
  const line = connect(join(server.folder, keeperSocketName));
  await once(line, 'connect');
  process.kill(keeper, 'SIGKILL');
  await new Promise((resolve) => line.on('error', () => undefined).once('close', resolve));
  await ask(server.url, 'SELECT 1');
  const next = await startLocalPostgres();
  t.after(async () => {
    await next.stop();
    rmSync(tempFolder, { recursive: true });
  });
  assert.equal(existsSync(server.folder), false);
  await assert.rejects(ask(server.url, 'SELECT 1'));
});

test('programs in a folder that the PostgreSQL user cannot enter run from a copy', async (t) => {
  const closed = mkdtempSync(join(tmpdir(), 'signalbox-closed-'));
  t.after(() => rmSync(closed, { recursive: true, force: true }));
  chmodSync(closed, 0o700);
  const binaries = join(closed, 'native');
  cpSync(locateBinaries(), binaries, { recursive: true, verbatimSymlinks: true });
  const server = await startLocalPostgres({ binaries });
  t.after(() => server.stop());
  assert.deepEqual(await ask(server.url, 'SELECT 1 AS one'), [{ one: 1 }]);
  // Without root, PostgreSQL runs as the current user, who may enter the folder.
  assert.equal(existsSync(join(server.folder, 'binaries')), process.getuid?.() === 0);
});

test('a failed start reports the cause and leaves no files', async () => {
  const settings = { shared_buffers: 'plenty' };
  await assert.rejects(startLocalPostgres({ settings }), (error: Error) => {
    assert.match(error.message, /did not start.*invalid value for parameter "shared_buffers"/s);
    return true;
  });
});

/** Servers clean up stale folders in the machine's temporary folder; this test uses its own one. */
function useOwnTempFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-own-'));
  chmodSync(folder, 0o755);
  const { TMPDIR: before } = process.env;
  process.env.TMPDIR = folder;
  t.after(() => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  });
  return folder;
}

/** Resolves when the folder no longer exists. */
async function waitUntilGone(t: TestContext, folder: string): Promise<void> {
  const gone = Promise.withResolvers<void>();
  const watcher = watch(dirname(folder), () => {
    if (!existsSync(folder)) gone.resolve();
  });
  t.after(() => watcher.close());
  await gone.promise;
}
