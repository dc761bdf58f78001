import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createClient } from '@signalbox/sdk';
import { type AgentEvent, createCommandExecutor } from '../../src/index.ts';
import { setupAcp } from '../support/acp-harness.ts';
import { git } from '../support/harness.ts';

async function setup(t: TestContext) {
  const h = await setupAcp(t);
  const { workspaceId, client, directory } = h;
  const place = join(directory, 'tool');
  mkdirSync(place, { recursive: true });
  const send = (jobId: string, message: string) =>
    client.jobs.continue({ workspaceId, jobId, message });
  const view = (jobId: string) => client.jobs.get({ workspaceId, jobId });
  return {
    ...h,
    send,
    view,
    /** Makes the tool wait; returns what lets it continue. */
    hold(name: string) {
      const file = join(place, name);
      writeFileSync(file, '');
      return () => rmSync(file);
    },
    async states(jobId: string) {
      const { messages = [] } = await view(jobId);
      return messages.map(({ state }) => state);
    },
    prompts: () => h.toolLog().filter((line) => line.startsWith('prompt ')),
    files: (job: { evidence: unknown }) => {
      const { branch } = job.evidence as { branch: string };
      return git(h.clone, 'ls-tree', '--name-only', branch).split('\n');
    },
  };
}

test('messages to a running job reach its tool between turns', async (t) => {
  const h = await setup(t);
  const goOn = h.hold('hold first');
  await h.start();
  const jobId = await h.enqueue('sneak first; say One.');
  await h.untilTool(/^begins first$/);
  assert.equal((await h.send(jobId, 'write two.txt; say Two.')).takesMessages, true);
  await h.send(jobId, 'write three.txt; say Three.');
  assert.deepEqual(await h.states(jobId), ['queued', 'queued']);
  goOn();
  const job = await h.until(jobId, 'done');
  assert.equal(job.message, 'Three.');
  assert.deepEqual(h.files(job), ['README.md', 'three.txt', 'two.txt']);
  const { messages = [], rounds, takesMessages } = await h.view(jobId);
  assert.deepEqual([rounds, takesMessages], [undefined, undefined]);
  for (const { state, deliveredAt, nextJobId } of messages) {
    assert.deepEqual([state, deliveredAt !== null, nextJobId], ['delivered', true, null]);
  }
  assert.equal(h.prompts().length, 2);
  assert.match(await h.output(jobId), /the tool gets messages 1, 2 of people/);
  // A later round without the session is told of them.
  rmSync(join(h.directory, 'state-0', 'works', `${jobId}.json`));
  const { job: round } = await h.send(jobId, 'say Four.');
  await h.until(round.jobId, 'done');
  const asked = 'Round 1 was asked:\nsneak first; say One.\n\nwrite two.txt; say Two.';
  assert.ok(h.prompts().at(-1)?.includes(JSON.stringify(asked).slice(1, -1)));
});

test('a message that is there before the tool begins is in its first prompt', async (t) => {
  const h = await setup(t);
  const jobId = await h.enqueue('write one.txt');
  await h.send(jobId, 'write two.txt');
  await h.start();
  const job = await h.until(jobId, 'done');
  assert.deepEqual(h.files(job), ['README.md', 'one.txt', 'two.txt']);
  assert.deepEqual(await h.states(jobId), ['delivered']);
  assert.equal(h.prompts().length, 1);
});

test('a session that begins again on another machine gets every message again', async (t) => {
  const h = await setup(t);
  const goOn = h.hold('hold second');
  const agent = await h.start();
  const jobId = await h.enqueue('write one.txt');
  await h.send(jobId, 'write two.txt; sneak second');
  await h.untilTool(/^begins second$/);
  await agent.stop();
  goOn();
  assert.deepEqual(await h.states(jobId), ['delivered']);
  await h.start();
  const job = await h.until(jobId, 'done');
  assert.deepEqual(h.files(job), ['README.md', 'one.txt', 'two.txt']);
  assert.deepEqual(await h.states(jobId), ['delivered']);
  assert.equal((await h.view(jobId)).rounds, undefined);
});

test('a tool that shows no history is told that it may have a message already', async (t) => {
  const h = await setup(t);
  h.env.ACP_SCRIPT_SHOWS_NOTHING = '1';
  const goOn = h.hold('hold first');
  await h.start();
  const jobId = await h.enqueue('sneak first');
  await h.untilTool(/^begins first$/);
  await h.send(jobId, 'sneak second');
  const store = h.hold('hold-stored');
  goOn();
  await h.untilTool(/^prompt .*Message 1 to/);
  const pid = h.toolLog().findLast((line) => line.startsWith('tool '));
  process.kill(Number(pid?.slice('tool '.length)), 'SIGKILL');
  store();
  await h.until(jobId, 'done');
  assert.match(String(h.prompts().at(-1)), /You may have it already/);
  assert.deepEqual(await h.states(jobId), ['delivered']);
  assert.equal(h.toolLog().filter((line) => line === 'ran second').length, 1);
});

test('a message to a tool that takes none becomes the next round', async (t) => {
  const h = await setup(t);
  const begun = join(h.directory, 'begun');
  const command = `touch ${begun}; while [ -e ${begun} ]; do sleep 0.05; done`;
  await h.start({ executor: createCommandExecutor({ command }) });
  const jobId = await h.enqueue('One.');
  await h.until(jobId, 'running');
  assert.equal((await h.send(jobId, 'Two.')).takesMessages, undefined);
  // Each round makes the file again.
  const release = setInterval(() => rmSync(begun, { force: true }), 50);
  t.after(() => clearInterval(release));
  await h.until(jobId, 'done');
  const { rounds = [], messages = [] } = await h.view(jobId);
  assert.equal(messages[0]?.nextJobId, rounds[1]?.jobId);
  await h.until(rounds[1]?.jobId ?? '', 'done');
});

test('a hub that does not answer at the end of a turn does not hold back the result', async (t) => {
  const h = await setup(t);
  const goOn = h.hold('hold first');
  const finished = Promise.withResolvers<void>();
  const onEvent = ({ type }: AgentEvent) => {
    if (type === 'job-finished') finished.resolve();
  };
  await h.start({ onEvent });
  const jobId = await h.enqueue('write one.txt; sneak first');
  await h.untilTool(/^begins first$/);
  await h.send(jobId, 'write two.txt');
  await h.stopHub();
  goOn();
  await finished.promise;
  await h.startHub();
  await h.until(jobId, 'done');
  const { rounds = [], messages = [] } = await h.view(jobId);
  assert.equal(messages[0]?.nextJobId, rounds[1]?.jobId);
  const second = await h.until(rounds[1]?.jobId ?? '', 'done');
  assert.deepEqual(h.files(second), ['README.md', 'one.txt', 'two.txt']);
});

test('with an older hub, which does not know the call, messages become the next round', async (t) => {
  const h = await setup(t);
  const client = createClient({
    baseUrl: h.baseUrl,
    fetch: (input, init) =>
      new Request(input, init).url.endsWith('/jobs/take-messages')
        ? Promise.resolve(Response.json({ ok: false }, { status: 404 }))
        : fetch(input, init),
  });
  const goOn = h.hold('hold first');
  await h.start({ client });
  const jobId = await h.enqueue('sneak first; say One.');
  await h.untilTool(/^begins first$/);
  const { takesMessages } = await h.send(jobId, 'say Two.');
  assert.equal(takesMessages, undefined);
  goOn();
  await h.until(jobId, 'done');
  const [message] = (await h.view(jobId)).messages ?? [];
  assert.equal(message?.state, 'next_round');
  assert.equal((await h.until(message?.nextJobId ?? '', 'done')).message, 'Two.');
});
