import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import type { LandingOptions } from '../../src/index.ts';
import {
  fileAppears,
  git,
  isAlive,
  readPid,
  repoId,
  resultOf,
  type Setup,
  setup,
} from '../support/harness.ts';

const change = 'echo changed > README.md';

/** Runs one job whose tool is a shell command, and returns its evidence. */
async function runJob(
  { hub, clone, start }: Setup,
  command: string,
  landing: LandingOptions,
  options: Parameters<Setup['start']>[1] = {},
) {
  const held = hub.enqueue({ repoId });
  const agent = await start(command, {
    repositories: [{ repoId, path: clone, landing }],
    ...options,
  });
  await hub.until('the result', () => held.accepted !== null);
  await agent.drain();
  const { outcome, evidence } = resultOf(held);
  return { held, outcome, evidence };
}

test('checks that pass verify the commit, with their exit codes and times', async (t) => {
  const place = await setup(t);
  const { outcome, evidence } = await runJob(place, change, {
    checks: [{ command: 'grep changed README.md' }, { command: 'true', name: 'nothing' }],
  });
  assert.equal(outcome, 'done');
  assert.equal(evidence.verdict, 'verified');
  assert.equal('gaps' in evidence, false);
  const [first, second] = evidence.checks ?? [];
  assert.deepEqual(
    { ...first, durationMs: 0 },
    {
      name: 'grep changed README.md',
      command: 'grep changed README.md',
      outcome: 'passed',
      exitCode: 0,
      durationMs: 0,
      output: 'changed',
    },
  );
  assert.ok(Number.isInteger(first?.durationMs));
  assert.equal(second?.name, 'nothing');
  assert.equal(evidence.baseSha, git(place.clone, 'rev-parse', 'main'));
});

test('a failing check leaves a gap with the end of its output, and the job is done', async (t) => {
  const place = await setup(t);
  const { held, outcome, evidence } = await runJob(place, change, {
    checks: [{ command: 'seq 5000; echo "1 test failed" >&2; exit 7' }, { command: 'true' }],
  });
  assert.equal(outcome, 'done');
  assert.equal(evidence.verdict, 'gaps');
  const [failed, passed] = evidence.checks ?? [];
  assert.deepEqual([failed?.outcome, failed?.exitCode], ['failed', 7]);
  assert.match(failed?.output ?? '', /^…\n[\s\S]*\n5000\n1 test failed$/);
  assert.ok((failed?.output ?? '').length <= 2_000);
  assert.equal(passed?.outcome, 'passed', 'one failure does not keep the others from running');
  assert.match(evidence.gaps?.[0] ?? '', /exited with 7\.$/);
  assert.match(place.hub.output(held, 'stdout'), /^1\n2\n/, 'the log has the whole output');
});

test('a check beyond its time limit is ended with its descendants', async (t) => {
  const place = await setup(t);
  const pidFile = join(place.directory, 'pid');
  const { evidence } = await runJob(place, change, {
    checks: [{ command: `sleep 1000 & echo $! > ${pidFile}; wait`, timeLimitMs: 2_000 }],
  });
  assert.equal(evidence.verdict, 'gaps');
  assert.equal(evidence.checks?.[0]?.outcome, 'timed_out');
  assert.equal(isAlive(await readPid(pidFile)), false);
});

test('without checks the commit is unverified, and without a commit there is no verdict', async (t) => {
  const place = await setup(t);
  const changed = await runJob(place, change, {});
  assert.equal(changed.evidence.verdict, 'unverified');
  assert.equal('checks' in changed.evidence, false);
  const ran = join(place.directory, 'ran');
  const unchanged = await runJob(place, 'true', { checks: [{ command: `touch ${ran}` }] });
  assert.equal('verdict' in unchanged.evidence, false);
  assert.equal(existsSync(ran), false);
});

test('a failed job runs no checks', async (t) => {
  const place = await setup(t);
  const { outcome, evidence } = await runJob(place, `${change}; exit 3`, {
    checks: [{ command: 'true' }],
  });
  assert.equal(outcome, 'failed');
  assert.ok(evidence.commitSha);
  assert.equal('verdict' in evidence, false);
});

test('the repository’s checks come from the commit that the job began with', async (t) => {
  const place = await setup(t);
  await mkdir(join(place.clone, '.signalbox'));
  const file = join(place.clone, '.signalbox', 'checks.json');
  await writeFile(file, '{"checks": [{"name": "tests", "command": "exit 9"}]}');
  git(place.clone, 'add', '.');
  git(place.clone, 'commit', '--quiet', '-m', 'Checks');
  const forge = `echo '{"checks": [{"command": "true"}]}' > .signalbox/checks.json; ${change}`;
  const { evidence } = await runJob(place, forge, { repositoryChecks: true });
  assert.deepEqual(
    evidence.checks?.map(({ name, exitCode }) => [name, exitCode]),
    [['tests', 9]],
  );
  const ignored = await runJob(place, change, {});
  assert.equal(ignored.evidence.verdict, 'unverified', 'the agent’s person has to allow them');
});

test('a list of checks that cannot be read is a gap', async (t) => {
  const place = await setup(t);
  await mkdir(join(place.clone, '.signalbox'));
  await writeFile(join(place.clone, '.signalbox', 'checks.json'), '{"checks": [{"run": "true"}]}');
  git(place.clone, 'add', '.');
  git(place.clone, 'commit', '--quiet', '-m', 'Checks');
  const { evidence } = await runJob(place, change, { repositoryChecks: true });
  assert.equal(evidence.verdict, 'gaps');
  assert.match(evidence.gaps?.[0] ?? '', /checks\.json has the unknown field checks\[0\]\.run\./);
});

test('checks prove nothing if the files are not those of the commit', async (t) => {
  const place = await setup(t);
  const hide = 'git update-index --assume-unchanged README.md; echo good > README.md; echo x > new';
  const { evidence } = await runJob(place, hide, { checks: [{ command: 'grep good README.md' }] });
  assert.equal(evidence.checks?.[0]?.outcome, 'passed');
  assert.equal(evidence.verdict, 'gaps');
  assert.match(evidence.gaps?.[0] ?? '', /differ from the commit: README\.md\./);
});

test('a check has neither the token of the agent nor that of the job', async (t) => {
  const place = await setup(t);
  const file = join(place.directory, 'environment');
  const { held, evidence } = await runJob(
    place,
    change,
    { checks: [{ command: `env > ${file}; echo "the secret is $API_TOKEN"` }] },
    { env: { ...process.env, SIGNALBOX_TOKEN: place.hub.token, API_TOKEN: 'hush-hush-hush' } },
  );
  const text = readFileSync(file, 'utf8');
  assert.equal(text.includes(place.hub.token), false);
  assert.equal(text.includes(held.jobToken), false);
  assert.match(text, new RegExp(`^SIGNALBOX_COMMIT_SHA=${evidence.commitSha}$`, 'm'));
  assert.equal(evidence.checks?.[0]?.output, 'the secret is [redacted]');
});

test('an agent that stops during a check reports the work, with a gap', async (t) => {
  const { hub, clone, directory, start } = await setup(t);
  const held = hub.enqueue({ repoId });
  const began = join(directory, 'began');
  const checks = [{ command: `touch ${began}; sleep 1000` }, { command: 'true' }];
  const agent = await start(change, {
    repositories: [{ repoId, path: clone, landing: { checks } }],
  });
  await fileAppears(began);
  await agent.stop();
  const { outcome, evidence } = resultOf(held);
  assert.equal(outcome, 'done');
  assert.equal(evidence.verdict, 'gaps');
  assert.deepEqual(
    evidence.checks?.map((check) => check.outcome),
    ['stopped', 'stopped'],
  );
  assert.equal(git(clone, 'rev-parse', String(evidence.branch)), evidence.commitSha);
});

test('a job that is canceled during a check is not reported, and its branch stays', async (t) => {
  const { hub, clone, directory, start, events } = await setup(t);
  const held = hub.enqueue({ repoId });
  const began = join(directory, 'began');
  const checks = [{ command: `touch ${began}; sleep 1000` }];
  const agent = await start(change, {
    repositories: [{ repoId, path: clone, landing: { checks } }],
  });
  await fileAppears(began);
  hub.commands = [{ command: 'cancel-job', jobId: held.job.jobId }];
  await hub.until('the end', () => events.some(({ type }) => type === 'job-finished'));
  await agent.drain();
  assert.equal(held.accepted, null);
  assert.equal(git(clone, 'branch', '--list', 'signalbox/*').includes(held.job.jobId), true);
});

test('checks and people find the worktree clean, on the branch with the agent’s commit', async (t) => {
  const place = await setup(t);
  const state = 'git status --porcelain; git rev-parse HEAD; git symbolic-ref HEAD';
  const look = async (command: string) => {
    const { evidence } = await runJob(place, command, { checks: [{ command: state }] });
    return { evidence, output: evidence.checks?.[0]?.output };
  };
  for (const command of [
    change,
    'echo a > a.txt; git add a.txt; git commit -qm a; echo b > b.txt; git rm -q README.md',
    'git checkout -q --detach; echo more > README.md',
    'git pack-refs --all --prune; echo packed > README.md',
  ]) {
    const { evidence, output } = await look(command);
    const { commitSha, branch } = evidence;
    assert.equal(output?.trim(), `${commitSha}\nrefs/heads/${branch}`, command);
  }
});

test('the HEAD of a worktree is not moved through a link, nor out of an unfinished merge', async (t) => {
  const place = await setup(t);
  const outside = join(place.directory, 'outside');
  await mkdir(outside);
  const linked = `git checkout -q --detach; rm -rf .git/refs/heads/signalbox;
    ln -s ${outside} .git/refs/heads/signalbox; ${change}`;
  const first = await runJob(place, linked, { checks: [{ command: 'true' }] });
  assert.equal(first.outcome, 'done');
  assert.deepEqual(await readdir(outside), []);
  const merging = `${change}; git rev-parse HEAD > .git/MERGE_HEAD`;
  const second = await runJob(place, merging, { checks: [{ command: 'git rev-parse HEAD' }] });
  assert.equal(second.evidence.checks?.[0]?.output?.trim(), second.evidence.baseSha);
});
