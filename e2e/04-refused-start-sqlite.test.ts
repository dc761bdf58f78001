import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, type TestContext, test } from 'node:test';
import { hubScript, startHubProcess } from './hub-process.ts';
import { runNode } from './node-process.ts';
import { makeTempDir } from './temp-dir.ts';

/** Starts a hub that must not start: one sentence, exit code 1, nothing on standard output. */
async function assertRefused(
  dataDir: string,
  expected: RegExp,
  { env = {}, args = [] }: { env?: NodeJS.ProcessEnv; args?: readonly string[] } = {},
): Promise<void> {
  const end = await runNode([hubScript, ...args], {
    env: { SVC_DATA_DIR: dataDir, SVC_PORT: '0', ...env },
  });
  assert.match(end.stderr, expected);
  assert.match(end.stderr, /^signalbox: [^\n]+\.\n$/, 'one sentence on one line, and no stack');
  assert.equal(end.code, 1);
  assert.equal(end.stdout, '');
}

/** PostgreSQL's answer to a wrong password: an ErrorResponse of its protocol. */
function refusePassword(user: string): Buffer {
  const fields = ['SFATAL', 'C28P01', `Mpassword authentication failed for user "${user}"`, ''];
  const body = Buffer.from(`${fields.join('\0')}\0`);
  const head = Buffer.from('E\0\0\0\0');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

/** SQLite's default. */
const PAGE_BYTES = 4_096;

/** A data directory that a hub has used, and its files. */
async function makeUsedDataDir(t: TestContext): Promise<string> {
  const dataDir = join(makeTempDir(t), 'data');
  const hub = await startHubProcess({ dataDir });
  assert.deepEqual(await hub.stop(), { code: 0, signal: null });
  return dataDir;
}

async function assertStarts(dataDir: string): Promise<void> {
  const hub = await startHubProcess({ dataDir });
  assert.equal((await fetch(`${hub.baseUrl}/control-plane/health`)).status, 200);
  assert.deepEqual(await hub.stop(), { code: 0, signal: null });
}

// Two at once: most of the time is Node starting.
describe('a hub that must not start', { concurrency: 2 }, () => {
  test('a hub with a damaged database starts, and says so with what to do', async (t) => {
    const dataDir = await makeUsedDataDir(t);
    const path = join(dataDir, 'signalbox.db');
    const database = new DatabaseSync(path);
    // A start reads no trigger, so it cannot stumble on this page.
    const page = database
      .prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'triggers'")
      .get();
    database.close();
    const bytes = readFileSync(path);
    const end = Number(page?.rootpage) * PAGE_BYTES;
    writeFileSync(path, bytes.fill(0xa5, end - PAGE_BYTES, end));
    const hub = await startHubProcess({ dataDir });
    const [text] = await hub.process.waitFor(/^signalbox: the database .+$/m);
    assert.match(text, /signalbox\.db is damaged \(.+\)\. Stop the hub, .+ `signalbox restore`\.$/);
    await hub.stop();
  });

  test('a hub with a whole database says nothing of it', async (t) => {
    const dataDir = await makeUsedDataDir(t);
    const hub = await startHubProcess({ dataDir, env: { SVC_LOG_LEVEL: 'silent' } });
    assert.equal((await fetch(`${hub.baseUrl}/control-plane/health`)).status, 200);
    assert.deepEqual(await hub.stop(), { code: 0, signal: null });
    assert.doesNotMatch(hub.process.stderr, /database/);
  });

  // The other settings are refused in the same way: packages/hub/test/start/config.test.ts.
  test('a hub refuses settings that contradict each other, and creates nothing', async (t) => {
    const dataDir = join(makeTempDir(t), 'data');
    const env = { SVC_DEV_ALLOW_UNAUTH: 'true', SVC_HOST: '0.0.0.0' };
    const names = /SVC_DEV_ALLOW_UNAUTH is true while SVC_HOST is "0\.0\.0\.0"/;
    await assertRefused(dataDir, names, { env });
    assert.equal(existsSync(dataDir), false);
  });

  test('a hub refuses a wrong password of its database at once, without repeating it', async (t) => {
    const dataDir = join(makeTempDir(t), 'data');
    const database = createTcpServer((socket) => {
      socket.once('data', () => socket.end(refusePassword('hub')));
    }).listen(0, '127.0.0.1');
    t.after(() => database.close());
    await once(database, 'listening');
    const { port } = database.address() as AddressInfo;
    const env = { SVC_DATABASE_URL: `postgres://hub:sesame@127.0.0.1:${port}/hub` };
    await assertRefused(dataDir, /^(?!.*sesame).*failed for user.*SVC_DATABASE_URL/, { env });
  });

  test('a hub refuses an unknown flag and lists the known ones', async (t) => {
    const dataDir = join(makeTempDir(t), 'data');
    await assertRefused(dataDir, /--prot is not a flag.*--port/, { args: ['--prot', '80'] });
  });

  test('a hub refuses a port that is in use, and starts on another', async (t) => {
    const dataDir = join(makeTempDir(t), 'data');
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    t.after(() => other.close());
    const { port } = other.address() as AddressInfo;
    const names = new RegExp(`Port ${port} on 127\\.0\\.0\\.1 is in use.*SVC_PORT`);
    await assertRefused(dataDir, names, { env: { SVC_PORT: String(port) } });
    await assertStarts(dataDir);
  });

  test('a hub refuses a host that is not an address of this machine', async (t) => {
    const dataDir = join(makeTempDir(t), 'data');
    // A documentation address (RFC 5737): no machine has it.
    await assertRefused(dataDir, /SVC_HOST is "192\.0\.2\.1"/, { env: { SVC_HOST: '192.0.2.1' } });
  });

  test('a hub refuses a data directory that is a file, and does not change the file', async (t) => {
    const file = join(makeTempDir(t), 'data');
    writeFileSync(file, 'mine\n');
    await assertRefused(file, /data directory .* is not writable .*SVC_DATA_DIR/);
    await assertRefused(join(file, 'below'), /data directory .* is not writable/);
    assert.equal(readFileSync(file, 'utf8'), 'mine\n');
  });

  test('a hub refuses a database of a newer version, and does not change it', async (t) => {
    const dataDir = await makeUsedDataDir(t);
    const file = join(dataDir, 'signalbox.db');
    withDatabase(file, (database) =>
      database.exec(`INSERT INTO schema_migrations VALUES (999, 'from the future', 0)`),
    );
    const before = { files: readdirSync(dataDir), bytes: readFileSync(file) };
    await assertRefused(dataDir, /schema version 999/);
    assert.deepEqual(readdirSync(dataDir), before.files);
    assert.ok(before.bytes.equals(readFileSync(file)), 'the file is the same, byte for byte');
    withDatabase(file, (database) =>
      database.exec('DELETE FROM schema_migrations WHERE version = 999'),
    );
    await assertStarts(dataDir);
  });

  test('a hub refuses an invalid database file and does not change it', async (t) => {
    const dataDir = await makeUsedDataDir(t);
    const file = join(dataDir, 'signalbox.db');
    writeFileSync(file, 'this is no database, but somebody may need it\n'.repeat(200));
    const before = readFileSync(file);
    await assertRefused(dataDir, /signalbox\.db .*backup/);
    assert.ok(before.equals(readFileSync(file)));
  });

  test('a second hub on one data directory is refused, and the first continues', async (t) => {
    const dataDir = join(makeTempDir(t), 'data');
    const first = await startHubProcess({ dataDir });
    await assertRefused(dataDir, /Another hub is running on the data directory/);
    assert.equal((await fetch(`${first.baseUrl}/control-plane/health`)).status, 200);
    await first.kill();
    // The operating system lets the lock go, however the first one ended.
    await assertStarts(dataDir);
  });

  test('a hub refuses a damaged key and does not replace it', async (t) => {
    const dataDir = await makeUsedDataDir(t);
    const file = join(dataDir, 'secret.key');
    const key = readFileSync(file);
    for (const damaged of ['', 'not the key\n', key.subarray(0, 20)]) {
      writeFileSync(file, damaged);
      await assertRefused(dataDir, /key file .*secret\.key .*backup/);
      assert.deepEqual(readFileSync(file), Buffer.from(damaged));
    }
    writeFileSync(file, key);
    await assertStarts(dataDir);
  });
});

function withDatabase(file: string, act: (database: DatabaseSync) => void): void {
  const database = new DatabaseSync(file);
  try {
    act(database);
  } finally {
    database.close();
  }
}
