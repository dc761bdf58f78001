import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createCommandExecutor } from '../../src/index.ts';
import { type AcpStart, poll, scriptedAgent, setupAcp } from '../support/acp-harness.ts';
import { git, makeRepository } from '../support/harness.ts';

const agentProcess = join(import.meta.dirname, '../support/acp-agent-process.ts');

/** A job that is done, on a branch with one file, by an agent that keeps running. */
async function setup(t: TestContext, options: AcpStart = {}) {
  const h = await setupAcp(t);
  const { workspaceId, clone, directory } = h;
  const env = { ...h.env, ACP_SCRIPT_PROGRAM: '/bin/sh' };
  await h.start({ stateDir: join(directory, 'state'), env, ...options });
  const jobId = await h.enqueue('write one.txt; say One.');
  const first = await h.until(jobId, 'done');
  const { branch, commitSha, baseSha } = first.evidence as Record<string, string>;
  assert.ok(branch && commitSha && baseSha);
  return {
    ...h,
    first,
    branch,
    commitSha,
    baseSha,
    /** Continues the first job, and waits until the round is done. */
    async round(message: string, of = jobId) {
      const { job } = await h.client.jobs.continue({ workspaceId, jobId: of, message });
      const done = await h.until(job.jobId, 'done');
      return { ...done, evidence: done.evidence as Record<string, unknown> };
    },
    /** The last prompt that the tool got. */
    lastPrompt(): string {
      const line = h.toolLog().findLast((one) => one.startsWith('prompt '));
      return JSON.parse(line?.slice('prompt '.length) ?? '""');
    },
    /** The files of the branch. */
    files: (name: string) => git(clone, 'ls-tree', '--name-only', name).split('\n'),
    /** Commits a file on a branch, as a person does. */
    commit(name: string, file: string) {
      const place = join(directory, 'person');
      git(clone, 'worktree', 'add', '--quiet', place, name);
      git(place, 'commit', '--quiet', '--allow-empty', '-m', 'By hand');
      git(place, 'mv', 'README.md', file);
      git(place, 'commit', '--quiet', '-m', 'Rename');
      git(clone, 'worktree', 'remove', place);
    },
  };
}

test('a round continues the branch and the session of the tool', async (t) => {
  const h = await setup(t);
  const second = await h.round('write two.txt; say Two.');
  assert.equal(second.evidence.branch, h.branch);
  assert.deepEqual(h.files(h.branch), ['README.md', 'one.txt', 'two.txt']);
  assert.deepEqual(second.evidence.changedFiles, ['one.txt', 'two.txt'], 'those of the work');
  assert.deepEqual(
    [second.evidence.baseSha, second.evidence.roundBaseSha],
    [h.baseSha, h.commitSha],
  );
  assert.equal(git(h.clone, 'rev-list', '--count', `${h.commitSha}..${h.branch}`), '1');
  const log = h.toolLog();
  assert.equal(log.filter((line) => line.startsWith('new session')).length, 1);
  const places = log.flatMap((line) => / in (\S+)/.exec(line)?.[1] ?? []);
  assert.equal(new Set(places).size, 1, 'the worktree is at the same place');
  assert.match(h.lastPrompt(), /^Your task:\n\nwrite two\.txt/);
  assert.match(h.lastPrompt(), /round 2 of this work\. It continues the branch/);
  assert.doesNotMatch(h.lastPrompt(), /Round 1 was asked/, 'the session knows it');
  const third = await h.round('say Nothing to do.', second.jobId);
  assert.equal(third.evidence.commitSha, undefined);
  await h.round('write four.txt', third.jobId);
  assert.deepEqual(h.files(h.branch), ['README.md', 'four.txt', 'one.txt', 'two.txt']);
});

test('a session that is gone is replaced by one that is told of the earlier rounds', async (t) => {
  const h = await setup(t);
  await rm(join(h.directory, 'state', 'works', `${h.first.jobId}.json`));
  const second = await h.round('write two.txt; say Two.');
  assert.deepEqual(h.files(h.branch), ['README.md', 'one.txt', 'two.txt']);
  assert.equal(second.evidence.branch, h.branch);
  assert.equal(h.toolLog().filter((line) => line.startsWith('new session')).length, 2);
  assert.match(h.lastPrompt(), /Round 1 was asked:\nwrite one\.txt; say One\.\n/);
  assert.match(h.lastPrompt(), /Its result \(done\):\nOne\./);
});

test('a session that cannot be kept does not hold back the result', async (t) => {
  const h = await setup(t);
  await rm(join(h.directory, 'state', 'works'), { recursive: true });
  const second = await h.round('write two.txt; say Two.');
  assert.match(await h.output(second.jobId), /the session of the tool is not kept .*ENOENT/);
  const third = await h.round('write three.txt', second.jobId);
  assert.deepEqual(h.files(h.branch), ['README.md', 'one.txt', 'three.txt', 'two.txt']);
  assert.equal(third.evidence.branch, h.branch);
  assert.match(h.lastPrompt(), /Round 2 was asked:\nwrite two\.txt; say Two\.\n/);
});

test('commits of a person on the branch are kept, and the tool is told of them', async (t) => {
  const h = await setup(t);
  h.commit(h.branch, 'person.md');
  await h.round('write two.txt');
  assert.deepEqual(h.files(h.branch), ['one.txt', 'person.md', 'two.txt']);
  assert.match(h.lastPrompt(), /to which a person has added 2 commits: keep them/);
});

test('a later round shares a patch of its own, without commits of people before it', async (t) => {
  const h = await setupAcp(t);
  const { workspaceId, clone, repoId, client, directory } = h;
  await h.start({ repositories: [{ repoId, path: clone, shareChanges: 'patch' }] });
  const jobId = await h.enqueue('write one.txt; say One.');
  const first = await h.until(jobId, 'done');
  assert.equal(first.evidence?.roundPatch, undefined, 'a first round is the work');
  const place = join(directory, 'person');
  git(clone, 'worktree', 'add', '--quiet', place, String(first.evidence?.branch));
  git(place, 'mv', 'README.md', 'person.md');
  git(place, 'commit', '--quiet', '-m', 'By hand');
  git(clone, 'worktree', 'remove', place);
  const { job } = await client.jobs.continue({ workspaceId, jobId, message: 'write two.txt' });
  const second = await h.until(job.jobId, 'done');
  const read = async (since: 'work' | 'round') => {
    const answer = await client.jobs.patch({ workspaceId, jobId: second.jobId, since });
    const names = [...(answer.patch ?? '').matchAll(/^\+\+\+ b\/(.*)$/gm)].map(([, name]) => name);
    const renamed = /rename to (.*)/.exec(answer.patch ?? '')?.[1];
    return { names, renamed, baseSha: answer.baseSha };
  };
  const { baseSha, roundBaseSha } = second.evidence ?? {};
  assert.deepEqual(await read('work'), {
    names: ['one.txt', 'two.txt'],
    renamed: 'person.md',
    baseSha,
  });
  assert.deepEqual(await read('round'), {
    names: ['two.txt'],
    renamed: undefined,
    baseSha: roundBaseSha,
  });
});

test('a branch that is merged, or deleted, is begun again from the base', async (t) => {
  const h = await setup(t);
  git(h.clone, 'merge', '--quiet', '--squash', h.branch);
  git(h.clone, 'commit', '--quiet', '-m', 'Squashed');
  const second = await h.round('write two.txt');
  assert.notEqual(second.evidence.branch, h.branch);
  assert.deepEqual(second.evidence.changedFiles, ['two.txt']);
  assert.match(h.lastPrompt(), /was merged: a new one begins from the base/);
  assert.match(await h.output(second.jobId), /was merged: a new one begins/);
  git(h.clone, 'branch', '--quiet', '-D', String(second.evidence.branch));
  const third = await h.round('write three.txt', second.jobId);
  assert.match(h.lastPrompt(), /was deleted: a new one begins/);
  assert.deepEqual(third.evidence.changedFiles, ['three.txt']);
});

test('a branch that a person has checked out is not moved', async (t) => {
  const h = await setup(t);
  git(h.clone, 'checkout', '--quiet', h.branch);
  const second = await h.round('write two.txt');
  const { branch } = second.evidence;
  assert.notEqual(branch, h.branch);
  assert.equal(git(h.clone, 'rev-parse', h.branch), h.commitSha);
  assert.deepEqual(h.files(String(branch)), ['README.md', 'one.txt', 'two.txt']);
  assert.match(await h.output(second.jobId), /the commits are on signalbox\//);
});

test('evidence that names a branch of a person, or of another work, is not believed', async (t) => {
  const h = await setupAcp(t);
  const { workspaceId, repoId, clone, directory } = h;
  git(clone, 'remote', 'add', 'origin', clone);
  const foreign = ['release', 'signalbox/job_2j78s1e000205pubchr8-1', 'signalbox/-NaN'];
  const { agentId } = await h.client.agents.heartbeat({
    workspaceId,
    displayName: 'other',
    machineFingerprint: 'other',
    capabilities: { canWrite: true, reposAllowed: [repoId] },
  });
  const commits: string[] = [];
  const jobIds: string[] = [];
  for (const branch of foreign) {
    git(clone, 'switch', '--quiet', '--create', branch);
    writeFileSync(join(clone, `file-${commits.length}`), '');
    git(clone, 'add', '--all');
    git(clone, 'commit', '--quiet', '-m', branch);
    const commitSha = git(clone, 'rev-parse', branch);
    git(clone, 'switch', '--quiet', '-');
    const jobId = await h.enqueue('write one.txt');
    await h.client.jobs.claimNext({ workspaceId, agentId });
    const evidence = { branch, commitSha, pushedTo: 'origin' };
    await h.client.jobs.complete({ workspaceId, agentId, jobId, outcome: 'done', evidence });
    commits.push(commitSha);
    jobIds.push(jobId);
  }
  await h.start({ stateDir: join(directory, 'state') });
  for (const [at, jobId] of jobIds.entries()) {
    const { job } = await h.client.jobs.continue({ workspaceId, jobId, message: 'write two.txt' });
    const second = await h.until(job.jobId, 'done');
    assert.equal(second.evidence?.branch, `signalbox/${job.jobId}-1`);
    assert.equal(git(clone, 'rev-parse', String(foreign[at])), commits[at]);
  }
});

test('a round begins when the round before has tidied up on the same machine', async (t) => {
  const h = await setupAcp(t);
  const { workspaceId, client, directory, clone } = h;
  const other = join(directory, 'other');
  await makeRepository(other);
  const remoteUrlHash = 'b'.repeat(64);
  const { repoId } = await client.repositories.upsert({ workspaceId, remoteUrlHash, label: 'y' });
  const stateDir = join(directory, 'state');
  const hold = join(directory, 'hold');
  const seen = join(directory, 'seen');
  const bin = join(directory, 'bin');
  mkdirSync(bin);
  // Deleting the branch of the mirror is part of the tidying. It tells which attempts have begun.
  const script = [
    '#!/bin/sh',
    'case "$*" in *"update-ref -d"*)',
    `  [ -e ${hold} ] && while [ -e ${hold} ]; do sleep 0.05; done && ls ${stateDir}/jobs > ${seen}`,
    'esac',
    `PATH="\${PATH#*:}" exec git "$@"`,
  ];
  writeFileSync(join(bin, 'git'), `${script.join('\n')}\n`, { mode: 0o755 });
  writeFileSync(hold, '');
  const options = {
    baseUrl: h.baseUrl,
    workspaceId,
    stateDir,
    displayName: 'agent',
    maxConcurrentJobs: 3,
    repositories: [
      { repoId: h.repoId, path: clone },
      { repoId, path: other },
    ],
    acp: `${process.execPath} ${scriptedAgent}`,
  };
  const env = { ...h.env, PATH: `${bin}:${process.env.PATH}` };
  const line = [agentProcess, JSON.stringify(options)];
  const agent = spawn(process.execPath, line, { env, stdio: ['ignore', 'inherit', 'inherit'] });
  t.after(async () => {
    await rm(hold, { force: true });
    agent.kill('SIGKILL');
    if (agent.exitCode === null && agent.signalCode === null) await once(agent, 'exit');
  });
  const jobId = await h.enqueue('say One.');
  await h.until(jobId, 'done');
  const { job } = await client.jobs.continue({ workspaceId, jobId, message: 'say Two.' });
  await h.until(job.jobId, 'running');
  // Claims are made one after the other, so the round is on the machine when this job is done.
  const prompt = 'say Three.';
  const third = await client.jobs.enqueue({ workspaceId, repoId, kind: 'work', prompt });
  await h.untilTool(/^prompt .*say Three/);
  await rm(hold);
  await h.until(job.jobId, 'done');
  await h.until(third.jobId, 'done');
  assert.doesNotMatch(readFileSync(seen, 'utf8'), new RegExp(job.jobId));
  assert.match(readFileSync(seen, 'utf8'), new RegExp(third.jobId));
});

test('commits of a person while a job or a round waits for an answer stay on the branch', async (t) => {
  const h = await setup(t, { holdMs: 300 });
  const { client, workspaceId } = h;
  const script = (name: string) => `feed echo 2 > two.txt; run ${name}; feed echo 3 > three.txt`;
  const message = script('second');
  const round = await client.jobs.continue({ workspaceId, jobId: h.first.jobId, message });
  for (const jobId of [round.job.jobId, await h.enqueue(script('third'))]) {
    const [question] = await h.questions(jobId);
    assert.ok(question);
    const { evidence } = await h.until(jobId, 'blocked');
    const branch = String(evidence?.branch);
    assert.ok(h.files(branch).includes('two.txt'), 'the work so far is on the branch');
    h.commit(branch, 'person.md');
    const ofPerson = git(h.clone, 'rev-parse', branch);
    await h.answer(question, 'yes');
    const done = await h.until(jobId, 'done');
    assert.equal(git(h.clone, 'rev-parse', branch), ofPerson);
    const own = String(done.evidence?.branch);
    assert.notEqual(own, branch);
    assert.ok(h.files(own).includes('three.txt'));
    const log = await h.output(jobId);
    assert.match(log, /was moved or checked out in the clone while the job ran/);
    assert.doesNotMatch(log, /a person has added/, 'its files do not have them');
  }
});

test('what a killed attempt of a round has published is no commit of a person', async (t) => {
  const h = await setupAcp(t);
  const { client, workspaceId, clone, directory } = h;
  const stateDir = join(directory, 'state');
  const at = (name: string) => join(directory, name);
  const command = `cat > ${at('prompt')}; echo "$SIGNALBOX_JOB_ID" >> "$(ls | wc -l).txt"`;
  const check = { command: `[ ! -e ${at('hold')} ] || { touch ${at('held')}; sleep 600; }` };
  const repositories = [
    {
      repoId: h.repoId,
      path: clone,
      shareChanges: 'patch' as const,
      landing: { checks: [check] },
    },
  ];
  const executor = createCommandExecutor({ command });
  const first = await h.start({ stateDir, repositories, executor });
  const jobId = await h.enqueue('Begin.');
  const { commitSha, branch, baseSha } = (await h.until(jobId, 'done')).evidence ?? {};
  await first.drain();
  writeFileSync(at('hold'), '');
  const options = { baseUrl: h.baseUrl, workspaceId, stateDir, repositories, command };
  const line = [join(import.meta.dirname, '../support/agent-process.ts'), JSON.stringify(options)];
  const agent = spawn(process.execPath, line, { stdio: 'inherit' });
  t.after(() => agent.kill('SIGKILL'));
  const { job } = await client.jobs.continue({ workspaceId, jobId, message: 'Continue.' });
  await poll('the check', async () => (existsSync(at('held')) ? true : null));
  agent.kill('SIGKILL');
  await once(agent, 'exit');
  assert.notEqual(git(clone, 'rev-parse', String(branch)), commitSha, 'it was published');
  await rm(at('hold'));
  await h.start({ stateDir, repositories, executor });
  const { evidence } = await h.until(job.jobId, 'done');
  assert.doesNotMatch(readFileSync(at('prompt'), 'utf8'), /a person has added/);
  assert.doesNotMatch(await h.output(job.jobId), /a person has added/);
  assert.deepEqual(
    [evidence?.branch, evidence?.baseSha, evidence?.roundBaseSha],
    [branch, baseSha, commitSha],
  );
  const { patch } = await client.jobs.patch({ workspaceId, jobId: job.jobId, since: 'round' });
  assert.equal(patch?.match(/^\+job_/gm)?.length, 2, 'both attempts of the round');
});
