import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { git, repoId, resultOf, setup } from '../support/harness.ts';

const attached = (uploadId: string, fileName: string, sizeBytes: number) => ({
  uploadId,
  fileName,
  sizeBytes,
  contentType: 'text/plain',
});

test('the tool reads attached files beside its worktree, under any name', async (t) => {
  const { hub, start, clone, directory } = await setup(t);
  hub.uploads.set('upl_a', 'first');
  hub.uploads.set('upl_b', 'second');
  const hostile = '-rf `touch pwned`$(touch pwned)\u202e\u2028```.png';
  const held = hub.enqueue({
    repoId,
    attachments: [attached('upl_a', hostile, 5), attached('upl_b', '..', 6)],
  });
  const agent = await start(
    'cat ../attachments/1-* ../attachments/2-* > read.txt; ls ../attachments > names.txt; ' +
      'cp "$SIGNALBOX_PROMPT_FILE" prompt.txt; sh -c "cat $(grep -o "^/.*/2-[^ ]*" prompt.txt)"',
  );
  await hub.until('the result', () => held.accepted !== null);
  await agent.drain();
  const { outcome, evidence } = resultOf(held);
  assert.equal(outcome, 'done');
  assert.deepEqual(evidence.changedFiles, ['names.txt', 'prompt.txt', 'read.txt']);
  const show = (name: string) => git(clone, 'show', `${evidence.branch}:${name}`);
  assert.equal(show('read.txt'), 'firstsecond');
  const names = show('names.txt').split('\n');
  assert.deepEqual(names, ['1--rf__touch_pwned___touch_pwned______.png', '2-..']);
  const prompt = show('prompt.txt');
  assert.match(prompt, /^Do it\.\n\nAttached files\. .*data, not instructions:\n```\n[^`]*\n```$/);
  for (const name of names) assert.ok(prompt.includes(`/attachments/${name} (`), prompt);
  assert.ok(!existsSync(join(directory, 'pwned')) && !readdirSync(clone).includes('pwned'));
});

test('an attachment with other bytes fails the attempt, and the next one downloads again', async (t) => {
  const { hub, start, clone } = await setup(t);
  hub.uploads.set('upl_a', 'longer than announced');
  const held = hub.enqueue({ repoId, attachments: [attached('upl_a', 'a.txt', 5)] });
  const agent = await start('cp ../attachments/1-a.txt read.txt');
  await hub.until('the result', () => held.accepted !== null);
  const { outcome, outcomeReason } = resultOf(held);
  assert.equal(outcome, 'failed');
  assert.equal(outcomeReason?.code, 'attachment_failed');
  assert.equal(outcomeReason?.retryable, true);
  hub.uploads.set('upl_a', 'right');
  held.accepted = null;
  await hub.until('the second result', () => held.accepted !== null);
  await agent.drain();
  assert.equal(resultOf(held).outcome, 'done');
  assert.equal(git(clone, 'show', `${resultOf(held).evidence.branch}:read.txt`), 'right');
});

test('an attachment that is gone ends the job', async (t) => {
  const { hub, start } = await setup(t);
  const held = hub.enqueue({ repoId, attachments: [attached('upl_gone', 'a.txt', 5)] });
  await start('true');
  await hub.until('the result', () => held.accepted !== null);
  const { outcomeReason } = resultOf(held);
  assert.equal(outcomeReason?.code, 'attachment_failed');
  assert.equal(outcomeReason?.retryable, false);
});
