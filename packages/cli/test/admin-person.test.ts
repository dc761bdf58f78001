import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { exitCodes } from '../src/index.ts';
import { type HubPlace, startHub } from './harness.ts';

let place: HubPlace;
before(async () => {
  place = await startHub();
});
after(async () => await place.end());

function resetPassword(...args: string[]) {
  const dataDir = ['--data-dir', join(place.directory, 'data')];
  return place.run(['admin', 'person', 'reset-password', ...args, ...dataDir]);
}

const tokenOf = (url: string) => url.split('#token=')[1]?.trim() ?? '';

test('a link for a new password leads to the running hub, and sets the password once', async () => {
  const { exitCode, stdout, stderr } = await resetPassword('--email', 'Ada@Acme.test');
  assert.equal(exitCode, exitCodes.ok, stderr);
  assert.ok(stdout.startsWith(`${place.url}/reset-password#token=`), stdout);
  assert.match(stderr, /Send it to Ada \(ada@acme\.test\)/);
  assert.doesNotMatch(stderr, /No running hub/);
  const linkToken = tokenOf(stdout);
  const newPassword = 'nine lanterns over harbour';
  const state = await place.console.passwordResets.setPassword({ linkToken, newPassword });
  assert.equal(state.person?.name, 'Ada');
  const { status } = await place.console.passwordResets.check({ linkToken });
  assert.equal(status, 'used');
});

test('with --json the output names the person and the address, and the link replaces the previous one', async () => {
  const first = JSON.parse((await resetPassword('--email', 'ada@acme.test', '--json')).stdout);
  assert.deepEqual([first.ok, first.email, first.name], [true, 'ada@acme.test', 'Ada']);
  assert.deepEqual(first.address, { baseUrl: place.url, source: 'running-hub' });
  const lifeMs = Date.parse(first.expiresAt) - Date.now();
  assert.ok(Math.abs(lifeMs - 86_400_000) < 60_000, first.expiresAt);
  await resetPassword('--email', 'ada@acme.test');
  const linkToken = tokenOf(first.resetUrl);
  assert.equal((await place.console.passwordResets.check({ linkToken })).status, 'replaced');
});

test('an unknown address and an invalid address are refused in a sentence', async () => {
  const unknown = await resetPassword('--email', 'eve@acme.test');
  assert.equal(unknown.exitCode, exitCodes.refused);
  assert.equal(unknown.stdout, '');
  assert.match(unknown.stderr, /No person on this hub has the e-mail address eve@acme\.test/);
  const json = await resetPassword('--email', 'eve@acme.test', '--json');
  assert.equal(JSON.parse(json.stderr).error, 'PERSON_NOT_FOUND');
  const wrong = await resetPassword('--email', 'eve', '--json');
  assert.deepEqual(
    [wrong.exitCode, JSON.parse(wrong.stderr).error],
    [exitCodes.refused, 'INVALID_REQUEST'],
  );
});

test('the link can be created while the hub is stopped', async () => {
  place.hub.child.kill('SIGTERM');
  await place.hub.ended;
  const { exitCode, stdout, stderr } = await resetPassword('--email', 'ada@acme.test');
  assert.equal(exitCode, exitCodes.ok, stderr);
  assert.match(stdout, /^http:\/\/127\.0\.0\.1:4400\/reset-password#token=/);
  assert.match(stderr, /No running hub was found here/);
});
