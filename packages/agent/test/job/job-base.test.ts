import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { BuildsOn, Job } from '@signalbox/contract';
import { createCommandExecutor, type LandingOptions } from '../../src/index.ts';
import { setupAcp } from '../support/acp-harness.ts';
import { git } from '../support/harness.ts';

/** The prompt of each job is the script that its tool runs. */
const executor = createCommandExecutor({ command: 'sh "$SIGNALBOX_PROMPT_FILE"' });

async function setup(t: TestContext, landing: LandingOptions = {}) {
  const h = await setupAcp(t);
  const { workspaceId, repoId, clone, client, directory } = h;
  const start = (path = clone, displayName = 'agent') => {
    const repositories = [{ repoId, path, landing }];
    return h.start({ repositories, executor, displayName, stateDir: join(directory, displayName) });
  };
  const place = {
    ...h,
    start,
    async add(prompt: string, more: { base?: string; dependsOn?: string[] } = {}) {
      const draft = { workspaceId, repoId, kind: 'work', prompt, ...more } as const;
      return (await client.jobs.enqueue(draft)).jobId;
    },
    /** A job that is done. */
    async make(prompt: string, more: { base?: string; dependsOn?: string[] } = {}) {
      return place.done(await place.add(prompt, more));
    },
    async done(jobId: string) {
      const job = await h.until(jobId, 'done');
      return { jobId, commitSha: String(job.evidence?.commitSha), ...parts(job) };
    },
    files: (commit: string) => git(clone, 'ls-tree', '--name-only', commit).split('\n'),
    /** Approves the result of a job, and lands it. */
    async land(jobId: string, commitSha: string, status: 'done' | 'failed' = 'done') {
      await client.works.approve({ workspaceId, jobId, commitSha });
      const { job } = await client.works.land({ workspaceId, jobId });
      return (await h.until(job.jobId, status)).message ?? '';
    },
    /** Another clone of the same repository, as another machine has it. */
    cloneAgain() {
      git(directory, 'clone', '--quiet', '--single-branch', 'clone', 'other');
      return join(directory, 'other');
    },
  };
  return place;
}

function parts({ evidence }: Job) {
  const { baseSha, changedFiles, checks } = evidence ?? {};
  return {
    baseSha,
    changedFiles,
    checks: checks as { exitCode: number }[] | undefined,
    buildsOn: evidence?.buildsOn as BuildsOn,
  };
}

test('a job begins with the commit of the job that it depends on', async (t) => {
  const h = await setup(t);
  await h.start();
  const begun = git(h.clone, 'rev-parse', 'main');
  const firstId = await h.add('echo 1 > one.txt');
  const secondId = await h.add('cat one.txt; echo 2 > two.txt', { dependsOn: [firstId] });
  const first = await h.done(firstId);
  assert.deepEqual(first.buildsOn, { commitSha: begun, branch: 'main' });
  const second = await h.done(secondId);
  const { commitSha } = first;
  assert.deepEqual(second.buildsOn, {
    commitSha,
    branch: 'main',
    jobs: [{ jobId: firstId, commitSha }],
  });
  assert.deepEqual([second.baseSha, second.changedFiles], [commitSha, ['two.txt']]);
  assert.deepEqual(h.files(second.commitSha), ['README.md', 'one.txt', 'two.txt']);
  const log = await h.output(secondId);
  assert.ok(log.includes(`builds on job ${firstId}, commit ${commitSha.slice(0, 12)}.`), log);
  // Its order only.
  const other = await h.make('echo 3 > three.txt', { dependsOn: [firstId], base: 'main' });
  assert.deepEqual(h.files(other.commitSha), ['README.md', 'three.txt']);
  const named = await h.make('echo 4 > four.txt', { base: secondId });
  assert.equal(named.baseSha, second.commitSha);
  // A round that has continued it counts.
  const { workspaceId, client } = h;
  // The history of the earlier rounds follows, and is no script.
  const message = 'echo 5 > five.txt; exit';
  const { job } = await client.jobs.continue({ workspaceId, jobId: secondId, message });
  const round = await h.done(job.jobId);
  assert.deepEqual(round.buildsOn, second.buildsOn);
  const later = await h.make('true', { dependsOn: [secondId] });
  assert.deepEqual(later.buildsOn.jobs, [{ jobId: job.jobId, commitSha: round.commitSha }]);
});

test('the work of several jobs is merged, in the same commit each time', async (t) => {
  const h = await setup(t);
  await h.start();
  const one = await h.make('echo 1 > one.txt');
  const two = await h.make('echo 2 > two.txt');
  const top = await h.make('echo 3 > three.txt', { dependsOn: [one.jobId] });
  const dependsOn = [one.jobId, two.jobId, top.jobId];
  const merged = await h.make('echo 4 > four.txt', { dependsOn });
  const names = ['README.md', 'four.txt', 'one.txt', 'three.txt', 'two.txt'];
  assert.deepEqual(h.files(merged.commitSha), names);
  assert.deepEqual(merged.changedFiles, ['four.txt']);
  const again = await h.make('echo 5 > five.txt', { dependsOn });
  assert.equal(again.baseSha, merged.baseSha);
});

test('changes that conflict are refused before the tool begins, and a round mends that', async (t) => {
  const h = await setup(t);
  const { workspaceId, client } = h;
  await h.start();
  const one = await h.make('echo one > README.md');
  const two = await h.make('echo two > README.md');
  const jobId = await h.add('cat README.md; echo 3 > three.txt', {
    dependsOn: [one.jobId, two.jobId],
  });
  const { outcomeReason, message, evidence } = await h.until(jobId, 'failed');
  assert.ok(typeof outcomeReason === 'object');
  assert.equal(outcomeReason?.code, 'base_conflict');
  assert.match(message ?? '', /conflict in README\.md/);
  assert.equal(evidence?.commitSha, undefined);
  const commit = one.commitSha.slice(0, 12);
  const way = `signalbox job continue ${two.jobId} "Merge ${commit} and resolve the conflicts`;
  assert.ok(message?.includes(way), message ?? '');
  const { job } = await client.jobs.continue({
    workspaceId,
    jobId: two.jobId,
    message: `git merge -q ${commit} || { echo both > README.md; git commit -qam Both; }; exit`,
  });
  await h.done(job.jobId);
  await client.jobs.retry({ workspaceId, jobId });
  const after = await h.done(jobId);
  assert.match(await h.output(jobId), /^both$/m);
  assert.deepEqual(after.changedFiles, ['three.txt']);
});

test('what has landed is no base any more: the branch has it', async (t) => {
  const h = await setup(t, { by: 'squash' });
  await h.start();
  const one = await h.make('echo 1 > one.txt');
  const waiting = await h.make('echo 2 >> one.txt', { dependsOn: [one.jobId] });
  const early = await h.land(waiting.jobId, waiting.commitSha, 'failed');
  assert.match(early, new RegExp(`builds on job ${one.jobId}, whose commit is not in main`));
  assert.match(early, new RegExp(`Land that first: signalbox work land ${one.jobId}\\.`));
  await h.land(one.jobId, one.commitSha);
  const main = git(h.clone, 'rev-parse', 'main');
  const after = await h.make('echo 3 > three.txt', { dependsOn: [one.jobId] });
  assert.deepEqual(after.buildsOn, { commitSha: main, branch: 'main' });
  assert.match(await h.output(after.jobId), /main has the work of job \S+ already/);
  // Without the commit of the first one, git would see one.txt added twice.
  const { workspaceId, client } = h;
  const { job } = await client.works.land({ workspaceId, jobId: waiting.jobId });
  assert.match((await h.until(job.jobId, 'done')).message ?? '', /^Landed in main/);
  assert.equal(git(h.clone, 'show', 'main:one.txt'), '1\n2');
  assert.equal(git(h.clone, 'log', '--format=%s', 'main').split('\n').length, 3);
});

test('a branch is a base, and its works land there', async (t) => {
  const h = await setup(t, { into: 'main' });
  git(h.clone, 'branch', 'release');
  git(h.clone, 'commit', '--quiet', '--allow-empty', '-m', 'On main');
  await h.start();
  const one = await h.make('echo 1 > one.txt', { base: 'release' });
  assert.deepEqual(one.buildsOn, {
    commitSha: git(h.clone, 'rev-parse', 'release'),
    branch: 'release',
  });
  const two = await h.make('echo 2 > two.txt', { dependsOn: [one.jobId] });
  assert.equal(two.buildsOn.branch, 'release');
  const main = git(h.clone, 'rev-parse', 'main');
  for (const { jobId, commitSha } of [one, two]) await h.land(jobId, commitSha);
  assert.deepEqual(h.files('release'), ['README.md', 'one.txt', 'two.txt']);
  assert.equal(git(h.clone, 'rev-parse', 'main'), main);
});

test('a commit that is on another machine is named, and its agent gets the job', async (t) => {
  const h = await setup(t);
  const { workspaceId, client } = h;
  const first = await h.start();
  const one = await h.make('echo 1 > one.txt');
  await first.stop();
  const other = h.cloneAgain();
  git(other, 'remote', 'set-url', 'origin', join(h.directory, 'nowhere'));
  await h.start(other, 'other');
  const dependent = await h.add('cat one.txt', { dependsOn: [one.jobId] });
  await h.untilEvent(dependent, 'failed');
  const waits = await client.jobs.get({ workspaceId, jobId: dependent });
  assert.equal(waits.waitingFor?.reason, 'agent_with_branch');
  assert.equal(waits.job.status, 'pending');
  const log = await h.output(dependent);
  assert.match(log, /The commit \w{12} of job \S+, on which this one builds, is neither in this/);
  await h.start();
  await h.done(dependent);
  assert.match(await h.output(dependent), /^1$/m);
});

test('a branch that no machine has is named, and tried three times', async (t) => {
  const h = await setup(t);
  await h.start();
  const jobId = await h.add('true', { base: 'relaese' });
  await h.untilEvent(jobId, 'failed');
  assert.match(await h.output(jobId), /has no commit named relaese/);
});

test('the checks of a repository are never those of a tool that a job builds on', async (t) => {
  const h = await setup(t, { repositoryChecks: true });
  const listing = (command: string) =>
    `mkdir -p .signalbox; echo '{"checks": [{"name": "tests", "command": "${command}"}]}' > .signalbox/checks.json`;
  execFileSync('sh', ['-c', `${listing('exit 9')}; git add .; git commit -qm Checks`], {
    cwd: h.clone,
  });
  await h.start();
  const forged = await h.make(listing('true'));
  const dependent = await h.make('echo 2 > two.txt', { dependsOn: [forged.jobId] });
  for (const { checks } of [forged, dependent]) {
    assert.deepEqual(
      checks?.map(({ exitCode }) => exitCode),
      [9],
    );
  }
});
