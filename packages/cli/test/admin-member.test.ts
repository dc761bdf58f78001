import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { consoleEndpoints } from '@signalbox/contract';
import { createClientOf } from '@signalbox/sdk';
import { exitCodes } from '../src/index.ts';
import { type HubPlace, startHub } from './harness.ts';

let place: HubPlace;
before(async () => {
  place = await startHub();
});
after(async () => await place.end());

const dataDir = () => ['--data-dir', join(place.directory, 'data')];

function addMember(...args: string[]) {
  return place.run(['admin', 'members', 'invite', ...args, ...dataDir()]);
}

/** A browser without a signed-in person. */
function openConsole() {
  const headers = { origin: place.url };
  return createClientOf(consoleEndpoints, {
    baseUrl: place.url,
    fetch: (input, init) => {
      const sent = new Headers(init?.headers);
      for (const [name, value] of Object.entries(headers)) sent.set(name, value);
      return fetch(input, { ...init, headers: sent });
    },
  });
}

test('an operator creates a workspace and invites its first owner while the hub is running', async () => {
  const create = ['admin', 'workspace', 'create', '--slug', 'beta', ...dataDir()];
  assert.equal((await place.run(create)).exitCode, exitCodes.ok);
  const draft = ['-w', 'beta', '--email', 'Grace@Acme.test', '--role', 'owner'];
  const { exitCode, stdout, stderr } = await addMember(...draft);
  assert.equal(exitCode, exitCodes.ok, stderr);
  const [, linkToken = ''] = /^(?:http\S+)\/invitation#token=(\S+)\n$/.exec(stdout) ?? [];
  assert.ok(stdout.startsWith(place.url), 'standard output contains only the link');
  assert.match(stderr, /Send it to grace@acme\.test/);
  assert.match(stderr, /The link opens on this machine only/);
  const console = openConsole();
  const { invitation } = await console.invitations.check({ linkToken });
  assert.deepEqual(
    [invitation?.workspaceName, invitation?.role, invitation?.invitedBy],
    ['beta', 'owner', 'operator'],
  );
  const state = await console.invitations.accept({
    linkToken,
    name: 'Grace Hopper',
    password: 'nine lanterns over harbour',
  });
  assert.deepEqual(
    state.workspaces.map(({ slug, role }) => [slug, role]),
    [['beta', 'owner']],
  );
  const again = await addMember(...draft, '--json');
  assert.equal(again.exitCode, exitCodes.refused);
  assert.equal(JSON.parse(again.stderr).error, 'ALREADY_MEMBER');
});

test('with --json the link comes with its details and the source of its address', async () => {
  const draft = ['-w', 'acme', '--email', 'eve@acme.test', '--role', 'viewer', '--json'];
  const { stdout } = await addMember(...draft, '--port', '4411');
  const { ok, invitationUrl, workspaceSlug, email, role, address } = JSON.parse(stdout);
  assert.deepEqual([ok, workspaceSlug, email, role], [true, 'acme', 'eve@acme.test', 'viewer']);
  assert.deepEqual(address, { baseUrl: place.url, source: 'running-hub' });
  assert.match(invitationUrl.slice(place.url.length), /^\/invitation#token=[\w-]{43}$/);
});

test('a configured base URL takes precedence over the address of the running hub', async () => {
  const draft = ['-w', 'acme', '--email', 'eve@acme.test', '--role', 'viewer'];
  const { stdout, stderr } = await addMember(...draft, '--base-url', 'https://signalbox.acme.test');
  assert.match(stdout, /^https:\/\/signalbox\.acme\.test\/invitation#token=/);
  assert.doesNotMatch(stderr, /this machine only|No running hub/);
});

test('while the hub is stopped or killed, the link uses the settings, with a note', async (t) => {
  const stopped = await startHub();
  t.after(() => stopped.end());
  const args = ['admin', 'members', 'invite', '-w', 'acme', '--role', 'viewer', '--email'];
  const where = [
    '--data-dir',
    join(stopped.directory, 'data'),
    '--host',
    '0.0.0.0',
    '--port',
    '4411',
  ];
  // A killed hub leaves its address file behind.
  stopped.hub.child.kill('SIGKILL');
  await stopped.hub.ended;
  const { stdout, stderr } = await stopped.run([...args, 'eve@acme.test', ...where]);
  assert.match(stdout, /^http:\/\/localhost:4411\/invitation#token=[\w-]{43}\n$/);
  assert.match(stderr, /No running hub was found here/);
  const json = await stopped.run([...args, 'eve@acme.test', ...where, '--json']);
  const address = { baseUrl: 'http://localhost:4411', source: 'assumed' };
  assert.deepEqual(JSON.parse(json.stdout).address, address);
});

test('an unknown workspace, a bad address and an unknown role are rejected', async () => {
  const refused = async (...args: string[]) => {
    const { exitCode, stderr } = await addMember(...args, '--json');
    return [exitCode, JSON.parse(stderr).error];
  };
  const eve = ['--email', 'eve@acme.test'];
  assert.deepEqual(await refused('-w', 'none', ...eve, '--role', 'viewer'), [
    exitCodes.refused,
    'WORKSPACE_NOT_FOUND',
  ]);
  assert.deepEqual(await refused('-w', 'acme', '--email', 'eve', '--role', 'viewer'), [
    exitCodes.refused,
    'INVALID_REQUEST',
  ]);
  const king = await addMember('-w', 'acme', ...eve, '--role', 'king');
  assert.equal(king.exitCode, exitCodes.usage);
  assert.match(king.stderr, /must be one of owner, admin, member, viewer, not "king"/);
});
