import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { settings } from '@signalbox/hub';
import { exitCodes } from '../src/index.ts';
import { makePlace, type Place } from './harness.ts';

let place: Place;
before(() => {
  place = makePlace();
});
after(async () => await place.end());

test('every setting of the hub appears in the help with its flag, environment name and default', async () => {
  const { stdout } = await place.run(['serve', '--help']);
  const help = stdout.replace(/\s+/g, ' ');
  for (const { flag, env, default: standard } of Object.values(settings)) {
    assert.ok(help.includes(`--${flag} <value>`), flag);
    assert.ok(help.includes(env), env);
    if (standard !== '')
      assert.ok(help.includes(`${env}, default ${standard}`), `${env} ${standard}`);
  }
});

test('every setting of the hub has a flag, which takes precedence over the environment', async () => {
  const wrong = { SVC_PORT: 'wrong', SVC_LOG_LEVEL: 'wrong', SVC_DEV_ALLOW_UNAUTH: 'wrong' };
  const right = ['--port', '0', '--log-level', 'silent', '--dev-allow-unauth', 'false'];
  const dataDir = ['--data-dir', join(place.directory, 'flags')];
  const hub = place.start(['serve', ...right, ...dataDir], { env: wrong });
  await hub.says(/listens on/);
  hub.child.kill('SIGTERM');
  assert.equal((await hub.ended).exitCode, exitCodes.ok);
});

/** Flags of a start, and whether it warns that other machines reach the hub over plain HTTP. */
const listeners: readonly (readonly [flags: readonly string[], warns: boolean])[] = [
  [['--host', '127.0.0.1'], false],
  [['--host', '0.0.0.0'], true],
  [['--host', '0.0.0.0', '--base-url', 'https://signalbox.acme.dev'], false],
];

for (const [flags, warns] of listeners) {
  test(`serve ${flags.join(' ')} ${warns ? 'warns of' : 'says nothing about'} plain HTTP`, async () => {
    const dataDir = ['--data-dir', join(place.directory, `listen-${flags.length}-${warns}`)];
    const hub = place.start(['serve', '--port', '0', ...flags, ...dataDir]);
    await hub.says(/create the first owner/);
    hub.child.kill('SIGTERM');
    const { stdout } = await hub.ended;
    assert.equal(/Warning: other machines can reach this hub over plain HTTP/.test(stdout), warns);
  });
}

test('a bad setting stops the start with one sentence that names it', async () => {
  const { exitCode, stderr } = await place.run(['serve', '--port', 'http']);
  assert.equal(exitCode, exitCodes.usage);
  assert.match(stderr, /^✖ SVC_PORT is "http"/);
  assert.doesNotMatch(stderr, /\n +at /);
});

test('an unknown flag is a usage error with a suggestion', async () => {
  const { exitCode, stderr } = await place.run(['serve', '--prot', '1']);
  assert.equal(exitCode, exitCodes.usage);
  assert.match(stderr, /--prot.*Did you mean --port/);
});

test('a port in use stops the start with one sentence', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const port = String((server.address() as AddressInfo).port);
  const args = ['serve', '--port', port, '--data-dir', join(place.directory, 'busy'), '--json'];
  const { exitCode, stderr } = await place.run(args);
  server.close();
  assert.equal(exitCode, exitCodes.failed);
  const failure = JSON.parse(stderr);
  assert.equal(failure.error, 'START_REFUSED');
  assert.ok(failure.message.includes(port), failure.message);
});

test('an operator creates a workspace and a token while the hub is stopped', async () => {
  const dataDir = join(place.directory, 'admin');
  const hub = place.start(['serve', '--port', '0', '--data-dir', dataDir]);
  await hub.says(/create the first owner/);
  hub.child.kill('SIGTERM');
  await hub.ended;
  const data = ['--data-dir', dataDir, '--json'];
  const create = ['admin', 'workspace', 'create', '--slug', 'acme', '--name', 'Acme', ...data];
  const made = await place.run(create);
  assert.equal(made.exitCode, exitCodes.ok, made.stderr);
  assert.equal(JSON.parse(made.stdout).workspace.slug, 'acme');
  const again = await place.run(create);
  assert.equal(again.exitCode, exitCodes.refused);
  assert.equal(JSON.parse(again.stderr).error, 'SLUG_TAKEN');
  const mint = [
    'admin',
    'tokens',
    'create',
    '-w',
    'acme',
    '--name',
    'CI',
    '--scopes',
    'read',
    ...data,
  ];
  const minted = JSON.parse((await place.run(mint)).stdout);
  assert.match(minted.token, /^sbx_s_/);
  assert.deepEqual(minted.scopes, ['read']);
  const unknown = await place.run([
    'admin',
    'tokens',
    'create',
    '-w',
    'x',
    '--name',
    'CI',
    ...data,
  ]);
  assert.equal(JSON.parse(unknown.stderr).error, 'WORKSPACE_NOT_FOUND');
});
