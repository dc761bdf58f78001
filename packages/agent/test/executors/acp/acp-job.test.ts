import assert from 'node:assert/strict';
import test from 'node:test';
import { setupAcp } from '../../support/acp-harness.ts';
import { git } from '../../support/harness.ts';

test('a permission that a person gives lets the tool continue', async (t) => {
  const h = await setupAcp(t);
  await h.start();
  const jobId = await h.enqueue('say Let me see.; run touch /tmp/x; write new.txt; say All done.');
  const [question] = await h.questions(jobId);
  assert.ok(question);
  assert.equal(question.kind, 'approval');
  assert.equal(question.prompt, 'scripted asks to run a command: touch /tmp/x');
  const { action } = question;
  const words = ['touch', '/tmp/x'];
  assert.deepEqual(action, { kind: 'execute', words, allow: 'yes', refuse: 'no' });
  assert.deepEqual(
    question.options.map(({ value, label }) => [value, label]),
    [
      ['yes', 'Yes'],
      ['yes-all', 'Yes, and do not ask again'],
      ['no', 'No'],
    ],
  );
  assert.ok(!h.toolLog().includes('ran touch /tmp/x'));
  await h.answer(question, 'yes');
  const job = await h.until(jobId, 'done', 'failed', 'blocked');
  assert.equal(job.status, 'done', String(job.message));
  assert.ok(h.toolLog().includes('gets yes for touch /tmp/x'));
  assert.equal(job.message, 'All done.');
  const { branch } = job.evidence as { branch: string };
  assert.equal(git(h.clone, 'show', `${branch}:new.txt`), 'written by the tool');
  assert.deepEqual(job.usage?.inputTokens, 1_000);
  const output = await h.output(jobId);
  assert.match(output, /^\[session session-\d+ small\]$/m);
  assert.match(output, /→ touch \/tmp\/x/);
  assert.match(output, /new\.txt \(\+1 −0\)/);
  const { items } = await h.client.jobs.activity({ workspaceId: h.workspaceId, jobId });
  const lines = output.split('\n');
  assert.deepEqual(
    items.flatMap(({ line, activity: { toolCall, session, isMessage } }) => {
      if (session !== undefined) return [[lines[line - 1], session.model]];
      if (isMessage) return [[lines[line - 1], 'message']];
      return toolCall === undefined ? [] : [[lines[line - 1], toolCall.status]];
    }),
    [
      [lines.find((line) => line.startsWith('[session ')), 'small'],
      ['Let me see.', 'message'],
      ['→ touch /tmp/x', 'running'],
      ['  output of touch /tmp/x', 'done'],
      ['→ Write new.txt', 'running'],
      ['  new.txt (+1 −0)', 'done'],
      ['All done.', 'message'],
    ],
  );
  assert.ok(items.some(({ activity }) => activity.usage?.inputTokens === 1_000));
});
