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
  return place.run(['admin', 'member', 'add', ...args, ...dataDir()]);
}

/** A browser in which nobody is signed in. */
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

test('a workspace that the operator makes gets its first owner, beside a running hub', async () => {
  const create = ['admin', 'workspace', 'create', '--slug', 'beta', ...dataDir()];
  assert.equal((await place.run(create)).exitCode, exitCodes.ok);
  const baseUrl = ['--base-url', place.url];
  const draft = ['-w', 'beta', '--email', 'Grace@Acme.test', '--role', 'owner'];
  const { exitCode, stdout, stderr } = await addMember(...draft, ...baseUrl);
  assert.equal(exitCode, exitCodes.ok, stderr);
  const [, linkToken = ''] = /^(?:http\S+)\/invitation#token=(\S+)\n$/.exec(stdout) ?? [];
  assert.ok(stdout.startsWith(place.url), 'the link alone is on standard output');
  assert.match(stderr, /Send it to grace@acme\.test/);
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

test('with --json the link comes with what it is for, and leads to where the hub listens', async () => {
  const draft = ['-w', 'acme', '--email', 'eve@acme.test', '--role', 'viewer', '--json'];
  const { stdout } = await addMember(...draft, '--host', '0.0.0.0', '--port', '4411');
  const { ok, invitationUrl, workspaceSlug, email, role } = JSON.parse(stdout);
  assert.deepEqual([ok, workspaceSlug, email, role], [true, 'acme', 'eve@acme.test', 'viewer']);
  assert.match(invitationUrl, /^http:\/\/localhost:4411\/invitation#token=[\w-]{43}$/);
});

test('what cannot be is refused in a sentence', async () => {
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
  assert.match(king.stderr, /"king" is none of owner, admin, member, viewer/);
});
