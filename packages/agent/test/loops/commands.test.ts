import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { eventOf, fileAppears, repoId, resultOf, setup } from '../support/harness.ts';

const numbers = (heartbeats: readonly { [key: string]: unknown }[]) =>
  heartbeats.map(({ commandNumber }) => commandNumber);

test('a command in the answer to a waiting claim is obeyed and acknowledged at once', async (t) => {
  const { hub, start, events } = await setup(t);
  // A heartbeat that nothing wakes comes after the test.
  hub.intervalMs = 60_000;
  hub.claimCommands = [{ command: 'drain', number: 7 }];
  const agent = await start('true');
  await hub.until('the report', () => hub.agentHeartbeats.at(-1)?.status === 'draining');
  assert.deepEqual(eventOf(events, 'draining'), { type: 'draining', byHub: true });
  assert.equal(hub.agentHeartbeats.at(-1)?.commandNumber, 7);
  await agent.stop();
  assert.deepEqual(
    [hub.agentHeartbeats.at(-1)?.status, hub.agentHeartbeats.at(-1)?.commandNumber],
    ['offline', 7],
  );
});

test('an agent has obeyed no command before the first', async (t) => {
  const { hub, start } = await setup(t);
  const agent = await start('true');
  await hub.until('a heartbeat', () => hub.agentHeartbeats.length > 0);
  await agent.stop();
  assert.ok(numbers(hub.agentHeartbeats).every((number) => number === undefined));
});

test('stop ends the agent when its jobs are done, and it claims no more', async (t) => {
  const { hub, directory, start, events } = await setup(t);
  hub.intervalMs = 500;
  const held = hub.enqueue({ repoId });
  const agent = await start(
    `touch ${directory}/began; until [ -e ${directory}/go ]; do sleep 0.02; done`,
  );
  await fileAppears(join(directory, 'began'));
  hub.commands = [{ command: 'stop', number: 1 }];
  await hub.until('it stops', () => hub.agentHeartbeats.at(-1)?.status === 'draining');
  assert.deepEqual(eventOf(events, 'stopping'), { type: 'stopping', returnsJobs: false });
  const second = hub.enqueue({ repoId });
  const heartbeats = hub.agentHeartbeats.length;
  await hub.until('heartbeats continue', () => hub.agentHeartbeats.length > heartbeats);
  assert.equal(second.generation, 0);
  await writeFile(join(directory, 'go'), '');
  await agent.done;
  assert.equal(resultOf(held).outcome, 'done');
  assert.equal(second.generation, 0);
  assert.deepEqual(
    [hub.agentHeartbeats.at(-1)?.status, hub.agentHeartbeats.at(-1)?.commandNumber],
    ['offline', 1],
  );
});

test('stop now gives the jobs back and ends the agent', async (t) => {
  const { hub, directory, start, events } = await setup(t);
  hub.intervalMs = 500;
  const held = hub.enqueue({ repoId });
  const agent = await start(`touch ${directory}/began; exec sleep 60`);
  await fileAppears(join(directory, 'began'));
  hub.commands = [{ command: 'stop-now', number: 1 }];
  await agent.done;
  assert.equal(eventOf(events, 'job-stopping')?.reason, 'agent_stopped');
  assert.match(eventOf(events, 'job-stopping')?.why ?? '', /A person stopped the agent/);
  assert.equal(resultOf(held).outcomeReason?.retryable, true);
});

test('stop now hurries an agent that finishes its jobs after a stop', async (t) => {
  const { hub, directory, start, events } = await setup(t);
  hub.intervalMs = 500;
  hub.enqueue({ repoId });
  const agent = await start(`touch ${directory}/began; exec sleep 60`);
  await fileAppears(join(directory, 'began'));
  hub.commands = [{ command: 'stop', number: 1 }];
  await hub.until('it stops', () => hub.agentHeartbeats.at(-1)?.commandNumber === 1);
  hub.commands = [{ command: 'stop-now', number: 2 }];
  await agent.done;
  assert.deepEqual(
    events.filter(({ type }) => type === 'stopping'),
    [
      { type: 'stopping', returnsJobs: false },
      { type: 'stopping', returnsJobs: true },
    ],
  );
});

test('a command that the agent does not know changes nothing', async (t) => {
  const { hub, start, events } = await setup(t);
  hub.intervalMs = 500;
  // A command of a later hub.
  hub.commands = [{ command: 'dance' as 'drain', number: 1 }];
  const agent = await start('true');
  const held = hub.enqueue({ repoId });
  await hub.until('the result', () => held.accepted !== null);
  assert.equal(eventOf(events, 'draining'), undefined);
  await agent.stop();
});
