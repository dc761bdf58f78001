import assert from 'node:assert/strict';
import { globSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { setupAcp } from '../../support/acp-harness.ts';

const run = 'run make it';

test('a job whose question is not answered is parked, and continues its session with the answer', async (t) => {
  const h = await setupAcp(t);
  await h.start({ holdMs: 300 });
  const jobId = await h.enqueue(`write before.txt; ${run}; say Finished.`);
  const [question] = await h.questions(jobId);
  assert.ok(question);
  const blocked = await h.until(jobId, 'blocked');
  assert.equal(blocked.waitingOnUncertaintyId, question.uncertaintyId);
  assert.deepEqual(blocked.outcomeReason, {
    category: 'decision',
    code: 'waiting_for_answer',
    retryable: false,
    summary: 'The job waits for an answer by a person.',
  });
  const sessionId = (blocked.evidence as { executor: { sessionId?: string } }).executor.sessionId;
  assert.match(String(sessionId), /^session-\d+$/);

  await h.answer(question, 'yes');
  const job = await h.until(jobId, 'done', 'failed');
  assert.equal(job.status, 'done', String(job.message));
  assert.equal(job.attempt, 2);
  assert.equal(job.message, 'Finished.');
  assert.deepEqual(job.evidence?.changedFiles, ['before.txt']);
  const log = h.toolLog();
  assert.equal(log.filter((line) => line === 'ran make it').length, 1);
  assert.ok(log.some((line) => line.startsWith(`resume ${sessionId} in `)));
  const told = log.filter((line) => line.startsWith('prompt ')).at(-1);
  assert.match(String(told), /interruption was no refusal/);
  assert.match(String(told), /Answer \(answered\): Yes/);
  assert.equal((await h.allQuestions(jobId)).length, 1);
});

test('the slot of a parked job is free for another job', async (t) => {
  const h = await setupAcp(t);
  await h.start({ holdMs: 300, maxConcurrentJobs: 1 });
  const waiting = await h.enqueue(run);
  await h.until(waiting, 'blocked');
  const other = await h.enqueue('say Me too.');
  assert.equal((await h.until(other, 'done', 'failed')).status, 'done');
  assert.equal((await h.until(waiting, 'blocked')).attempt, 1);
});

test('a question of ask_person parks the job, although the tool does not end its turn', async (t) => {
  const h = await setupAcp(t);
  await h.start({ holdMs: 300, maxConcurrentJobs: 1 });
  const jobId = await h.enqueue('write before.txt; ask Which port?; say Finished.');
  const [question] = await h.questions(jobId);
  assert.ok(question);
  const blocked = await h.until(jobId, 'blocked');
  assert.equal(blocked.message, 'A person is asked: Which port?');
  const other = await h.enqueue('say Me too.');
  assert.equal((await h.until(other, 'done', 'failed')).status, 'done');

  await h.answer(question, '9443');
  const job = await h.until(jobId, 'done', 'failed');
  assert.equal(job.status, 'done', String(job.message));
  assert.deepEqual(job.evidence?.changedFiles, ['before.txt']);
  const log = h.toolLog();
  assert.ok(log.some((line) => line.startsWith('resume ')));
  assert.match(String(log.findLast((line) => line.startsWith('prompt '))), /Answer .*9443/);
  assert.ok(log.includes('asked Which port?: 9443'));
  assert.equal((await h.allQuestions(jobId)).length, 1);
});

test('an answer that comes while the job is being parked is not lost', async (t) => {
  const h = await setupAcp(t);
  await h.start({ holdMs: 300 });
  for (let i = 0; i < 5; i++) {
    const jobId = await h.enqueue(`run number ${i}`);
    const [question] = await h.questions(jobId);
    assert.ok(question);
    await h.untilTool(new RegExp(`asks number ${i}`));
    // Around the end of the hold: on either side of it, and in the middle of parking.
    await new Promise((resolve) => setTimeout(resolve, 200 + i * 60));
    await h.answer(question, 'yes');
    assert.equal((await h.until(jobId, 'done', 'failed')).status, 'done');
    assert.equal(h.toolLog().filter((line) => line === `ran number ${i}`).length, 1);
  }
});

test('a refusal chooses the option that refuses, and its reason is told in the next prompt', async (t) => {
  const h = await setupAcp(t);
  await h.start();
  const jobId = await h.enqueue(`${run}; say Without it.`);
  const [question] = await h.questions(jobId);
  assert.ok(question);
  await h.answer(question, 'Use the other target.');
  assert.equal((await h.until(jobId, 'done', 'failed')).status, 'done');
  assert.ok(h.toolLog().includes('gets no for make it'));
  assert.ok(!h.toolLog().includes('ran make it'));
  assert.match(
    String(
      h
        .toolLog()
        .filter((line) => line.startsWith('prompt '))
        .at(-1),
    ),
    /Use the other target\./,
  );
});

test('a dismissed question is a refusal', async (t) => {
  const h = await setupAcp(t);
  await h.start();
  const jobId = await h.enqueue(run);
  const [question] = await h.questions(jobId);
  assert.ok(question);
  await h.client.uncertainties.addResolution({
    workspaceId: h.workspaceId,
    uncertaintyId: question.uncertaintyId,
    mode: 'dismissed',
    value: '',
    confidence: 1,
  });
  await h.until(jobId, 'done', 'failed');
  assert.ok(h.toolLog().includes('gets no for make it'));
});

test('an agent on another machine uses the answer of a parked job without a second question', async (t) => {
  const h = await setupAcp(t);
  const first = await h.start({ holdMs: 300 });
  const jobId = await h.enqueue(`${run}; say Finished.`);
  const [question] = await h.questions(jobId);
  assert.ok(question);
  await h.until(jobId, 'blocked');
  await first.stop();
  await h.start();
  await h.answer(question, 'yes');
  const job = await h.until(jobId, 'done', 'failed');
  assert.equal(job.status, 'done', String(job.message));
  assert.equal(h.toolLog().filter((line) => line === 'ran make it').length, 1);
  assert.equal(h.toolLog().filter((line) => line.startsWith('new ')).length, 2);
  assert.match(await h.output(jobId), /this machine has no session of this job.* begins again/);
});

const losses: readonly [what: string, pattern: string, note: RegExp][] = [
  ['session of the tool', 'tool/session-*.json', /could not resume .* begins again/],
  ['worktree', 'state-0/sessions/*/worktree', /no session of this job.* begins again/],
];
for (const [what, pattern, note] of losses) {
  test(`a parked job whose ${what} is gone says so, and begins again with the answer`, async (t) => {
    const h = await setupAcp(t);
    await h.start({ holdMs: 300 });
    const jobId = await h.enqueue(`write new.txt; ${run}; say Finished.`);
    const [question] = await h.questions(jobId);
    assert.ok(question);
    await h.until(jobId, 'blocked');
    const gone = globSync(join(h.directory, pattern));
    assert.equal(gone.length, 1, pattern);
    for (const path of gone) rmSync(path, { recursive: true });
    await h.answer(question, 'yes');
    const job = await h.until(jobId, 'done', 'failed');
    assert.equal(job.status, 'done', String(job.message));
    assert.deepEqual(job.evidence?.changedFiles, ['new.txt']);
    assert.match(await h.output(jobId), note);
    const told = h.toolLog().findLast((line) => line.startsWith('prompt '));
    assert.match(String(told), /Question: scripted asks to run a command: make it.*Answer/);
    assert.equal(h.toolLog().filter((line) => line === 'ran make it').length, 1);
    assert.equal((await h.allQuestions(jobId)).length, 1);
  });
}
