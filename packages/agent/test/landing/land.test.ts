import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createCommandExecutor, type LandingOptions } from '../../src/index.ts';
import { type AcpSetup, setupAcp } from '../support/acp-harness.ts';
import { git } from '../support/harness.ts';

/** The prompt of each job is the script that its tool runs. */
const executor = createCommandExecutor({ command: 'sh "$SIGNALBOX_PROMPT_FILE"' });

async function setup(
  t: TestContext,
  landing: LandingOptions | ((place: AcpSetup) => LandingOptions) = {},
) {
  const h = await setupAcp(t);
  const { workspaceId, repoId, clone, client } = h;
  const chosen = typeof landing === 'function' ? landing(h) : landing;
  await h.start({ repositories: [{ repoId, path: clone, landing: chosen }], executor });
  const place = {
    ...h,
    /** A work that is done: its script has changed the repository. */
    async make(script: string) {
      const jobId = await h.enqueue(script);
      const { evidence } = await h.until(jobId, 'done');
      const commitSha = String(evidence?.commitSha);
      return { jobId, commitSha, branch: String(evidence?.branch) };
    },
    async approve(
      { jobId, commitSha }: { jobId: string; commitSha: string },
      override?: string,
    ): Promise<void> {
      const more = override === undefined ? {} : { override };
      await client.works.approve({ workspaceId, jobId, commitSha, ...more });
    },
    async land(jobId: string, status: 'done' | 'failed' = 'done') {
      const { job } = await client.works.land({ workspaceId, jobId });
      const landing = await h.until(job.jobId, status);
      return { landing, log: await h.output(job.jobId), work: await place.work(jobId) };
    },
    async work(jobId: string) {
      const { work } = await client.jobs.get({ workspaceId, jobId });
      assert.ok(work);
      return work;
    },
    /** A commit of a person. */
    async commit(file: string, text: string) {
      await writeFile(join(clone, file), text);
      git(clone, 'add', '.');
      git(clone, 'commit', '--quiet', '-m', `Change ${file}`);
      return git(clone, 'rev-parse', 'HEAD');
    },
    head: () => git(clone, 'rev-parse', 'main'),
    read: (file: string) => readFileSync(join(clone, file), 'utf8'),
  };
  return place;
}

test('a work is fast-forwarded into the branch that is checked out, and its files come', async (t) => {
  const h = await setup(t);
  // Hooks of the clone may prompt.
  const hook = join(h.clone, '.git', 'hooks', 'post-merge');
  await mkdir(join(h.clone, '.git', 'hooks'), { recursive: true });
  await writeFile(hook, `#!/bin/sh\ntouch ${join(h.directory, 'hooked')}\n`);
  await chmod(hook, 0o755);
  const work = await h.make('echo new > new.txt');
  await h.approve(work);
  await writeFile(join(h.clone, 'mine.txt'), 'not committed');
  const { work: after, log, landing } = await h.land(work.jobId);
  assert.equal(h.head(), work.commitSha);
  assert.equal(h.read('new.txt'), 'new\n');
  assert.equal(git(h.clone, 'status', '--porcelain'), '?? mine.txt');
  assert.deepEqual(
    [after.state, after.landed?.into, after.landed?.commitSha],
    ['landed', 'main', work.commitSha],
  );
  assert.match(log, /lands in main, the branch that the clone has checked out/);
  assert.match(landing.message ?? '', /^Landed in main, as /);
  assert.equal(landing.tool, null, 'no tool ran');
  assert.ok(!existsSync(join(h.directory, 'hooked')));
  const refs = git(h.clone, 'for-each-ref', '--format=%(refname)', 'refs/signalbox');
  assert.equal(refs, '', 'the clone keeps no ref of the landing');
});

test('a base that has moved is merged, and the checks run on the combined result', async (t) => {
  const check = { name: 'both', command: 'test ! -f new.txt || test ! -f bad.txt' };
  const h = await setup(t, { checks: [check] });
  const good = await h.make('echo new > new.txt');
  const base = await h.commit('other.txt', 'other');
  await h.approve(good);
  const { work, landing } = await h.land(good.jobId);
  const head = h.head();
  assert.equal(work.landed?.commitSha, head);
  assert.equal(git(h.clone, 'log', '-1', '--format=%P'), `${base} ${good.commitSha}`);
  assert.equal(landing.evidence?.verdict, 'verified');
  const message = git(h.clone, 'log', '-1', '--format=%B');
  assert.match(message, /^Merge: echo new > new\.txt\n\n/);
  assert.match(message, new RegExp(`Signalbox-Job: ${good.jobId}\nSignalbox-Landing: job_`));
  assert.match(message, /Approved-by: \S/);
  const bad = await h.make('echo bad > bad.txt; git rm -q --cached new.txt; rm new.txt');
  await h.commit('new.txt', 'changed');
  await h.approve(bad);
  const before = h.head();
  const failed = await h.land(bad.jobId, 'failed');
  assert.match(failed.work.landing?.reason ?? '', /conflicts with main in new\.txt/);
  const third = await h.make('echo third > third.txt');
  await h.commit('bad.txt', 'bad');
  await h.approve(third);
  const combined = await h.land(third.jobId, 'failed');
  assert.match(combined.work.landing?.reason ?? '', /not pass together with the base. Check both/);
  assert.equal(combined.work.state, 'in_review');
  assert.ok(combined.work.approval);
  assert.notEqual(h.head(), before);
  assert.equal(git(h.clone, 'log', '-1', '--format=%s'), 'Change bad.txt', 'the base stays');
});

test('conflicts are named at the end of the round, and by the landing', async (t) => {
  const h = await setup(t);
  const work = await h.make(
    `echo theirs > README.md; cd ${h.clone} && echo mine > README.md && git commit -qam Mine`,
  );
  const { missing } = await h.work(work.jobId);
  assert.deepEqual(missing, ['It conflicts with main in README.md.']);
  const head = h.head();
  await h.approve(work, 'Let us see.');
  const { work: after, landing } = await h.land(work.jobId, 'failed');
  assert.deepEqual(after.landing?.conflicts, { into: 'main', files: ['README.md'] });
  assert.match(after.landing?.reason ?? '', /continue job_\S+ "Rebase onto main and resolve/);
  assert.equal(landing.evidence?.commitSha, undefined);
  assert.equal(h.head(), head);
  assert.equal(git(h.clone, 'status', '--porcelain'), '');
});

test('squash makes one commit on a base that is not checked out, and lands once', async (t) => {
  const h = await setup(t, { by: 'squash', into: 'release' });
  git(h.clone, 'branch', 'release');
  const main = h.head();
  const work = await h.make(
    'echo 1 > a.txt; git add .; git commit -qm one; echo 2 > a.txt; git commit -qam two',
  );
  await h.approve(work);
  const { work: after, landing } = await h.land(work.jobId);
  assert.equal(git(h.clone, 'rev-parse', 'release'), after.landed?.commitSha);
  assert.equal(git(h.clone, 'log', '-1', '--format=%P', 'release'), main);
  assert.equal(git(h.clone, 'show', 'release:a.txt'), '2');
  assert.equal(h.head(), main);
  assert.ok(!existsSync(join(h.clone, 'a.txt')), 'the checkout stays');
  const trailers = git(h.clone, 'log', '-1', '--format=%(trailers)', 'release');
  assert.match(trailers, new RegExp(`Signalbox-Landing: ${landing.jobId}`));
});

test('a branch that has moved since the approval does not land', async (t) => {
  const h = await setup(t);
  const work = await h.make('echo new > new.txt');
  await h.approve(work);
  const tree = git(h.clone, 'rev-parse', `${work.commitSha}^{tree}`);
  const more = git(h.clone, 'commit-tree', tree, '-p', work.commitSha, '-m', 'More');
  git(h.clone, 'update-ref', `refs/heads/${work.branch}`, more);
  const head = h.head();
  const { work: after } = await h.land(work.jobId, 'failed');
  assert.match(after.landing?.reason ?? '', /not at the approved commit/);
  assert.equal(h.head(), head);
});

test('files of a person that are in the way keep the base where it is', async (t) => {
  const h = await setup(t);
  const work = await h.make('echo theirs > README.md');
  await h.approve(work);
  const head = h.head();
  await writeFile(join(h.clone, 'README.md'), 'mine, not committed');
  const { work: after } = await h.land(work.jobId, 'failed');
  assert.match(after.landing?.reason ?? '', /Commit or stash them, then land the work again/);
  assert.equal(h.head(), head);
  assert.equal(h.read('README.md'), 'mine, not committed');
  git(h.clone, 'checkout', '--quiet', 'README.md');
  assert.equal((await h.land(work.jobId)).work.state, 'landed');
  assert.equal(h.read('README.md'), 'theirs\n');
});

test('a base that moves while the checks run is built again', async (t) => {
  const h = await setup(t, ({ directory, clone }) => {
    const done = join(directory, 'moved');
    const commit = 'echo x > moved.txt && git add moved.txt && git commit -qm Moved';
    // The check of the combined result commits to the base, once.
    const isFirst = `test -f new.txt && test -f first.txt && ! test -f ${done}`;
    return {
      checks: [{ command: `! { ${isFirst}; } || (touch ${done}; cd ${clone} && ${commit})` }],
    };
  });
  const work = await h.make('echo new > new.txt');
  await h.commit('first.txt', 'first');
  await h.approve(work);
  const { log, work: after } = await h.land(work.jobId);
  assert.match(log, /main has moved meanwhile/);
  assert.equal(after.landed?.commitSha, h.head());
  assert.ok(existsSync(join(h.clone, 'moved.txt')) && existsSync(join(h.clone, 'new.txt')));
});

test('a base that an agent moved before it was killed is not moved again', async (t) => {
  const h = await setup(t);
  const work = await h.make('echo new > new.txt');
  const base = await h.commit('other.txt', 'other');
  await h.approve(work);
  // An agent that was killed has left this: the base has moved, and the hub does not know.
  git(h.clone, 'merge', '--quiet', '--no-ff', '-m', 'Merge: it', work.commitSha);
  const head = h.head();
  await h.commit('later.txt', 'later');
  const { work: after, landing } = await h.land(work.jobId);
  assert.match(landing.message ?? '', /has the work already/);
  assert.equal(after.landed?.commitSha, head);
  assert.notEqual(base, head);
  assert.equal(git(h.clone, 'rev-list', '--count', '--merges', 'HEAD'), '1');
});

test('a squash that landed is found again by its trailer', async (t) => {
  const h = await setup(t, { by: 'squash' });
  const work = await h.make('echo new > new.txt');
  await h.approve(work);
  git(h.clone, 'merge', '--quiet', '--squash', work.commitSha);
  const trailer = `Signalbox-Approved: ${work.commitSha}`;
  git(h.clone, 'commit', '--quiet', '-m', `It\n\n${trailer}`);
  const head = h.head();
  await h.commit('new.txt', 'changed afterwards');
  const { work: after } = await h.land(work.jobId);
  assert.equal(after.landed?.commitSha, head);
});

test('a commit of a tool that only says that it lands another one is no landing', async (t) => {
  const h = await setup(t);
  const work = await h.make('echo new > new.txt');
  await h.approve(work);
  const trailer = `Signalbox-Approved: ${work.commitSha}`;
  git(h.clone, 'commit', '--quiet', '--allow-empty', '-m', `Mine\n\n${trailer}`);
  const { work: after, landing } = await h.land(work.jobId);
  assert.match(landing.message ?? '', /^Landed in main/);
  assert.equal(after.landed?.commitSha, h.head());
  assert.equal(h.read('new.txt'), 'new\n');
});

test('with push the origin gets the base, and what it has meanwhile is kept', async (t) => {
  const h = await setup(t, { pushBase: true });
  const remote = join(h.directory, 'remote.git');
  git(h.directory, 'clone', '--quiet', '--bare', h.clone, remote);
  git(h.clone, 'remote', 'add', 'origin', remote);
  const work = await h.make('echo new > new.txt');
  const other = join(h.directory, 'other');
  git(h.directory, 'clone', '--quiet', remote, other);
  const identity = ['-c', 'user.name=B', '-c', 'user.email=b@example.test'];
  git(other, ...identity, 'commit', '--quiet', '--allow-empty', '-m', 'Theirs');
  git(other, 'push', '--quiet', 'origin', 'main');
  await h.approve(work);
  const { work: after } = await h.land(work.jobId);
  assert.equal(git(remote, 'rev-parse', 'main'), after.landed?.commitSha);
  assert.equal(h.head(), after.landed?.commitSha);
  assert.match(git(h.clone, 'log', '--format=%s'), /Theirs/);
});

test('a push that the origin rejects lands nothing', async (t) => {
  const h = await setup(t, { pushBase: true });
  const remote = join(h.directory, 'remote.git');
  git(h.directory, 'clone', '--quiet', '--bare', h.clone, remote);
  git(h.clone, 'remote', 'add', 'origin', remote);
  const work = await h.make('echo new > new.txt');
  const hook = join(remote, 'hooks', 'update');
  await mkdir(join(remote, 'hooks'), { recursive: true });
  await writeFile(hook, '#!/bin/sh\ntest "$1" != refs/heads/main\n');
  await chmod(hook, 0o755);
  await h.approve(work);
  const head = h.head();
  const { work: after } = await h.land(work.jobId, 'failed');
  assert.match(after.landing?.reason ?? '', /Nothing has landed/);
  assert.doesNotMatch(after.landing?.reason ?? '', new RegExp(remote));
  assert.equal(h.head(), head);
});

test('fast-forward only asks for a rebase', async (t) => {
  const h = await setup(t, { by: 'fast-forward' });
  const work = await h.make('echo new > new.txt');
  await h.commit('other.txt', 'other');
  await h.approve(work);
  const { work: after } = await h.land(work.jobId, 'failed');
  assert.match(after.landing?.reason ?? '', /job continue job_\S+ "Rebase onto main"/);
});

test('by pull request, the branch is pushed and the base stays', async (t) => {
  const url = 'https://github.com/acme/api/pull/7';
  const h = await setup(t, ({ directory, env }) => {
    const tools = join(directory, 'tools');
    mkdirSync(tools);
    const lines = ['#!/bin/sh', `echo "$@" > ${join(directory, 'gh.args')}`, 'cat > /dev/null'];
    writeFileSync(join(tools, 'gh'), [...lines, `echo ${url}`, ''].join('\n'), { mode: 0o755 });
    env.PATH = `${tools}:${env.PATH}`;
    return { by: 'pull-request', into: 'release' };
  });
  const remote = join(h.directory, 'remote.git');
  git(h.clone, 'branch', 'release');
  git(h.directory, 'clone', '--quiet', '--bare', h.clone, remote);
  git(h.clone, 'remote', 'add', 'origin', 'git@github.com:acme/api.git');
  git(h.clone, 'config', `url.${remote}.insteadOf`, 'git@github.com:acme/api.git');
  git(h.clone, 'fetch', '--quiet', 'origin');
  const work = await h.make('echo new > new.txt');
  await h.approve(work);
  const release = git(h.clone, 'rev-parse', 'release');
  const { work: after, landing } = await h.land(work.jobId);
  assert.deepEqual([after.landed?.pullRequestUrl, after.landed?.commitSha], [url, null]);
  assert.match(landing.message ?? '', /^A pull request is open: https/);
  assert.equal(git(remote, 'rev-parse', work.branch), work.commitSha);
  assert.equal(git(h.clone, 'rev-parse', 'release'), release);
  assert.match(readFileSync(join(h.directory, 'gh.args'), 'utf8'), /--base release/);
});
