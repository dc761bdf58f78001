import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import { type LocalPostgres, startLocalPostgres } from '@signalbox/local-postgres';
import pg from 'pg';
import { StartError } from '../../src/db/data-directory.ts';
import { createHub, type Hub } from '../../src/start/app.ts';
import { readConfig } from '../../src/start/config.ts';
import { acceptRestore } from '../../src/start/operate.ts';
import { locatePostgresTools, whyNoPostgresTools } from '../support/postgres-tools.ts';
import { addWorkspace, enqueueJob, type HubsWorkspace, postHub } from '../support/several-hubs.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { until } from '../support/until.ts';

const skip = whyNoPostgresTools();
const options = { timeout: 120_000 };

interface Place {
  url: string;
  dataDir: string;
}

function configOf({ url, dataDir }: Place) {
  const config = readConfig({ SVC_PORT: '0', SVC_LOG_LEVEL: 'silent' });
  return { ...config, dataDir, databaseUrl: url, databaseSessions: 4 };
}

async function startHub(t: TestContext, place: Place, onDatabaseRestored = () => {}): Promise<Hub> {
  const hub = await createHub({ config: configOf(place), onDatabaseRestored });
  t.after(() => hub.stop());
  await hub.listen();
  return hub;
}

/** The sentence with which a hub refuses to start. */
async function refusalOf(place: Place): Promise<string> {
  const error: unknown = await createHub({ config: configOf(place) }).then(
    () => assert.fail('the hub started'),
    (cause: unknown) => cause,
  );
  assert.ok(error instanceof StartError, String(error));
  return error.message;
}

async function ask(url: string, ...texts: string[]): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    let rows: Record<string, unknown>[] = [];
    for (const text of texts) rows = (await client.query(text)).rows;
    return rows;
  } finally {
    await client.end();
  }
}

async function createDatabase(server: LocalPostgres, name: string): Promise<string> {
  await ask(server.url, `CREATE DATABASE ${name} TEMPLATE template0`);
  return Object.assign(new URL(server.url), { pathname: `/${name}` }).href;
}

/** Waits until the hub's data directory knows a state of the database that is now the latest. */
async function noteState(hub: Hub, { dataDir }: Place): Promise<void> {
  const path = join(dataDir, 'database-seen.json');
  const markOf = () => (existsSync(path) ? Number(JSON.parse(readFileSync(path, 'utf8')).mark) : 0);
  const before = markOf();
  await until('this hub leads', () => hub.group.isLeader());
  await hub.loops.databaseMark.runOnce();
  await until('the state is noted', () => markOf() > before);
}

async function serves(hub: Hub, { workspaceId, token }: HubsWorkspace): Promise<unknown> {
  const { path } = endpoints.jobs.list;
  const { status, answer } = await postHub(hub, path, { workspaceId }, token);
  return status === 200 ? 'served' : answer.error;
}

/** The user that runs the server, who owns its files. */
function ownerOf(server: LocalPostgres): { uid: number; gid: number } {
  const { uid, gid } = statSync(join(server.folder, 'data'));
  return { uid, gid };
}

function copyOwned(from: string, to: string, { uid, gid }: { uid: number; gid: number }): void {
  execFileSync('cp', ['-a', from, to]);
  chownSync(to, uid, gid);
}

test(
  'a hub does not serve a disk of an earlier time, whether it starts or runs',
  options,
  async (t) => {
    const server = await startLocalPostgres();
    t.after(() => server.stop());
    const place = { url: await createDatabase(server, 'snapshot'), dataDir: makeTempDir(t) };
    const first = await startHub(t, place);
    const home = await addWorkspace(first);
    await first.stop();
    await server.end('SIGINT');
    const data = join(server.folder, 'data');
    const snapshot = join(server.folder, 'snapshot');
    copyOwned(data, snapshot, ownerOf(server));
    await server.startAgain();

    let endings = 0;
    const running = await startHub(t, place, () => {
      endings += 1;
    });
    await noteState(running, place);
    // A crash of the server is no restore.
    await server.end('SIGKILL');
    await server.startAgain();
    await until('it serves again', async () => (await serves(running, home)) === 'served');
    assert.equal(endings, 0);

    await server.end('SIGINT');
    rmSync(data, { recursive: true });
    renameSync(snapshot, data);
    await server.startAgain();
    await until('the hub has noticed', () => endings > 0);
    assert.equal(await serves(running, home), 'UNAVAILABLE');
    await running.stop();
    assert.equal(endings, 1);
    assert.match(
      await refusalOf(place),
      /earlier state than this hub has seen.*admin accept-restore/,
    );

    const report = await acceptRestore(configOf(place), { keepsTokens: true });
    assert.deepEqual(report.workspaces, ['home']);
    const accepted = await startHub(t, place);
    assert.equal(await serves(accepted, home), 'served');
  },
);

test(
  'a hub that runs while a restore is accepted ends, since it knows the time before',
  options,
  async (t) => {
    const server = await startLocalPostgres();
    t.after(() => server.stop());
    const place = { url: await createDatabase(server, 'accepted'), dataDir: makeTempDir(t) };
    let endings = 0;
    await startHub(t, place, () => {
      endings += 1;
    });
    await acceptRestore(configOf(place), { keepsTokens: false });
    await until('the hub has ended its service', () => endings === 1);
  },
);

test('a hub serves a dump that was restored only after its operator has accepted it', {
  ...options,
  skip,
}, async (t) => {
  const binaries = locatePostgresTools();
  const server = await startLocalPostgres({ binaries });
  t.after(() => server.stop());
  const place = { url: await createDatabase(server, 'source'), dataDir: makeTempDir(t) };
  const hub = await startHub(t, place);
  const home = await addWorkspace(hub);
  await enqueueJob(hub, home);
  const dump = join(makeTempDir(t), 'signalbox.dump');
  execFileSync(join(binaries, 'bin/pg_dump'), ['--format=custom', `--file=${dump}`, place.url]);
  await hub.stop();
  const restoreInto = (url: string, ...more: string[]) =>
    execFileSync(join(binaries, 'bin/pg_restore'), [
      '--no-owner',
      ...more,
      `--dbname=${url}`,
      dump,
    ]);

  // Into another database of the server.
  const other = { ...place, url: await createDatabase(server, 'target') };
  restoreInto(other.url);
  assert.match(await refusalOf(other), /restored from a dump.*admin accept-restore/);
  const { access } = await acceptRestore(configOf(other), { keepsTokens: false });
  assert.deepEqual(access?.tokens, [
    { kind: 'service', workspaceSlug: 'home', name: 'test', wasLive: true },
  ]);
  const accepted = await startHub(t, other);
  assert.equal(await serves(accepted, home), 'TOKEN_REVOKED');
  await accepted.stop();

  // Into the same database, in place of what was there.
  restoreInto(place.url, '--clean', '--if-exists');
  assert.match(await refusalOf(place), /restored from a dump/);
  await acceptRestore(configOf(place), { keepsTokens: true });
  assert.equal(await serves(await startHub(t, place), home), 'served');
});

const archiving = (archive: string) => ({
  wal_level: 'replica',
  max_wal_senders: '4',
  archive_mode: 'on',
  archive_command: `test -d ${archive} || mkdir ${archive}; cp %p ${archive}/%f`,
});

/** Makes a base backup of a server as another data directory. */
function copyBase(binaries: string, server: LocalPostgres, to: string, ...more: string[]): void {
  const program = join(binaries, 'bin/pg_basebackup');
  const args = [`--dbname=${server.url}`, `--pgdata=${to}`, '--checkpoint=fast', ...more];
  execFileSync(program, args, { ...ownerOf(server), cwd: server.folder, stdio: 'ignore' });
}

test('a hub does not serve a point in time, also one with an empty data directory', {
  ...options,
  skip,
}, async (t) => {
  const binaries = locatePostgresTools();
  const archive = join(makeTempDir(t), 'archive');
  const server = await startLocalPostgres({ binaries, settings: archiving(archive) });
  t.after(() => server.stop());
  mkdirSync(archive);
  const owner = ownerOf(server);
  chownSync(join(archive, '..'), owner.uid, owner.gid);
  chownSync(archive, owner.uid, owner.gid);
  const place = { url: await createDatabase(server, 'times'), dataDir: makeTempDir(t) };
  const hub = await startHub(t, place);
  const home = await addWorkspace(hub);
  const base = join(server.folder, 'base');
  copyBase(binaries, server, base);
  const [then] = await ask(server.url, "SELECT pg_create_restore_point('then') AS at");
  assert.ok(then);
  await enqueueJob(hub, home);
  await noteState(hub, place);
  await ask(server.url, 'SELECT pg_switch_wal()', 'CHECKPOINT');
  await hub.stop();
  await server.end('SIGINT');

  const data = join(server.folder, 'data');
  renameSync(data, join(server.folder, 'lost'));
  renameSync(base, data);
  const recovery = [
    `restore_command = 'cp ${archive}/%f %p'`,
    "recovery_target_name = 'then'",
    "recovery_target_action = 'promote'",
  ];
  execFileSync('tee', ['-a', join(data, 'postgresql.auto.conf')], {
    input: `${recovery.join('\n')}\n`,
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  execFileSync('touch', [join(data, 'recovery.signal')], owner);
  await server.startAgain();
  await until('the recovery has ended', async () => {
    const [row] = await ask(server.url, 'SELECT pg_is_in_recovery() AS recovers');
    return row?.recovers === false;
  });

  const elsewhere = { ...place, dataDir: makeTempDir(t) };
  cpSync(join(place.dataDir, 'secret.key'), join(elsewhere.dataDir, 'secret.key'));
  assert.match(await refusalOf(elsewhere), /to a point in time/);
  assert.match(await refusalOf(place), /to a point in time.*admin accept-restore/);
  await acceptRestore(configOf(place), { keepsTokens: true });
  const accepted = await startHub(t, place);
  assert.equal(await serves(accepted, home), 'served');
  await accepted.stop();
  // The settings of the recovery are still there; a crash is no restore.
  await server.end('SIGKILL');
  await server.startAgain();
  assert.equal(await serves(await startHub(t, place), home), 'served');
});

test('a standby that takes over with every acknowledged change is no restore', {
  ...options,
  skip,
}, async (t) => {
  const binaries = locatePostgresTools();
  const settings = { wal_level: 'replica', max_wal_senders: '4' };
  const [primary, standby] = await Promise.all([
    startLocalPostgres({ binaries, settings }),
    startLocalPostgres({ binaries, settings }),
  ]);
  t.after(() => Promise.all([primary.stop(), standby.stop()]));
  await standby.end('SIGINT');
  const data = join(standby.folder, 'data');
  rmSync(data, { recursive: true });
  copyBase(binaries, primary, data, '--write-recovery-conf');
  await standby.startAgain();
  await ask(
    primary.url,
    "ALTER SYSTEM SET synchronous_standby_names = '*'",
    'SELECT pg_reload_conf()',
  );
  await until('the standby is synchronous', async () => {
    const [row] = await ask(primary.url, 'SELECT sync_state FROM pg_stat_replication');
    return row?.sync_state === 'sync';
  });

  const place = { url: await createDatabase(primary, 'pair'), dataDir: makeTempDir(t) };
  const hub = await startHub(t, place);
  const home = await addWorkspace(hub);
  await noteState(hub, place);
  await primary.end('SIGKILL');
  const { port } = new URL(standby.url);
  const url = Object.assign(new URL(place.url), { port }).href;
  await ask(url, 'SELECT pg_promote()');
  const [row] = await ask(url, 'SELECT left(pg_walfile_name(pg_current_wal_lsn()), 8) AS timeline');
  assert.equal(row?.timeline, '00000002');
  let endings = 0;
  const taken = await startHub(t, { ...place, url }, () => {
    endings += 1;
  });
  assert.equal(await serves(taken, home), 'served');
  await noteState(taken, place);
  assert.equal(endings, 0);
});
