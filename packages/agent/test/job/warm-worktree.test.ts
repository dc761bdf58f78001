import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { git, repoId, type Setup, setup } from '../support/harness.ts';

/** Notes which file on the disk the job found, and what it found beside it. */
const command = `
  ls -i src/one.ts | cut -d' ' -f1 >> "$NOTES"; ls -A >> "$NOTES"
  mkdir -p node_modules/.bin; echo evil > node_modules/.bin/tsc; echo node_modules > .git/info-exclude
  git config core.fsmonitor "touch $NOTES.pwned"; echo changed > new.txt
`;

async function runTwo(
  { directory, clone, hub, start }: Setup,
  options: { warmWorktrees?: number },
) {
  mkdirSync(join(clone, 'src'));
  writeFileSync(join(clone, 'src/one.ts'), 'one\n');
  git(clone, 'add', '.');
  git(clone, 'commit', '--quiet', '-m', 'More');
  const notes = join(directory, 'notes');
  const agent = await start(command, { env: { ...process.env, NOTES: notes }, ...options });
  for (const _ of [1, 2]) {
    const held = hub.enqueue({ repoId });
    await hub.until('the result', () => held.accepted?.outcome === 'done');
  }
  await agent.drain();
  assert.ok(!existsSync(`${notes}.pwned`));
  return readFileSync(notes, 'utf8').trimEnd().split('\n');
}

test('a job gets the worktree of an earlier one, without anything that it left', async (t) => {
  const parts = await setup(t);
  const [first, ...others] = await runTwo(parts, {});
  const found = ['.git', 'README.md', 'src'];
  // Where processes cannot be looked at, each job gets new files.
  const second = process.platform === 'linux' ? first : others[3];
  assert.deepEqual(others, [...found, second, ...found]);
});

test('an agent that keeps no worktrees deletes them', async (t) => {
  const parts = await setup(t);
  await runTwo(parts, { warmWorktrees: 0 });
  assert.deepEqual(readdirSync(join(parts.stateDir, 'warm', repoId)), []);
});
