import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { exitCodes } from '../src/index.ts';
import { type HubPlace, startHub } from './harness.ts';

let place: HubPlace;
before(async () => {
  place = await startHub();
});
after(async () => await place.end());

function readCredentials() {
  const file = join(place.directory, 'config', 'credentials.json');
  const { logins } = JSON.parse(readFileSync(file, 'utf8')) as {
    logins: { token: string; url: string; workspaceSlug: string }[];
  };
  return { file, logins };
}

/** Starts a login and answers it at the console. */
async function logIn(decision: 'approve' | 'deny', args: readonly string[] = []) {
  const login = place.start(['login', '--no-browser', '-w', place.workspaceSlug, ...args]);
  const [userCode] = await login.says(/\b[B-Z]{4}-[B-Z]{4}\b/);
  const [deviceId] = await login.says(/dev_[0-9a-z]+/);
  await place.console.deviceApprovals.open({ deviceId });
  await place.console.deviceApprovals.answer({ deviceId, decision, userCode });
  return { ...(await login.ended), deviceId };
}

test('a login approved in the browser stores a token that only this user can read', async () => {
  const { exitCode, stdout, stderr } = await logIn('approve');
  assert.equal(exitCode, exitCodes.ok, stderr);
  assert.match(stdout, /Logged in to acme/);
  const { file, logins } = readCredentials();
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal(statSync(join(file, '..')).mode & 0o777, 0o700);
  const [login] = logins;
  assert.match(login?.token ?? '', /^sbx_d_/);
  assert.ok(!`${stdout}${stderr}`.includes('sbx_'), 'no token is printed');
});

test('whoami names the person, the workspace and the hub', async () => {
  const { stdout, exitCode } = await place.run(['whoami', '--json']);
  assert.equal(exitCode, exitCodes.ok);
  const who = JSON.parse(stdout);
  assert.equal(who.kind, 'device');
  assert.equal(who.workspaceSlug, 'acme');
  assert.equal(who.url, place.url);
  assert.match((await place.run(['whoami'])).stdout, /^Name +Ada/);
});

test('with --json a login prints the code, then the login, and never the token', async () => {
  const { exitCode, stdout } = await logIn('approve', ['--json']);
  assert.equal(exitCode, exitCodes.ok);
  const [code, approved, ...more] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(more, []);
  assert.equal(code.event, 'code');
  assert.equal(approved.event, 'approved');
  assert.equal(approved.workspaceSlug, 'acme');
  assert.ok(!stdout.includes('sbx_'));
  assert.equal(readCredentials().logins.length, 1, 'a workspace is stored once');
});

test('a denied login exits with 3 and keeps the previous login', async () => {
  const [before] = readCredentials().logins;
  const { exitCode, stderr } = await logIn('deny');
  assert.equal(exitCode, exitCodes.unauthorized);
  assert.match(stderr, /LOGIN_DENIED/);
  assert.deepEqual(readCredentials().logins, [before]);
});

test('Ctrl-C ends a waiting login with exit code 130', async () => {
  const login = place.start(['login', '--no-browser', '-w', place.workspaceSlug]);
  await login.says(/dev_[0-9a-z]+/);
  login.child.kill('SIGINT');
  const { exitCode, stderr } = await login.ended;
  assert.equal(exitCode, exitCodes.interrupted);
  assert.doesNotMatch(stderr, /\n +at /, 'no stack');
});

test('logout revokes the token and deletes it', async () => {
  const [login] = readCredentials().logins;
  assert.ok(login);
  const { exitCode } = await place.run(['logout']);
  assert.equal(exitCode, exitCodes.ok);
  assert.deepEqual(readCredentials().logins, []);
  const used = await place.run(['whoami'], { env: { SIGNALBOX_TOKEN: login.token } });
  assert.equal(used.exitCode, exitCodes.unauthorized);
  assert.match(used.stderr, /TOKEN_REVOKED/);
  assert.match(used.stderr, /Fix .*signalbox login/);
  assert.match(used.stderr, /Request +req_/);
});

test('logout of a token that was revoked elsewhere succeeds and deletes it', async () => {
  await logIn('approve');
  const [login] = readCredentials().logins;
  const headers = { authorization: `Bearer ${login?.token}`, 'content-type': 'application/json' };
  const path = '/control-plane/v1/auth/token/revoke';
  const revoked = await fetch(place.url + path, { method: 'POST', headers, body: '{}' });
  assert.equal(revoked.status, 200);
  const { exitCode } = await place.run(['logout']);
  assert.equal(exitCode, exitCodes.ok);
  assert.deepEqual(readCredentials().logins, []);
});

test('a command without a login explains how to log in', async () => {
  const { exitCode, stderr } = await place.run(['jobs', '--json']);
  assert.equal(exitCode, exitCodes.unauthorized);
  const failure = JSON.parse(stderr);
  assert.equal(failure.ok, false);
  assert.equal(failure.error, 'NOT_LOGGED_IN');
  assert.match(failure.fix, /signalbox login/);
});

test('a workspace that this machine is not logged in to is named, with the hub of its login', async () => {
  await logIn('approve');
  // The hub is not named, so it is the one of the login.
  const env = { SIGNALBOX_URL: '' };
  const other = await place.run(['jobs', '--workspace', 'other', '--json'], { env });
  assert.equal(other.exitCode, exitCodes.unauthorized);
  const failure = JSON.parse(other.stderr);
  assert.equal(failure.error, 'NOT_LOGGED_IN');
  assert.equal(failure.message, 'This machine is not logged in to the workspace "other".');
  assert.equal(failure.fix, `signalbox login --workspace other --url ${place.url}`);
  await place.run(['logout']);
});
