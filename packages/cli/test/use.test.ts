import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { readLogins, saveLogin } from '../src/hub/credentials.ts';
import { makePlace, type Place } from './harness.ts';

let place: Place;
beforeEach(async () => {
  place = makePlace();
  for (const [workspaceSlug, url] of [
    ['acme', 'https://hub.one.test'],
    ['acme', 'http://hub.two.test:4400'],
    ['beta', 'https://hub.one.test'],
  ] as const) {
    const token = `sbx_d_${workspaceSlug}`;
    const loggedInAt = '2026-11-02T09:00:00.000Z';
    await saveLogin(place.env, { url, workspaceSlug, workspaceId: 'ws_1', token, loggedInAt });
  }
});
afterEach(async () => await place.end());

const current = async () => {
  const [login] = await readLogins(place.env);
  return `${login?.workspaceSlug} at ${login?.url}`;
};

test('use makes a login the current one, and loses no other', async () => {
  assert.equal(await current(), 'beta at https://hub.one.test');
  const { exitCode, stdout, stderr } = await place.run(['use', 'acme@hub.two.test:4400']);
  assert.equal(exitCode, 0, stderr);
  assert.match(stdout, /acme at http:\/\/hub\.two\.test:4400 is the current workspace\./);
  assert.equal(await current(), 'acme at http://hub.two.test:4400');
  assert.equal((await readLogins(place.env)).length, 3);
});

test('without a name, use lists the logins and marks the current one', async () => {
  const { stdout } = await place.run(['use', '--json']);
  assert.deepEqual(JSON.parse(stdout), {
    ok: true,
    contexts: [
      { name: 'beta', url: 'https://hub.one.test', isCurrent: true },
      { name: 'acme@hub.two.test:4400', url: 'http://hub.two.test:4400', isCurrent: false },
      { name: 'acme@hub.one.test', url: 'https://hub.one.test', isCurrent: false },
    ],
  });
  const table = await place.run(['use']);
  assert.match(table.stdout, /✔ +beta +https:\/\/hub\.one\.test/);
});

test('a name of several logins, or of none, changes nothing', async () => {
  const ambiguous = await place.run(['use', 'acme']);
  assert.equal(ambiguous.exitCode, 2);
  assert.match(ambiguous.stderr, /acme@hub\.two\.test:4400, acme@hub\.one\.test/);
  const unknown = await place.run(['use', 'gamma']);
  assert.equal(unknown.exitCode, 2);
  assert.match(unknown.stderr, /not logged in to "gamma"/);
  assert.equal(await current(), 'beta at https://hub.one.test');
});

test('use says which variable goes before the login', async () => {
  const env = { SIGNALBOX_URL: 'http://h', SIGNALBOX_WORKSPACE: 'x' };
  const { stderr } = await place.run(['use', 'beta'], { env });
  assert.match(stderr, /SIGNALBOX_URL and SIGNALBOX_WORKSPACE override this/);
});
