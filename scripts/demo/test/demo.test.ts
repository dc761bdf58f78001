import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { git, makeRepository, startDemo } from './demo-run.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'signalbox-demo-test-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));

test('the demo takes a job from the queue to a commit and leaves nothing behind', async () => {
  const repository = makeRepository(directory);
  const before = git(repository, 'for-each-ref');
  const { exitCode, output, temporary } = await startDemo(directory, ['--repo', repository]).ended;
  assert.equal(exitCode, 0, output);
  assert.match(output, /a scripted stand-in \(not a model\)/);
  assert.match(output, /docs\/folders\.md \| \d+ \+/);
  assert.match(output, /names 2 folders/);
  assert.match(output, /All done in [\d.]+ s/);
  assert.deepEqual(readdirSync(temporary), []);
  assert.equal(git(repository, 'for-each-ref'), before, "the person's repository is untouched");
});

test('a demo that is interrupted ends what it started and says so', async () => {
  const demo = startDemo(directory, ['--repo', makeRepository(directory)]);
  await demo.waitFor(/A hub starts/);
  demo.child.kill('SIGINT');
  const { exitCode, output, temporary } = await demo.ended;
  assert.equal(exitCode, 130, output);
  assert.match(output, /ended by SIGINT/);
  assert.deepEqual(readdirSync(temporary), []);
});

test('a folder that is no repository is refused before anything starts', async () => {
  const { exitCode, output, temporary } = await startDemo(directory, ['--repo', directory]).ended;
  assert.equal(exitCode, 2);
  assert.match(output, /no git repository/);
  assert.deepEqual(readdirSync(temporary), []);
});
