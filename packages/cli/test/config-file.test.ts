import assert from 'node:assert/strict';
import { chmod, mkdir, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { CliError } from '../src/cli-error.ts';
import { configDirectory } from '../src/hub/config-file.ts';
import { forgetLogin, type Login, readLogins, saveLogin } from '../src/hub/credentials.ts';
import { linkClone, readLinkedClones } from '../src/hub/linked-clones.ts';
import { makePlace, type Place } from './harness.ts';

let place: Place;
let env: NodeJS.ProcessEnv;
beforeEach(() => {
  place = makePlace();
  ({ env } = place);
});
afterEach(async () => await place.end());

function loginTo(workspaceSlug: string, url = 'http://127.0.0.1:4400'): Login {
  const token = `sbx_d_${workspaceSlug}`;
  const loggedInAt = '2026-11-02T09:00:00.000Z';
  return { url, workspaceSlug, workspaceId: `ws_${workspaceSlug}`, token, loggedInAt };
}

test('logins to several hubs and workspaces coexist, the latest first', async () => {
  await saveLogin(env, loginTo('acme'));
  await saveLogin(env, loginTo('acme', 'https://signalbox.acme.dev'));
  await saveLogin(env, loginTo('beta'));
  await saveLogin(env, { ...loginTo('acme'), token: 'sbx_d_new' });
  const logins = await readLogins(env);
  assert.deepEqual(
    logins.map(({ url, token }) => [url, token]),
    [
      ['http://127.0.0.1:4400', 'sbx_d_new'],
      ['http://127.0.0.1:4400', 'sbx_d_beta'],
      ['https://signalbox.acme.dev', 'sbx_d_acme'],
    ],
  );
});

test('deleting a login keeps one that replaced it meanwhile', async () => {
  const old = loginTo('acme');
  await saveLogin(env, { ...old, token: 'sbx_d_new' });
  await forgetLogin(env, old);
  assert.equal((await readLogins(env)).length, 1);
});

test('twenty concurrent saves lose no login and leave no draft', async () => {
  const slugs = Array.from({ length: 20 }, (_, index) => `w${index}`);
  await Promise.all(slugs.map((slug) => saveLogin(env, loginTo(slug))));
  const saved = (await readLogins(env)).map(({ workspaceSlug }) => workspaceSlug);
  assert.deepEqual(saved.toSorted(), slugs.toSorted());
  assert.deepEqual(await readdir(configDirectory(env)), ['credentials.json']);
});

test('the lock of a crashed command is taken over', async () => {
  const lock = join(configDirectory(env), 'credentials.json.lock');
  await mkdir(lock, { recursive: true });
  const longAgo = new Date(Date.now() - 60_000);
  await utimes(lock, longAgo, longAgo);
  await saveLogin(env, loginTo('acme'));
  assert.equal((await readLogins(env)).length, 1);
});

test('reading a credentials file that others can read restricts its mode', async () => {
  await saveLogin(env, loginTo('acme'));
  const file = join(configDirectory(env), 'credentials.json');
  await chmod(file, 0o644);
  await readLogins(env);
  assert.equal((await stat(file)).mode & 0o777, 0o600);
});

test('a truncated file is reported by name and left unchanged', async () => {
  await saveLogin(env, loginTo('acme'));
  const file = join(configDirectory(env), 'credentials.json');
  await writeFile(file, '{"version": 1, "log');
  await assert.rejects(saveLogin(env, loginTo('beta')), (error) => {
    assert.ok(error instanceof CliError);
    assert.equal(error.code, 'CONFIG_UNREADABLE');
    assert.ok(error.message.includes(file));
    return true;
  });
  assert.equal(await readFile(file, 'utf8'), '{"version": 1, "log');
});

test('the file of a newer version is rejected, not overwritten', async () => {
  await saveLogin(env, loginTo('acme'));
  const file = join(configDirectory(env), 'credentials.json');
  await writeFile(file, '{"version": 2, "logins": {}}');
  await assert.rejects(saveLogin(env, loginTo('beta')), /another version/);
  assert.equal(await readFile(file, 'utf8'), '{"version": 2, "logins": {}}');
});

test('a repository has one clone per workspace; linking another one replaces it', async () => {
  const clone = { url: 'http://h', workspaceId: 'ws_1', repoId: 'repo_1', label: 'a', path: '/a' };
  assert.equal(await linkClone(env, clone), null);
  assert.equal(await linkClone(env, clone), null);
  assert.equal(await linkClone(env, { ...clone, workspaceId: 'ws_2' }), null);
  assert.equal(await linkClone(env, { ...clone, path: '/b' }), '/a');
  assert.deepEqual(
    (await readLinkedClones(env, clone)).map(({ path }) => path),
    ['/b'],
  );
});

test('the directory is SIGNALBOX_CONFIG_DIR, otherwise below XDG_CONFIG_HOME', () => {
  assert.equal(configDirectory({ SIGNALBOX_CONFIG_DIR: '/a', XDG_CONFIG_HOME: '/b' }), '/a');
  assert.equal(configDirectory({ XDG_CONFIG_HOME: '/b' }), '/b/signalbox');
  assert.match(configDirectory({}), /\.config\/signalbox$/);
});
