import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { hashRemoteUrl } from '@signalbox/contract';
import { resolveRemote } from '../../src/git/git-remote.ts';
import { git, makeRepository } from '../support/harness.ts';

async function makeClone(t: TestContext, origin: string | null): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'signalbox-remote-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const clone = join(directory, 'My Clone');
  await makeRepository(clone);
  if (origin !== null) git(clone, 'remote', 'add', 'origin', origin);
  return clone;
}

const origins = [
  ['https://ada:secret@git.example.test/Acme/Api.git', 'Acme/Api'],
  ['ssh://git@git.example.test:22/acme/api', 'acme/api'],
  ['git@git.example.test:acme/api.git', 'acme/api'],
] as const;

for (const [origin, label] of origins) {
  test(`the origin ${origin.replace(/:[^/]*@/, ':…@')} is acme/api of git.example.test`, async (t) => {
    const remote = await resolveRemote(await makeClone(t, origin));
    assert.equal(remote.remoteUrlHash, await hashRemoteUrl('https://git.example.test/acme/api'));
    assert.equal(remote.label, label);
  });
}

test('an alias of the SSH configuration is replaced by host and port', async (t) => {
  const clone = await makeClone(t, 'git@work:acme/api.git');
  // The real ssh with a configuration of this test: -F replaces the person's own.
  const bin = join(clone, '..', 'bin');
  mkdirSync(bin);
  const config = join(bin, 'config');
  writeFileSync(config, 'Host work\n  HostName git.example.test\n  Port 2222\n');
  const ssh = execFileSync('sh', ['-c', 'command -v ssh'], { encoding: 'utf8' }).trim();
  writeFileSync(join(bin, 'ssh'), `#!/bin/sh\nexec ${ssh} -F '${config}' "$@"\n`);
  chmodSync(join(bin, 'ssh'), 0o755);
  const env = { ...process.env, PATH: `${bin}:${process.env.PATH}` };
  const remote = await resolveRemote(clone, { env });
  const expected = await hashRemoteUrl('ssh://git@git.example.test:2222/acme/api');
  assert.equal(remote.remoteUrlHash, expected);
  assert.equal(remote.label, 'acme/api');
});

test('a clone without an origin is identified by its path on this machine', async (t) => {
  const clone = await makeClone(t, null);
  mkdirSync(join(clone, 'deeper'));
  const remote = await resolveRemote(join(clone, 'deeper'));
  assert.equal(remote.hasOrigin, false);
  assert.equal(remote.label, 'My Clone');
  assert.equal(remote.path, git(clone, 'rev-parse', '--show-toplevel'));
  const url = `file://${hostname()}${remote.path}`;
  assert.equal(remote.remoteUrlHash, await hashRemoteUrl(url));
});

test('a relative origin is resolved from the top of the clone', async (t) => {
  const clone = await makeClone(t, '../origin.git');
  const remote = await resolveRemote(clone);
  const top = git(clone, 'rev-parse', '--show-toplevel');
  assert.equal(remote.remoteUrlHash, await hashRemoteUrl(join(top, '..', 'origin.git')));
});

test('a path outside any repository is rejected with a clear message', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'signalbox-remote-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  await assert.rejects(resolveRemote(directory), {
    name: 'GitError',
    message: `${directory} is not a git repository.`,
  });
  await assert.rejects(resolveRemote(join(directory, 'gone')), {
    name: 'GitError',
    message: `${join(directory, 'gone')} does not exist.`,
  });
});
