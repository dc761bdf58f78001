import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { exitCodes } from '../src/index.ts';
import {
  configFlag,
  enqueueJob,
  git,
  type HubPlace,
  linkClone,
  makeClone,
  startHub,
  useServiceToken,
} from './harness.ts';

let place: HubPlace;
let clone: string;
let repoId: string;
let stateDir: string;
before(async () => {
  place = await startHub();
  await useServiceToken(place);
  clone = makeClone(place);
  stateDir = join(place.directory, 'agent');
  repoId = await linkClone(place, clone);
});
after(async () => await place.end());

/** Lets an agent do one job with a shell command. */
async function doNext(command: string, ...options: string[]) {
  await doWith({}, command, ...options);
}

async function doWith(more: object, command: string, ...options: string[]) {
  const settings = configFlag(place, { 'state-dir': stateDir, ...more });
  const args = ['agent', 'start', '--once', '--tool', command, ...settings];
  const agent = await place.run([...args, ...options]);
  assert.equal(agent.exitCode, exitCodes.ok, agent.stderr);
}

/** Lets an agent do one job with a shell command, and returns its ID and branch. */
async function makeWork(command: string, ...options: string[]) {
  const jobId = await enqueueJob(place, repoId, `Run ${command}`);
  await doNext(command, ...options);
  return { jobId, branch: `signalbox/${jobId}-1`, id: jobId.slice(-8) };
}

const run = (...args: string[]) => place.run(args, { cwd: clone });

async function json(...args: string[]) {
  const { stdout, stderr, exitCode } = await run(...args, '--json');
  assert.equal(exitCode, exitCodes.ok, stderr);
  return JSON.parse(stdout);
}

/** Fails with a code, and says what to do. */
async function refusal(...args: string[]) {
  const { stderr, exitCode } = await run(...args, '--json');
  assert.notEqual(exitCode, exitCodes.ok);
  return JSON.parse(stderr) as { error: string; message: string; fix: string };
}

const onMain = () => git(clone, 'symbolic-ref', '--short', 'HEAD') === 'main';

test('work list, show and diff tell what agents made in a clone', async () => {
  const good = await makeWork('echo good > good.txt', '--check', 'test -e good.txt');
  const { branches } = await json('work', 'list');
  assert.deepEqual(
    { ...branches[0], committedAt: '', commitSha: '' },
    {
      branch: good.branch,
      jobId: good.jobId,
      attempt: 1,
      committedAt: '',
      commitSha: '',
      merged: false,
      checkedOut: false,
      status: 'done',
      verdict: 'verified',
      state: 'in_review',
      title: 'Run echo good > good.txt',
    },
  );
  const list = await run('work', 'list');
  assert.match(list.stdout, new RegExp(`✔ done +${good.id} +1 +verified +in review +no `));
  const show = await run('work', 'show', good.id);
  assert.match(show.stdout, /\+1 -0 {2}good\.txt/);
  assert.match(show.stdout, /✔ test -e good\.txt +passed/);
  const { files, commits } = await json('work', 'show', good.id);
  assert.deepEqual([files, commits], [[{ path: 'good.txt', added: 1, deleted: 0 }], 1]);
  const diff = await run('job', 'diff', good.id);
  assert.match(diff.stdout, /\+\+\+ b\/good\.txt\n@@ .*\n\+good\n/);
  assert.equal((await json('job', 'diff', good.branch)).files[0].path, 'good.txt');
  assert.match((await run('job', 'diff', good.jobId, '--stat')).stdout, /good\.txt \| 1 \+/);
  const offline = await place.run(['work', 'list'], {
    cwd: clone,
    env: { SIGNALBOX_URL: 'http://127.0.0.1:9' },
  });
  assert.equal(offline.exitCode, exitCodes.ok);
  assert.match(offline.stdout, new RegExp(`\\? unknown +${good.id}`));
  assert.match(offline.stderr, /jobs of these branches are unknown/);
});

test('the rounds of a piece of work are one branch, that of the latest round', async () => {
  const first = await makeWork('echo one > round-1.txt', '--check', 'true');
  const more = ['job', 'continue', first.jobId];
  const { job } = await json(...more, 'And two');
  const prune = ['work', 'prune', '--dry-run', '--unmerged', '--older-than', '0s'];
  const pruned = (await json(...prune)).branches.map((each: { branch: string }) => each.branch);
  assert.ok(!pruned.includes(first.branch), 'a round waits to continue there');
  await doNext('echo two > round-2.txt', '--check', 'true');
  const { branches } = await json('work', 'list');
  const ofWork = branches.filter((each: { branch: string }) => each.branch === first.branch);
  assert.deepEqual(
    ofWork.map((each: Record<string, unknown>) => [each.jobId, each.status, each.verdict]),
    [[job.jobId, 'done', 'verified']],
  );
  for (const reference of [job.jobId, first.jobId, job.jobId.slice(-8)]) {
    const { work, files } = await json('work', 'show', reference);
    assert.deepEqual([work.branch, work.jobId], [first.branch, job.jobId]);
    const names = files.map(({ path }: { path: string }) => path);
    assert.deepEqual(names, ['round-1.txt', 'round-2.txt']);
  }
  assert.equal((await refusal('work', 'show', 'no-such-job')).error, 'WORK_NOT_FOUND');
});

test('checkout refuses uncommitted changes, and otherwise switches', async () => {
  const { branch, id } = await makeWork('echo new > new.txt');
  writeFileSync(join(clone, 'README.md'), 'half an idea\n');
  const refused = await refusal('work', 'checkout', id);
  assert.equal(refused.error, 'TREE_DIRTY');
  assert.match(refused.message, /README\.md/);
  assert.match(refused.fix, /git stash/);
  assert.equal(readFileSync(join(clone, 'README.md'), 'utf8'), 'half an idea\n');
  assert.ok(onMain());
  git(clone, 'checkout', '--quiet', 'README.md');
  writeFileSync(join(clone, 'loose.txt'), 'loose\n');
  const { from } = await json('work', 'checkout', id);
  assert.equal(from, 'main');
  assert.equal(git(clone, 'symbolic-ref', '--short', 'HEAD'), branch);
  assert.ok(existsSync(join(clone, 'loose.txt')));
  assert.equal((await refusal('work', 'merge', id)).error, 'NO_BRANCH');
  git(clone, 'switch', '--quiet', '-');
});

test('merge takes verified work, and refuses gaps without --force', async () => {
  const good = await makeWork('echo one > one.txt', '--check', 'true');
  const bad = await makeWork('echo two > two.txt', '--check', 'exit 7');
  assert.equal((await json('work', 'merge', good.id)).result, 'fast_forwarded');
  assert.equal(git(clone, 'rev-parse', 'HEAD'), git(clone, 'rev-parse', good.branch));
  const refused = await refusal('work', 'merge', bad.id);
  assert.equal(refused.error, 'WORK_UNPROVED');
  assert.match(refused.message, /Check exit 7 exited with 7/);
  assert.match(refused.fix, /--force/);
  assert.equal(existsSync(join(clone, 'two.txt')), false);
  assert.equal((await json('work', 'merge', bad.id, '--force')).result, 'merged');
  assert.equal(
    git(clone, 'log', '-1', '--format=%B'),
    `Merge: Run echo two > two.txt\n\nSignalbox-Job: ${bad.jobId}`,
  );
  assert.equal((await json('work', 'merge', bad.id, '--force')).result, 'already_merged');
});

test('merge refuses a branch whose commit was never checked, and does not ask a silent hub', async () => {
  const moved = await makeWork('echo three > three.txt', '--check', 'true');
  git(clone, 'switch', '--quiet', moved.branch);
  git(clone, 'commit', '--quiet', '--allow-empty', '-m', 'More');
  git(clone, 'switch', '--quiet', 'main');
  const refused = await refusal('work', 'merge', moved.id);
  assert.match(refused.message, /does not have the commit that the job ended with/);
  const silent = await place.run(['work', 'merge', moved.id], {
    cwd: clone,
    env: { SIGNALBOX_URL: 'http://127.0.0.1:9' },
  });
  assert.equal(silent.exitCode, exitCodes.failed);
  assert.match(silent.stderr, /hub does not say/);
});

test('a merge with conflicts leaves the tree as git does, and says what to do', async () => {
  const { id } = await makeWork('echo theirs > README.md', '--check', 'true');
  writeFileSync(join(clone, 'README.md'), 'ours\n');
  git(clone, 'commit', '--quiet', '--all', '-m', 'Ours');
  const refused = await refusal('work', 'merge', id);
  assert.equal(refused.error, 'MERGE_CONFLICTS');
  assert.match(refused.message, /README\.md/);
  assert.match(refused.fix, /git merge --abort/);
  assert.match(readFileSync(join(clone, 'README.md'), 'utf8'), /<<<<<<< HEAD\nours\n=======\n/);
  assert.equal((await refusal('work', 'merge', id)).error, 'TREE_DIRTY');
  git(clone, 'merge', '--abort');
});

test('a squash that was changed since counts as merged, and words alone do not', async () => {
  const isMerged = async (branch: string) => {
    const { branches } = await json('work', 'list');
    return branches.find((each: { branch: string }) => each.branch === branch).merged;
  };
  const landed = await makeWork('echo one > landed.txt');
  const open = await makeWork('echo two > claimed.txt');
  const says = (branch: string) => `Signalbox-Approved: ${git(clone, 'rev-parse', branch)}`;
  git(clone, 'merge', '--quiet', '--squash', landed.branch);
  git(clone, 'commit', '--quiet', '-m', `Landed\n\n${says(landed.branch)}`);
  git(clone, 'rm', '--quiet', 'landed.txt');
  git(clone, 'commit', '--quiet', '-m', `Something else\n\n${says(open.branch)}`);
  assert.equal(await isMerged(landed.branch), true);
  assert.equal(await isMerged(open.branch), false);
  git(clone, 'branch', '--quiet', '-D', landed.branch, open.branch);
});

test('files of agents on this machine are listed with their sizes, and set-up is freed', async () => {
  type Kept = { kind?: string; path: string; jobId?: string; sizeBytes: number };
  type Answer = { worktrees: Kept[]; setups: Kept[]; totalBytes: number };
  const fill = 'mkdir deps && head -c 3000000 /dev/zero > deps/big';
  const step = { command: fill, key: ['README.md'], keep: ['deps'] };
  await enqueueJob(place, repoId, 'Set it up.');
  await doWith({ setup: { run: step }, 'warm-worktrees': 2 }, 'true');
  const big = join(place.directory, 'big');
  mkdirSync(big);
  writeFileSync(join(big, 'file'), Buffer.alloc(5_000_000));
  const unpublished = join(stateDir, 'kept', 'job_unpublished-1');
  mkdirSync(unpublished, { recursive: true });
  symlinkSync(big, join(unpublished, 'link'));
  // As a person has it, so that no option says where the files are.
  const config = join(place.directory, 'config', 'agent.yaml');
  writeFileSync(config, `state-dir: ${stateDir}\n`);
  const listed: Answer & { warmWorktreesMax: number } = await json('work', 'list');
  assert.equal(listed.warmWorktreesMax, 2);
  const [kept] = listed.worktrees.filter(({ kind }) => kind === 'kept');
  assert.deepEqual([kept?.path, kept?.jobId], [unpublished, 'job_unpublished']);
  assert.ok((kept?.sizeBytes ?? 0) < 1_000_000, 'a link is not followed');
  const [filled] = listed.setups;
  assert.ok((filled?.sizeBytes ?? 0) >= 6_000_000, 'with a copy for a later job');
  const all = [...listed.worktrees, ...listed.setups];
  const sum = all.reduce((total, { sizeBytes }) => total + sizeBytes, 0);
  assert.equal(listed.totalBytes, sum);
  const shown = await run('work', 'list');
  assert.match(shown.stdout, /set-up +– +6\.\d MB +\//);
  const limit = /[\d.]+ MB in all\. Each repository keeps at most 2 warm worktrees and 5 folders/;
  assert.match(shown.stderr, limit);
  const dry: Answer = await json('work', 'prune', '--dry-run');
  assert.deepEqual(dry.setups, listed.setups);
  assert.ok(existsSync(filled?.path ?? ''));
  const pruned = await run('work', 'prune');
  assert.match(pruned.stdout, /deleted kept set-up .*, 6\.\d MB/);
  assert.match(pruned.stderr, /Freed [\d.]+ MB of worktrees and 6\.\d MB of set-up\./);
  assert.ok(!existsSync(filled?.path ?? '') && existsSync(unpublished));
  rmSync(config);
  rmSync(unpublished, { recursive: true });
});

test('prune deletes merged branches only, unless told to delete old unmerged ones', async () => {
  const listed = () =>
    git(clone, 'for-each-ref', '--format=%(refname:lstrip=2)', 'refs/heads/signalbox/');
  const squashed = await makeWork('echo squash > squash.txt');
  git(clone, 'merge', '--quiet', '--squash', squashed.branch);
  git(clone, 'commit', '--quiet', '-m', 'Squashed');
  const open = await makeWork('echo open > open.txt');
  const before = listed();
  const dry = await json('work', 'prune', '--dry-run', '--state-dir', stateDir);
  assert.equal(listed(), before, 'a dry run deletes nothing');
  const names = dry.branches.map(({ branch }: { branch: string }) => branch);
  assert.ok(names.includes(squashed.branch));
  assert.equal(names.includes(open.branch), false);
  type Left = { kind: string; path: string; sizeBytes: number };
  const warm = (dry.worktrees as Left[]).filter(({ kind }) => kind === 'warm');
  // They are kept where the agent can see which processes still use them.
  assert.equal(warm.length, process.platform === 'linux' ? 1 : 0);
  const pruned = await run('work', 'prune', '--state-dir', stateDir);
  assert.equal(pruned.exitCode, exitCodes.ok, pruned.stderr);
  for (const { path, sizeBytes } of warm) {
    assert.ok(sizeBytes > 0 && !existsSync(path));
    assert.match(pruned.stdout, /deleted warm worktree .*, [\d.]+ MB/);
    assert.match(pruned.stderr, /Freed [\d.]+ MB of worktrees/);
  }
  assert.equal(listed().includes(squashed.branch), false);
  assert.ok(listed().includes(open.branch));
  assert.equal((await refusal('work', 'prune', '--unmerged')).error, 'USAGE');
  const young = await json('work', 'prune', '--unmerged', '--older-than', '30d');
  assert.deepEqual(young.branches, []);
  const kept = join(stateDir, 'kept', `${open.jobId}-1`);
  mkdirSync(kept, { recursive: true });
  const args = ['--unmerged', '--older-than', '1ms', '--state-dir', stateDir];
  const sha = git(clone, 'rev-parse', open.branch);
  const all = await run('work', 'prune', ...args);
  assert.match(all.stderr, new RegExp(`git branch ${open.branch} ${sha}`));
  assert.equal(listed(), '');
  assert.equal(existsSync(kept), false);
  assert.match((await run('work', 'list')).stdout, /No agent has made a branch/);
});

test('a directory without a clone, and an unknown job, are explained', async () => {
  const outside = await place.run(['work', 'list']);
  assert.equal(outside.exitCode, exitCodes.usage);
  assert.match(outside.stderr, /NOT_A_CLONE/);
  const unknown = await refusal('work', 'show', 'ffffffff');
  assert.equal(unknown.error, 'WORK_NOT_FOUND');
  assert.match(unknown.fix, /signalbox work list/);
});

test('a work is approved and landed by its agent, or closed', async () => {
  const { jobId, id } = await makeWork('echo landed > landed.txt');
  const early = await refusal('work', 'land', id);
  assert.match(early.message, /not approved/);
  const approved = await run('work', 'approve', id);
  assert.equal(approved.exitCode, exitCodes.ok, approved.stderr);
  assert.match(approved.stdout, /Approved [0-9a-f]{12} of/);
  assert.match(approved.stderr, /not verified/);
  const landing = run('work', 'land', id, '--timeout', '2m');
  await doNext('false');
  const landed = await landing;
  assert.equal(landed.exitCode, exitCodes.ok, landed.stderr);
  assert.match(landed.stdout, /landed in main, as [0-9a-f]{12}/);
  assert.equal(readFileSync(join(clone, 'landed.txt'), 'utf8'), 'landed\n');
  assert.match((await run('job', id)).stdout, /Work +landed in main/);
  const shown = await json('work', 'show', id);
  assert.deepEqual([shown.work.state, shown.work.merged], ['landed', true]);
  const listed = async (...more: string[]) =>
    ((await json('jobs', '--all', ...more)).jobs as { jobId: string }[]).map((job) => job.jobId);
  assert.ok(!(await listed()).includes(jobId));
  assert.ok((await listed('--ended')).includes(jobId));
  const other = await makeWork('echo other > other.txt');
  const closed = await run('work', 'close', other.id);
  assert.match(closed.stdout, /Closed/);
  const third = await makeWork('echo third > third.txt');
  await run('work', 'merge', third.id);
  assert.equal((await json('work', 'show', third.id)).work.state, 'landed');
});
