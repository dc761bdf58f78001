import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { git, repoId, resultOf, type Setup, setup } from '../support/harness.ts';

type Kind = NonNullable<Parameters<Setup['hub']['enqueue']>[0]['kind']>;

/** Runs jobs one after the other, each with the same command. */
async function run(parts: Setup, kind: Kind, command: string, count = 1) {
  const { hub, start } = parts;
  const agent = await start(command);
  const results = [];
  for (let at = 0; at < count; at++) {
    const held = hub.enqueue({ repoId, kind });
    await hub.until('the result', () => held.accepted !== null);
    results.push(resultOf(held));
  }
  await agent.drain();
  return results;
}

test('install_ias prepares an empty repository: its branches begin with one commit', async (t) => {
  const parts = await setup(t);
  const { clone } = parts;
  rmSync(clone, { recursive: true });
  mkdirSync(clone);
  git(clone, 'init', '--quiet', '--initial-branch=main');
  const results = await run(parts, 'install_ias', 'echo "npm test" > AGENTS.md', 2);
  const bases = results.map(({ outcome, outcomeReason, evidence }) => {
    assert.equal(outcome, 'done', JSON.stringify(outcomeReason));
    assert.deepEqual(evidence.changedFiles, ['AGENTS.md']);
    const { branch } = evidence;
    assert.equal(git(clone, 'show', `${branch}:AGENTS.md`), 'npm test');
    return git(clone, 'rev-parse', `${branch}^`);
  });
  assert.equal(new Set(bases).size, 1);
  git(clone, 'merge', '--quiet', String(results[0]?.evidence.branch));
  assert.equal(git(clone, 'show', 'main:AGENTS.md'), 'npm test');
});

test('git_repair works beside a merge with conflicts, and leaves the clone as it is', async (t) => {
  const parts = await setup(t);
  const { clone } = parts;
  const commit = (text: string) => {
    writeFileSync(join(clone, 'README.md'), text);
    git(clone, 'commit', '--quiet', '-am', text.trim());
  };
  git(clone, 'checkout', '--quiet', '-b', 'other');
  commit('theirs\n');
  git(clone, 'checkout', '--quiet', 'main');
  commit('<<<<<<< ours\nours\n');
  assert.throws(() => git(clone, 'merge', 'other'));
  writeFileSync(join(clone, '.git', 'index.lock'), '');
  const state = () => git(clone, 'status', '--porcelain=v2', '--branch');
  const before = state();
  const [result] = await run(parts, 'git_repair', 'echo ours > README.md');
  assert.equal(result?.outcome, 'done', JSON.stringify(result?.outcomeReason));
  assert.equal(git(clone, 'show', `${result?.evidence.branch}:README.md`), 'ours');
  assert.equal(state(), before);
});

test('a clone whose current branch has no commit says what to do', async (t) => {
  const parts = await setup(t);
  git(parts.clone, 'symbolic-ref', 'HEAD', 'refs/heads/lost');
  const [result] = await run(parts, 'git_repair', 'true');
  assert.equal(result?.outcome, 'failed');
  const reason = result?.outcomeReason as { code?: string; summary?: string };
  assert.equal(reason.code, 'checkout_failed');
  assert.match(String(reason.summary), /its current branch has no commit; check out a branch that/);
});
