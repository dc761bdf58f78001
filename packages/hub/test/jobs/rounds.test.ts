import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { DECISION_AGENT_PREFERENCE_MS, endpoints } from '@signalbox/contract';
import { kindsOf, startQueueWorld } from '../support/queue-world.ts';
import { upload } from '../support/upload-setup.ts';

const { jobs, uploads } = endpoints;

async function setup(t: TestContext) {
  const h = await startQueueWorld(t);
  const { workspaceId, agentId } = h;
  return {
    ...h,
    /** Runs the next job of the agent to its end. */
    async end(evidence: object = {}, outcome: 'done' | 'failed' = 'done') {
      const { jobId } = await h.claim();
      assert.ok(jobId);
      await h.call(jobs.complete, {
        workspaceId,
        jobId,
        agentId,
        outcome,
        evidence: { ...evidence },
      });
      return jobId;
    },
    /** The agent reports itself again. */
    beat: (name: string) => h.addAgent(h.home, name),
    messages: async (jobId: string) => (await h.get(jobId)).messages ?? [],
    /** Takes the messages of a job, as its agent does between turns. */
    take: (jobId: string, claimGeneration: number, delivered: number[] = []) =>
      h.call(jobs.takeMessages, { workspaceId, jobId, agentId, claimGeneration, delivered }),
    next: (jobId: string, message = 'And the empty list.', more: object = {}) =>
      h.call(jobs.continue, { workspaceId, jobId, message, ...more }),
  };
}

const onBranch = { branch: 'signalbox/job-1', commitSha: 'a'.repeat(40) };

test('a round continues a job that is done, with its repository, kind and requirements', async (t) => {
  const h = await setup(t);
  const first = await h.enqueue({ requirements: { labels: {} }, priority: 3, role: 'tester' });
  await h.end();
  const { job, delivery } = await h.next(first.jobId);
  assert.equal(delivery, 'round');
  assert.deepEqual(
    [job.continuesJobId, job.workJobId, job.round, job.status],
    [first.jobId, first.jobId, 2, 'pending'],
  );
  const same = ({ repoId, kind, role, requirements, priority }: typeof job) => ({
    repoId,
    kind,
    role,
    requirements,
    priority,
  });
  assert.deepEqual(same(job), same(first.job));
  assert.equal(job.prompt, 'And the empty list.');
  assert.deepEqual((await h.timeline(job.jobId))[0]?.data?.continuesJobId, first.jobId);
  const before = await h.get(first.jobId);
  assert.deepEqual([before.job.status, before.job.round], ['done', 1]);
  assert.deepEqual(kindsOf(await h.timeline(first.jobId)), ['enqueued', 'claimed', 'completed']);
  await h.end({}, 'failed');
  const third = await h.next(job.jobId);
  assert.deepEqual(
    [third.job.continuesJobId, third.job.workJobId, third.job.round],
    [job.jobId, first.jobId, 3],
  );
  const rounds = [
    { jobId: first.jobId, round: 1, status: 'done' },
    { jobId: job.jobId, round: 2, status: 'failed' },
    { jobId: third.job.jobId, round: 3, status: 'pending' },
  ];
  for (const { jobId } of rounds) assert.deepEqual((await h.get(jobId)).rounds, rounds);
});

test('a round has the files of the job that it continues, and keeps them', async (t) => {
  const h = await setup(t);
  const { workspaceId } = h;
  const uploadId = await upload(h, 'line', { fileName: 'b.log' });
  const { jobId, job: first } = await h.enqueue({ attachments: [uploadId] });
  await h.end();
  const { job: second } = await h.next(jobId);
  assert.deepEqual(second.attachments, first.attachments);
  // The round of messages begins with the completion, which is another way to it.
  const claimed = await h.claim();
  await h.next(second.jobId, 'And that.');
  const { agentId } = h;
  await h.call(jobs.complete, { workspaceId, jobId: second.jobId, agentId, outcome: 'done' });
  const rounds = (await h.get(jobId)).rounds ?? [];
  const third = await h.get(rounds[2]?.jobId ?? '');
  assert.equal(claimed.jobId, second.jobId);
  assert.deepEqual(third.job.attachments, first.attachments);
  await h.refuse(uploads.delete, { workspaceId, uploadId }, 'NOT_ALLOWED');
});

test('a round may be for another tool', async (t) => {
  const h = await setup(t);
  const { jobId } = await h.enqueue({ requirements: { tool: 'claude', models: ['a', 'b'] } });
  await h.call(jobs.cancel, { workspaceId: h.workspaceId, jobId });
  const { jobId: asked } = await h.enqueue({ requirements: { labels: {} } });
  await h.end();
  const { job } = await h.next(asked, 'More.', { tool: 'codex', model: 'gpt-5.5' });
  assert.deepEqual(job.requirements, { labels: {}, tool: 'codex', model: 'gpt-5.5' });
});

test('a continue is refused with what to do instead', async (t) => {
  const h = await setup(t);
  const { workspaceId } = h;
  const { jobId } = await h.enqueue();
  const ask = { workspaceId, jobId, message: 'More.' };
  const withTool = await h.refuse(jobs.continue, { ...ask, tool: 'codex' }, 'INVALID_REQUEST');
  assert.match(withTool.message, /tool.*has ended/);
  await h.end();
  const { job } = await h.next(jobId);
  assert.match(
    (await h.refuse(jobs.continue, ask, 'INVALID_REQUEST')).message,
    new RegExp(`continued already: continue round 2, ${job.jobId}`),
  );
  await h.call(jobs.cancel, { workspaceId, jobId: job.jobId });
  const again = { ...ask, jobId: job.jobId };
  const canceled = await h.refuse(jobs.continue, again, 'JOB_CANCELED');
  assert.match(canceled.message, new RegExp(`continue the round before, ${jobId}`));
  assert.equal((await h.next(jobId)).job.round, 3, 'the canceled round continues nothing');
});

test('a failed job that a round continues is not retried: two would work on one branch', async (t) => {
  const h = await setup(t);
  const { workspaceId } = h;
  const { jobId } = await h.enqueue();
  await h.end({}, 'failed');
  const { job } = await h.next(jobId);
  const refused = await h.refuse(jobs.retry, { workspaceId, jobId }, 'INVALID_REQUEST');
  assert.match(refused.message, new RegExp(`continue round 2, ${job.jobId}`));
  await h.call(jobs.cancel, { workspaceId, jobId: job.jobId });
  await h.call(jobs.retry, { workspaceId, jobId });
});

test('two that continue a job at once make one round', async (t) => {
  const h = await setup(t);
  const { jobId } = await h.enqueue();
  await h.end();
  const all = await Promise.allSettled(['a', 'b', 'c'].map((text) => h.next(jobId, text)));
  assert.equal(all.filter(({ status }) => status === 'fulfilled').length, 1);
  assert.equal((await h.get(jobId)).rounds?.length, 2);
});

test('the agent of the round before goes first for a while', async (t) => {
  const h = await setup(t);
  const { jobId } = await h.enqueue();
  await h.end({ ...onBranch, pushedTo: 'origin' });
  const other = await h.addAgent(h.home, 'other');
  const { job } = await h.next(jobId);
  assert.equal((await h.claim({ agentId: other })).jobId, null);
  h.clock.advance(DECISION_AGENT_PREFERENCE_MS + 1);
  await h.hub.loops.sweeper.runOnce();
  await h.beat('other');
  assert.equal((await h.claim({ agentId: other })).jobId, job.jobId);
});

test('a round whose branch was not pushed waits for the agent that has it', async (t) => {
  const h = await setup(t);
  const { workspaceId } = h;
  const { jobId } = await h.enqueue();
  await h.end(onBranch);
  const other = await h.addAgent(h.home, 'other');
  const { job } = await h.next(jobId);
  h.clock.advance(24 * 60 * 60_000);
  await h.hub.loops.sweeper.runOnce();
  await h.beat('other');
  assert.equal((await h.claim({ agentId: other })).jobId, null);
  const { waitingFor } = await h.get(job.jobId);
  assert.equal(waitingFor?.reason, 'agent_with_branch');
  assert.match(waitingFor?.message ?? '', /only machine with the branch; it is offline.*Bring it/);
  const listed = await h.call(jobs.list, {
    workspaceId,
    status: 'pending',
    view: 'summary',
    fields: ['waitingReason'],
  });
  assert.deepEqual(
    listed.jobs.map(({ waitingReason }) => waitingReason),
    ['agent_with_branch'],
  );
  await h.beat('first');
  assert.equal((await h.claim()).jobId, job.jobId);
  h.clock.advance(24 * 60 * 60_000);
  await h.hub.loops.sweeper.runOnce();
  await h.beat('other');
  assert.equal((await h.get(job.jobId)).job.status, 'pending');
  assert.equal((await h.claim({ agentId: other })).jobId, null, 'also after a lost lease');
  await h.beat('first');
  assert.equal((await h.claim()).jobId, job.jobId);
});

test('a round that was asked for twice with one key is one round', async (t) => {
  const h = await setup(t);
  const { jobId } = await h.enqueue();
  await h.end();
  const first = await h.next(jobId, 'More.', { idempotencyKey: 'once' });
  const again = await h.next(jobId, 'More.', { idempotencyKey: 'once' });
  assert.deepEqual([again.job.jobId, again.idempotent], [first.job.jobId, true]);
});

test('messages to a running job become one round when it is done', async (t) => {
  const h = await setup(t);
  const { jobId } = await h.enqueue();
  const pending = await h.next(jobId, 'One.');
  assert.deepEqual(
    [pending.delivery, pending.job.jobId, pending.message?.state],
    ['message', jobId, 'queued'],
  );
  const { claimGeneration } = await h.claim();
  assert.ok(claimGeneration);
  await h.next(jobId, 'Two.');
  assert.deepEqual(
    (await h.messages(jobId)).map(({ number, text, state }) => [number, text, state]),
    [
      [1, 'One.', 'queued'],
      [2, 'Two.', 'queued'],
    ],
  );
  const done = { evidence: onBranch, claimGeneration };
  await h.complete(jobId, done);
  assert.equal((await h.complete(jobId, done)).result.idempotent, true);
  const { rounds } = await h.get(jobId);
  assert.equal(rounds?.length, 2);
  const { job } = await h.get(rounds?.[1]?.jobId ?? '');
  assert.deepEqual(
    [job.prompt, job.continuesJobId, job.createdBy],
    ['One.\n\nTwo.', jobId, pending.job.createdBy],
  );
  assert.deepEqual(
    (await h.messages(jobId)).map(({ state, nextJobId }) => [state, nextJobId]),
    [
      ['next_round', job.jobId],
      ['next_round', job.jobId],
    ],
  );
});

test('messages of a job that failed wait for its retry, or for the round that continues it', async (t) => {
  const h = await setup(t);
  const { workspaceId } = h;
  const { jobId } = await h.enqueue();
  await h.next(jobId, 'One.');
  await h.end({}, 'failed');
  assert.equal((await h.get(jobId)).rounds, undefined);
  await h.call(jobs.retry, { workspaceId, jobId });
  await h.end({}, 'failed');
  const { job } = await h.next(jobId, 'Two.');
  assert.equal(job.prompt, 'One.\n\nTwo.');
  await h.end();
  assert.deepEqual(
    (await h.messages(jobId)).map(({ nextJobId }) => nextJobId),
    [job.jobId],
  );
  assert.equal((await h.get(job.jobId)).rounds?.length, 2, 'none of them is told twice');
});

test('a job takes messages up to the length of a prompt', async (t) => {
  const h = await setup(t);
  const { workspaceId } = h;
  const { jobId } = await h.enqueue();
  const message = 'x'.repeat(100_000);
  await h.next(jobId, message);
  await h.refuse(jobs.continue, { workspaceId, jobId, message }, 'LIMIT_REACHED');
});

test('a tool gets messages while its job runs, and the others become the next round', async (t) => {
  const h = await setup(t);
  const { jobId } = await h.enqueue();
  const { claimGeneration: generation } = await h.claim();
  assert.ok(generation);
  assert.equal((await h.next(jobId, 'One.')).takesMessages, undefined);
  assert.deepEqual(
    (await h.take(jobId, generation)).messages.map(({ text, state }) => [text, state]),
    [['One.', 'queued']],
    'the agent has it, and the tool not yet',
  );
  const second = await h.next(jobId, 'Two.');
  assert.deepEqual([second.delivery, second.takesMessages], ['message', true]);
  assert.equal((await h.get(jobId)).takesMessages, true);
  const { messages } = await h.take(jobId, generation, [1]);
  assert.deepEqual(
    messages.map(({ state, deliveredAt }) => [state, deliveredAt !== null]),
    [
      ['delivered', true],
      ['queued', false],
    ],
  );
  h.clock.advance(1_000);
  assert.deepEqual((await h.take(jobId, generation, [1])).messages, messages, 'once');
  await h.next(jobId, 'Three.');
  // Of the second, the hub hears with the result.
  await h.complete(jobId, { claimGeneration: generation, messagesDelivered: [1, 2] });
  const { rounds = [], takesMessages } = await h.get(jobId);
  assert.deepEqual([rounds.length, takesMessages], [2, undefined]);
  assert.equal((await h.get(rounds[1]?.jobId ?? '')).job.prompt, 'Three.');
  assert.deepEqual(
    (await h.messages(jobId)).map(({ state }) => state),
    ['delivered', 'delivered', 'next_round'],
  );
});

test('a job whose tool has all messages has no next round', async (t) => {
  const h = await setup(t);
  const { jobId } = await h.enqueue();
  const { claimGeneration } = await h.claim();
  await h.next(jobId, 'One.');
  assert.ok(claimGeneration);
  await h.complete(jobId, { claimGeneration, messagesDelivered: [1] });
  assert.equal((await h.get(jobId)).rounds, undefined);
  assert.equal((await h.next(jobId, 'More.')).job.prompt, 'More.');
});

test('an attempt that has lost the job delivers nothing, and the next one gets every message', async (t) => {
  const h = await setup(t);
  const { workspaceId, agentId } = h;
  const { jobId } = await h.enqueue();
  const { claimGeneration: first } = await h.claim();
  assert.ok(first);
  await h.next(jobId, 'One.');
  await h.next(jobId, 'Two.');
  await h.take(jobId, first, [1]);
  h.clock.advance(24 * 60 * 60_000);
  await h.hub.loops.sweeper.runOnce();
  await h.beat('first');
  assert.equal((await h.get(jobId)).takesMessages, undefined);
  const { claimGeneration: second } = await h.claim();
  assert.ok(second);
  const late = { workspaceId, jobId, agentId, claimGeneration: first };
  await h.refuse(jobs.takeMessages, { ...late, delivered: [2] }, 'CLAIM_GENERATION_MISMATCH');
  const result = { ...late, outcome: 'done' as const, messagesDelivered: [2] };
  await h.refuse(jobs.complete, result, 'CLAIM_GENERATION_MISMATCH');
  assert.equal((await h.get(jobId)).takesMessages, undefined, 'not known of this attempt yet');
  assert.deepEqual(
    (await h.messages(jobId)).map(({ state }) => state),
    ['delivered', 'queued'],
  );
  // Its session is a new one, which has none of them.
  assert.deepEqual(
    (await h.take(jobId, second)).messages.map(({ number, state }) => [number, state]),
    [
      [1, 'queued'],
      [2, 'queued'],
    ],
  );
  await h.take(jobId, second, [1, 2]);
  h.clock.advance(24 * 60 * 60_000);
  await h.hub.loops.sweeper.runOnce();
  await h.beat('first');
  // The tool of the third attempt takes no messages, and its agent tells of none.
  await h.end();
  const { rounds = [] } = await h.get(jobId);
  assert.equal((await h.get(rounds[1]?.jobId ?? '')).job.prompt, 'One.\n\nTwo.');
});

test('a message that comes with the result is delivered or becomes the next round', async (t) => {
  const h = await setup(t);
  for (let times = 0; times < 5; times++) {
    const { jobId } = await h.enqueue();
    assert.equal((await h.claim()).jobId, jobId);
    await Promise.all([h.complete(jobId), h.next(jobId, 'More.')]);
    const { rounds = [] } = await h.get(jobId);
    assert.equal(rounds.length, 2);
    assert.equal((await h.get(rounds[1]?.jobId ?? '')).job.prompt, 'More.');
    assert.equal((await h.claim()).jobId, rounds[1]?.jobId);
    await h.complete(rounds[1]?.jobId ?? '');
  }
});
