import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { exitCodes } from '../src/index.ts';
import { type HubPlace, startHub } from './harness.ts';

let place: HubPlace;
before(async () => {
  place = await startHub();
});
after(async () => await place.end());

const dataDir = () => join(place.directory, 'data');
const userDir = () => join(place.directory, '.local/share/signalbox');

/** Every command of the hub's machine that needs a hub. */
const commands: readonly (readonly string[])[] = [
  ['backup', 'copy'],
  ['verify'],
  ['admin', 'accept-restore'],
  ['admin', 'workspace', 'create', '--slug', 'beta'],
  ['admin', 'members', 'invite', '-w', 'acme', '--role', 'member', '--email', 'grace@acme.test'],
  ['admin', 'person', 'reset-password', '--email', 'ada@acme.test'],
  ['admin', 'tokens', 'create', '-w', 'acme', '--name', 'ci'],
  ['admin', 'chat-team', 'add', '-w', 'acme', '--team', 'T024BE7LD'],
];

for (const args of commands) {
  test(`${args.slice(0, 3).join(' ')} refuses where no hub is, and creates none`, async () => {
    const folder = join(place.directory, 'empty');
    mkdirSync(folder, { recursive: true });
    const { exitCode, stdout, stderr } = await place.run(args, { cwd: folder });
    assert.equal(exitCode, exitCodes.refused, stderr);
    assert.equal(stdout, '');
    assert.ok(stderr.includes(`There is no hub in ${userDir()}: set --data-dir`), stderr);
    assert.match(stderr, /HUB_MISSING/);
    assert.deepEqual(readdirSync(folder), []);
    assert.equal(existsSync(userDir()), false);
  });
}

test('doctor --hub finds no database where no hub is, and creates none', async () => {
  const { exitCode, stdout } = await place.run(['doctor', '--hub']);
  assert.equal(exitCode, exitCodes.failed);
  assert.ok(stdout.includes(`There is no database in ${userDir()}: start a hub first.`), stdout);
  assert.equal(existsSync(userDir()), false);
});

test('a command says which hub it uses', async () => {
  const create = ['admin', 'workspace', 'create', '--slug', 'gamma', '--data-dir', dataDir()];
  const { exitCode, stderr } = await place.run(create);
  assert.equal(exitCode, exitCodes.ok, stderr);
  assert.equal(stderr, `Hub in ${dataDir()}\n`);
});

test('a database that no hub was started on is refused, and stays as it is', async () => {
  const folder = join(place.directory, 'unused');
  mkdirSync(folder, { mode: 0o700 });
  writeFileSync(join(folder, 'signalbox.db'), '');
  const line = ['admin', 'workspace', 'create', '--slug', 'beta', '--data-dir', folder];
  const { exitCode, stderr } = await place.run(line);
  assert.equal(exitCode, exitCodes.refused, stderr);
  assert.match(stderr, /The database in .*unused is empty: start a hub on it first/);
});

test('a hub without a workspace, or without its key, is not backed up', async () => {
  const bare = join(place.directory, 'bare');
  const hub = place.start(['serve', '--port', '0', '--data-dir', bare]);
  await hub.says(/create the first owner/);
  const target = join(place.directory, 'copy');
  const empty = await place.run(['backup', target, '--data-dir', bare]);
  assert.equal(empty.exitCode, exitCodes.refused);
  assert.match(empty.stderr, /The hub in .*bare has no workspace, so there is nothing to back up/);

  const key = join(dataDir(), 'secret.key');
  renameSync(key, `${key}.kept`);
  const keyless = await place.run(['backup', target, '--data-dir', dataDir()]);
  renameSync(`${key}.kept`, key);
  assert.equal(keyless.exitCode, exitCodes.refused);
  assert.match(keyless.stderr, /The hub's key is missing: copy the file secret\.key/);
  assert.equal(existsSync(target), false);
});

test('the directory of an earlier version is named with the command that moves it', async () => {
  const folder = join(place.directory, 'old');
  const old = join(folder, '.signalbox');
  mkdirSync(old, { recursive: true, mode: 0o700 });
  const hub = place.start(['serve', '--port', '0', '--data-dir', old]);
  await hub.says(/create the first owner/);
  hub.child.kill('SIGTERM');
  await hub.ended;
  for (const args of [['serve', '--port', '0'], ['verify']]) {
    const { exitCode, stderr } = await place.run(args, { cwd: folder });
    assert.notEqual(exitCode, exitCodes.ok);
    assert.ok(stderr.includes(`mv '${old}' '${userDir()}'`), stderr);
    assert.equal(existsSync(userDir()), false);
  }
  const [, move = ''] =
    /move it: (.*)\. Or/.exec((await place.run(['verify'], { cwd: folder })).stderr) ?? [];
  execFileSync('sh', ['-c', move]);
  const moved = await place.run(['verify'], { cwd: folder });
  assert.equal(moved.exitCode, exitCodes.ok, moved.stdout);
  assert.equal(moved.stderr, `Hub in ${userDir()}\n`);
  const again = place.start(['serve', '--port', '0'], { cwd: folder });
  await again.says(new RegExp(`Its data are in ${RegExp.escape(userDir())}\\n`));
  again.child.kill('SIGTERM');
  await again.ended;
  rmSync(userDir(), { recursive: true });
});
