import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import type { AgentOptions, LandingOptions } from '../../src/index.ts';
import { git, repoId, resultOf, type Setup, setup } from '../support/harness.ts';

const change = 'echo changed > README.md';
const passes = [{ command: 'true' }];

interface Place extends Setup {
  /** The bare repository that is the clone's origin. */
  remote: string;
  /** Directory of the stand-ins of gh and glab. */
  tools: string;
  run(
    landing: LandingOptions,
    options?: { command?: string; prompt?: string; baseRef?: string } & Partial<AgentOptions>,
  ): Promise<ReturnType<typeof resultOf>>;
}

/** A clone with a bare repository as its origin, at an address of a forge if one is given. */
async function setupRemote(t: TestContext, url?: string): Promise<Place> {
  const place = await setup(t);
  const { directory, clone, hub, start } = place;
  const remote = join(directory, 'secret-place.git');
  git(directory, 'clone', '--quiet', '--bare', clone, remote);
  git(clone, 'remote', 'add', 'origin', url ?? remote);
  if (url !== undefined) git(clone, 'config', `url.${remote}.insteadOf`, url);
  git(clone, 'fetch', '--quiet', 'origin');
  const tools = join(directory, 'tools');
  await mkdir(tools);
  // Nothing else is on the PATH, so that no gh of this machine is called.
  for (const program of ['sh', 'git', 'cat']) {
    await symlink(findProgram(program), join(tools, program));
  }
  const env = { ...process.env, PATH: tools, SIGNALBOX_TOKEN: hub.token };
  return {
    ...place,
    remote,
    tools,
    async run(landing, { command = change, prompt = 'Do it.', baseRef, ...options } = {}) {
      const held = hub.enqueue({ repoId, prompt });
      const base = baseRef === undefined ? {} : { baseRef };
      const repositories = [{ repoId, path: clone, landing, ...base }];
      const agent = await start(command, { repositories, env, ...options });
      await hub.until('the result', () => held.accepted !== null);
      await agent.drain();
      return resultOf(held);
    },
  };
}

function findProgram(name: string): string {
  const found = (process.env.PATH ?? '').split(':').map((path) => join(path, name));
  return found.find((file) => existsSync(file)) ?? name;
}

/** Writes a stand-in that keeps its arguments, its input and its environment, and then acts. */
async function addTool({ tools }: Place, name: string, act: string): Promise<string> {
  const record = join(tools, `${name}.record`);
  const file = join(tools, name);
  const lines = [
    '#!/bin/sh',
    `for arg in "$@"; do printf '%s\\n' "$arg"; done > '${record}.args'`,
    `cat > '${record}.input'; export -p > '${record}.env'; pwd > '${record}.cwd'`,
    act,
  ];
  await writeFile(file, `${lines.join('\n')}\n`);
  await chmod(file, 0o755);
  return record;
}

const readRecord = (record: string, part: string) => readFileSync(`${record}.${part}`, 'utf8');

test('--push pushes the branch, and nothing else', async (t) => {
  const place = await setupRemote(t);
  git(place.clone, 'branch', 'private');
  git(place.clone, 'tag', '-a', '-m', 'Private', 'v0');
  git(place.clone, 'config', 'push.followTags', 'true');
  const { outcome, evidence } = await place.run({ checks: passes, push: true });
  assert.equal(outcome, 'done');
  assert.deepEqual([evidence.pushedTo, evidence.verdict], ['origin', 'verified']);
  const { branch, commitSha } = evidence;
  assert.equal(git(place.remote, 'rev-parse', String(branch)), commitSha);
  const refs = git(place.remote, 'for-each-ref', '--format=%(refname)').split('\n');
  assert.deepEqual(refs.toSorted(), ['refs/heads/main', `refs/heads/${branch}`]);
});

test('a push that fails is a gap that does not name the remote; the work stays', async (t) => {
  const place = await setupRemote(t);
  const hook = join(place.remote, 'hooks', 'pre-receive');
  await writeFile(hook, '#!/bin/sh\necho "branches are closed" >&2\nexit 1\n');
  await chmod(hook, 0o755);
  const { outcome, evidence } = await place.run({ checks: passes, push: true });
  assert.equal(outcome, 'done');
  assert.equal(evidence.verdict, 'gaps');
  assert.equal('pushedTo' in evidence, false);
  const [gap = ''] = evidence.gaps ?? [];
  assert.match(gap, /^Not pushed: .*branches are closed/s);
  assert.equal(gap.includes('secret-place'), false, gap);
  assert.equal(git(place.clone, 'rev-parse', String(evidence.branch)), evidence.commitSha);
});

test('a clone without an origin, and a commit with a secret, are not pushed', async (t) => {
  const place = await setupRemote(t);
  const leak = await place.run(
    { push: true },
    {
      command: `echo ${'hush'.repeat(4)} > README.md`,
      env: { ...process.env, API_TOKEN: 'hush'.repeat(4) },
    },
  );
  assert.deepEqual(leak.evidence.gaps, ['Not pushed: README.md contains a secret.']);
  git(place.clone, 'remote', 'remove', 'origin');
  const { evidence } = await place.run({ push: true });
  assert.deepEqual(evidence.gaps, ['Not pushed: the clone has no remote origin.']);
  assert.equal(git(place.remote, 'branch', '--list', 'signalbox/*'), '');
});

test('--pr opens a pull request with gh, in the clone, with the person’s access', async (t) => {
  const place = await setupRemote(t, 'https://github.acme.test/gitlab/api.git');
  const url = 'https://github.acme.test/acme/api/pull/7';
  const record = await addTool(place, 'gh', `echo "Creating…" >&2; echo "${url}"`);
  await addTool(place, 'glab', 'exit 9');
  const { evidence } = await place.run(
    { checks: passes, pullRequest: true },
    { prompt: 'Add a greeting\n\nIn full.', baseRef: 'origin/main' },
  );
  assert.equal(evidence.pullRequestUrl, url);
  assert.deepEqual([evidence.pushedTo, evidence.verdict], ['origin', 'verified']);
  assert.deepEqual(readRecord(record, 'args').trimEnd().split('\n'), [
    ...['pr', 'create', '--head', String(evidence.branch), '--title', 'Add a greeting'],
    ...['--body-file', '-', '--base', 'main'],
  ]);
  assert.match(readRecord(record, 'input'), /- `true` passed\n\nSignalbox-Job: job_/);
  assert.equal(
    readRecord(record, 'cwd').trimEnd(),
    git(place.clone, 'rev-parse', '--show-toplevel'),
  );
  const env = readRecord(record, 'env');
  assert.match(env, /GH_PROMPT_DISABLED=['"]1/);
  assert.match(env, /GLAB_NO_PROMPT=['"]1/);
  assert.equal(env.includes(place.hub.token), false);
  assert.equal(git(place.remote, 'rev-parse', String(evidence.branch)), evidence.commitSha);
});

test('--pr opens a draft with glab when the checks have gaps', async (t) => {
  const place = await setupRemote(t, 'git@gitlab.acme.test:github/api.git');
  const url = 'https://gitlab.acme.test/acme/api/-/merge_requests/7';
  const record = await addTool(place, 'glab', `printf '!7 Do it. (branch)\\n %s\\n' "${url}"`);
  const { evidence } = await place.run({ checks: [{ command: 'exit 3' }], pullRequest: true });
  assert.equal(evidence.pullRequestUrl, url);
  assert.equal(evidence.verdict, 'gaps');
  const args = readRecord(record, 'args').trimEnd().split('\n');
  assert.deepEqual(args.slice(0, 7), [
    ...['mr', 'create', '--source-branch', String(evidence.branch)],
    ...['--title', 'Do it.', '--description'],
  ]);
  assert.deepEqual(args.slice(-2), ['--draft', '--yes']);
  assert.match(args.join('\n'), /Not proved:\n- Check exit 3 exited with 3\./);
});

test('a pull request that cannot be opened is a gap; the branch is pushed', async (t) => {
  const place = await setupRemote(t);
  const absent = await place.run({ pullRequest: true });
  assert.deepEqual(absent.evidence.gaps, [
    'No pull request was opened: neither gh nor glab is on the PATH of the agent.',
  ]);
  assert.equal(absent.evidence.pushedTo, 'origin');
  await addTool(place, 'gh', 'echo "HTTP 403: no access" >&2; exit 1');
  const refused = await place.run({ checks: passes, pullRequest: true });
  assert.equal(refused.outcome, 'done');
  assert.equal(refused.evidence.verdict, 'gaps');
  assert.deepEqual(refused.evidence.gaps, [
    'gh could not open a pull request: HTTP 403: no access',
  ]);
  await addTool(place, 'gh', 'echo done');
  const silent = await place.run({ pullRequest: true });
  assert.deepEqual(silent.evidence.gaps, ['gh did not print the address of its pull request.']);
});

test('a failed job is not pushed', async (t) => {
  const place = await setupRemote(t);
  const { outcome } = await place.run({ push: true }, { command: `${change}; exit 3` });
  assert.equal(outcome, 'failed');
  assert.equal(git(place.remote, 'branch', '--list', 'signalbox/*'), '');
});
