import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type RepositoryMapping, refreshMirror } from '../../src/git/git-mirror.ts';
import { chooseBase } from '../../src/landing/base-branch.ts';
import { git, makeRepository } from '../support/harness.ts';

async function setup(t: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), 'signalbox-base-'));
  t.after(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }));
  const origin = join(directory, 'origin');
  await makeRepository(origin);
  const clone = join(directory, 'clone');
  git(directory, 'clone', '--quiet', 'origin', 'clone');
  git(clone, 'config', 'user.name', 'Ada Person');
  git(clone, 'config', 'user.email', 'ada@example.test');
  const mirror = { gitDir: join(directory, 'mirror.git'), clonePath: clone };
  return {
    directory,
    origin,
    clone,
    mirror,
    refresh: (options: Partial<RepositoryMapping> = {}) =>
      refreshMirror(mirror, { repoId: 'repo_test', path: clone, ...options }, null),
    landsIn: async () => (await chooseBase({ repoId: 'repo_test', path: clone }))?.name ?? null,
    /** Commits on the branch that is checked out. */
    commit(place: string, message: string) {
      git(place, 'commit', '--quiet', '--allow-empty', '-m', message);
      return git(place, 'rev-parse', 'HEAD');
    },
  };
}

test('jobs begin with the default branch of the origin, not with what is checked out', async (t) => {
  const { clone, origin, commit, refresh, landsIn } = await setup(t);
  const own = commit(clone, 'Not pushed');
  git(clone, 'switch', '--quiet', '--create', 'feature');
  commit(clone, 'A feature');
  assert.deepEqual(await refresh(), { sha: own, branch: 'main' });
  assert.equal(await landsIn(), 'main');
  git(clone, 'checkout', '--quiet', '--detach');
  assert.deepEqual(await refresh(), { sha: own, branch: 'main' });
  git(clone, 'branch', '--quiet', '--force', 'main', 'origin/main');
  const fetched = commit(origin, 'By somebody else');
  git(clone, 'fetch', '--quiet');
  assert.deepEqual(await refresh(), { sha: fetched, branch: 'main' }, 'main is only behind');
  const diverged = git(clone, 'rev-parse', 'feature');
  git(clone, 'branch', '--quiet', '--force', 'main', 'feature');
  assert.deepEqual(await refresh(), { sha: diverged, branch: 'main' }, 'the clone has its own');
  git(clone, 'branch', '--quiet', '-D', 'main');
  assert.deepEqual(await refresh(), { sha: fetched, branch: 'main' });
});

test('jobs that begin at the same time share a refresh that begins after they ask', async (t) => {
  const { clone, commit, refresh } = await setup(t);
  await refresh();
  for (const message of ['One more', 'And one more']) {
    const made = commit(clone, message);
    const found = await Promise.all([refresh(), refresh(), refresh(), refresh()]);
    assert.deepEqual(found, Array(4).fill({ sha: made, branch: 'main' }));
  }
  const [main, ofOrigin] = await Promise.all([refresh(), refresh({ baseRef: 'origin/main' })]);
  assert.notEqual(main.sha, ofOrigin.sha, 'each has the base that it asks for');
});

test('without an origin, jobs begin with the branch that is checked out', async (t) => {
  const { clone, commit, refresh, landsIn } = await setup(t);
  git(clone, 'remote', 'remove', 'origin');
  const main = commit(clone, 'On main');
  git(clone, 'switch', '--quiet', '--create', 'topic');
  const topic = commit(clone, 'On topic');
  assert.deepEqual(await refresh(), { sha: topic, branch: 'topic' });
  assert.equal(await landsIn(), 'topic');
  git(clone, 'switch', '--quiet', '--create', 'signalbox/job_1-1');
  commit(clone, 'Of an agent');
  assert.deepEqual(await refresh(), { sha: main, branch: 'main' }, 'not the branch of an agent');
  assert.equal(await landsIn(), 'main');
  git(clone, 'checkout', '--quiet', '--detach', 'topic');
  assert.deepEqual(await refresh(), { sha: topic, branch: null });
  assert.equal(await landsIn(), null);
});

test('a branch that is named counts more than the default one', async (t) => {
  const { clone, origin, commit, refresh } = await setup(t);
  git(origin, 'switch', '--quiet', '--create', 'release');
  const release = commit(origin, 'For the release');
  assert.deepEqual(await refresh({ baseRef: 'main', fetchOrigin: true }), {
    sha: git(clone, 'rev-parse', 'main'),
    branch: 'main',
  });
  for (const baseRef of ['release', 'origin/release']) {
    const base = await refresh({ baseRef, fetchOrigin: true });
    assert.deepEqual(base, { sha: release, branch: baseRef }, 'only the origin has it');
  }
  await assert.rejects(refresh({ baseRef: 'relaese' }), /has no commit named relaese/);
});
