import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import {
  AGENT_OFFLINE_AFTER_MS,
  type Agent,
  type AgentCommandName,
  consoleEndpoints,
  consolePathOf,
  endpoints,
  STOP_COMMAND_EXPIRES_MS,
} from '@signalbox/contract';
import { updateRole } from '../../src/access/store.ts';
import type { Role } from '../../src/db/schema/tables.ts';
import { signInFirstOwner } from '../support/console-person.ts';
import { startHomeWorld } from '../support/home-world.ts';
import { createManualClock } from '../support/manual-clock.ts';

const { agents, jobs, queue } = endpoints;

/** A person at the console, and an agent that has reported once. */
async function setup(t: TestContext, role: Role = 'admin') {
  const clock = createManualClock(Date.now());
  const world = await startHomeWorld(t, { clock });
  const { hub, home, call } = world;
  const { workspaceId, repoId } = home;
  const person = await signInFirstOwner(world);
  await hub.database.write(null, (tx) => updateRole(tx, workspaceId, person.personId, role));
  const agentId = await world.addAgent(home, 'build-7');
  const beat = (more: Record<string, unknown> = {}) =>
    call(agents.heartbeat, {
      workspaceId,
      machineFingerprint: 'build-7',
      displayName: 'build-7',
      capabilities: { canWrite: true },
      ...more,
    });
  const send = (command: AgentCommandName, more: Record<string, unknown> = {}) =>
    person.send(consolePathOf(agents.command), { workspaceId, agentId, command, ...more });
  const order = async (command: AgentCommandName, more?: Record<string, unknown>) => {
    const { body, text } = await send(command, more);
    assert.equal(body.ok, true, text);
    return body.agent as Agent;
  };
  const show = async () => (await call(agents.get, { workspaceId, agentId })).agent;
  const claim = (waitMs = 0) => call(jobs.claimNext, { workspaceId, agentId, waitMs });
  const enqueue = async () =>
    (await call(jobs.enqueue, { workspaceId, repoId, kind: 'work', prompt: 'Do it.' })).jobId;
  const parts = { clock, agentId, person, workspaceId, beat, send, order, show, claim, enqueue };
  return { ...world, ...parts };
}

test('a drain goes from asked over draining to drained, and resume ends it', async (t) => {
  const h = await setup(t);
  await h.enqueue();
  const { jobId } = await h.claim();
  const asked = await h.order('drain', { reason: 'New memory.' });
  assert.equal(asked.status, 'draining');
  assert.deepEqual(
    [asked.command?.state, asked.command?.reason, asked.command?.askedByName],
    ['asked', 'New memory.', 'Ada Lovelace'],
  );

  const { commands } = await h.beat();
  assert.deepEqual(commands, [{ command: 'drain', number: 1 }]);
  assert.deepEqual((await h.beat({ commandNumber: 1 })).commands, [], 'obeyed, so not repeated');
  const draining = await h.show();
  assert.equal(draining.command?.state, 'draining');
  assert.deepEqual(
    draining.held.map((held) => [held.jobId, held.title]),
    [[jobId, 'Do it.']],
  );
  await h.call(jobs.complete, {
    workspaceId: h.workspaceId,
    jobId: jobId ?? '',
    agentId: h.agentId,
    outcome: 'done',
  });
  assert.deepEqual([(await h.show()).command?.state, (await h.show()).heldCount], ['drained', 0]);

  const waiting = await h.enqueue();
  assert.equal((await h.claim()).reason, 'agent_draining');
  const view = await h.call(jobs.get, { workspaceId: h.workspaceId, jobId: waiting });
  assert.equal(view.waitingFor?.reason, 'no_agent_serves_repository');
  assert.match(view.waitingFor.message, /drain: resume one, or start another/);
  assert.equal((await h.order('resume')).status, 'online');
  assert.deepEqual((await h.beat({ commandNumber: 1 })).commands, [
    { command: 'resume', number: 2 },
  ]);
  assert.equal((await h.claim()).jobId, waiting, 'the agent gets jobs at once');
  await h.beat({ commandNumber: 2 });
  assert.equal((await h.show()).command, null);
});

test('a drained agent is drained after its restart, and reports more often', async (t) => {
  const h = await setup(t);
  await h.order('drain');
  const { intervalMs } = await h.beat({ commandNumber: 1 });
  assert.equal(intervalMs, 5_000);
  // The new process knows of no command.
  assert.deepEqual((await h.beat()).commands, [{ command: 'drain', number: 1 }]);
  assert.equal((await h.show()).command?.acknowledgedAt !== null, true);
});

for (const command of ['stop', 'stop-now'] as const) {
  test(`${command} is stopping until the process has ended, and over when one starts`, async (t) => {
    const h = await setup(t);
    await h.order(command);
    assert.deepEqual((await h.beat()).commands, [{ command, number: 1 }]);
    await h.beat({ commandNumber: 1, status: 'draining' });
    assert.equal((await h.show()).command?.state, 'stopping');
    assert.equal((await h.send('resume')).body.error, 'AGENT_STOPPING');
    await h.beat({ commandNumber: 1, status: 'offline' });
    const stopped = await h.show();
    assert.deepEqual([stopped.status, stopped.command?.state], ['offline', 'stopped']);
    assert.equal((await h.send('stop')).body.error, 'AGENT_STOPPING', 'nothing to stop');

    assert.deepEqual((await h.beat()).commands, [], 'a new process is not stopped');
    const started = await h.show();
    assert.deepEqual([started.status, started.command], ['online', null]);
  });
}

test('a stopped agent can be drained before it starts again', async (t) => {
  const h = await setup(t);
  await h.order('stop');
  await h.beat({ commandNumber: 1, status: 'offline' });
  assert.equal((await h.order('drain')).command?.state, 'asked');
  assert.deepEqual((await h.beat()).commands, [{ command: 'drain', number: 2 }]);
});

test('a stop can become a stop now while the agent finishes its jobs', async (t) => {
  const h = await setup(t);
  await h.order('stop');
  await h.beat({ commandNumber: 1, status: 'draining' });
  await h.order('stop-now');
  const { commands } = await h.beat({ commandNumber: 1, status: 'draining' });
  assert.deepEqual(commands, [{ command: 'stop-now', number: 2 }]);
});

test('an agent that leaves by itself has obeyed a stop that it never saw', async (t) => {
  const h = await setup(t);
  await h.order('stop');
  await h.beat({ status: 'offline' });
  assert.equal((await h.show()).command?.state, 'stopped');
  assert.deepEqual((await h.beat()).commands, []);
});

test('an offline agent gets a stop within an hour; later the stop has expired', async (t) => {
  const h = await setup(t);
  h.clock.advance(AGENT_OFFLINE_AFTER_MS);
  const asked = await h.order('stop');
  assert.deepEqual([asked.status, asked.command?.state], ['offline', 'asked']);
  h.clock.advance(STOP_COMMAND_EXPIRES_MS - 1);
  const { commands } = await h.beat();
  assert.deepEqual(commands, [{ command: 'stop', number: 1 }]);
  h.clock.advance(1);
  assert.equal((await h.show()).command?.state, 'expired');
  assert.deepEqual((await h.beat()).commands, []);
  const jobId = await h.enqueue();
  assert.equal((await h.claim()).jobId, jobId, 'it works again');
});

test('an offline agent gets a drain whenever it comes back', async (t) => {
  const h = await setup(t);
  await h.order('drain');
  h.clock.advance(30 * 86_400_000);
  assert.deepEqual((await h.beat()).commands, [{ command: 'drain', number: 1 }]);
});

test('a claim that waits is answered with the command at once', { timeout: 30_000 }, async (t) => {
  const h = await setup(t);
  const waiting = h.claim(60_000);
  while (h.hub.deps.waiters.count !== 1) await new Promise((resolve) => setImmediate(resolve));
  await h.order('drain');
  const { reason, commands } = await waiting;
  assert.deepEqual([reason, commands], ['agent_draining', [{ command: 'drain', number: 1 }]]);
});

test('a claim that begins after the command waits, so that no agent calls in a loop', async (t) => {
  const h = await setup(t);
  await h.order('drain');
  const waiting = h.claim(60_000);
  while (h.hub.deps.waiters.count !== 1) await new Promise((resolve) => setImmediate(resolve));
  h.hub.deps.waiters.close();
  // It is told all the same.
  assert.deepEqual((await waiting).commands, [{ command: 'drain', number: 1 }]);
});

test('a repeated command changes nothing and is audited once', async (t) => {
  const h = await setup(t);
  await h.order('drain');
  const again = await h.order('drain');
  assert.equal(again.command?.number, 1);
  await h.order('resume');
  await h.beat({ commandNumber: 2 });
  assert.equal((await h.order('resume')).command, null, 'nothing to resume');
  const { body } = await h.person.send(consoleEndpoints.auditLog.list.path, {
    workspaceId: h.workspaceId,
  });
  const acts = (body.entries as { action: string; subject: string }[])
    .filter(({ subject }) => subject === h.agentId)
    .map(({ action }) => action);
  assert.deepEqual(acts.sort(), ['agent.drain', 'agent.resume']);
});

test('members drain and resume every agent, and stop only their own', async (t) => {
  const h = await setup(t, 'member');
  await h.order('drain');
  await h.order('resume');
  const { body } = await h.send('stop');
  assert.equal(body.error, 'NOT_ALLOWED');
  assert.match(String(body.message), /owner or admin/);
  assert.equal((await h.show()).command?.command, 'resume', 'unchanged');
  // The same agent, registered by the person's own machine.
  await h.hub.database.write(null, (tx) =>
    tx.runSql('UPDATE agents SET principal_id = ? WHERE workspace_id = ? AND agent_id = ?', [
      h.person.personId,
      h.workspaceId,
      h.agentId,
    ]),
  );
  assert.equal((await h.order('stop')).command?.command, 'stop');
});

test('agents are listed by status and by the repository that they serve', async (t) => {
  const h = await setup(t);
  const { workspaceId, home, call } = h;
  // Named by another token than that of the agents.
  const token = await h.mintToken(workspaceId, 'other');
  const elsewhere = await h.addRepository({ ...home, token }, 'elsewhere');
  const named = await h.addAgent(home, 'named', { reposAllowed: [elsewhere] });
  await h.addAgent(home, 'none', { reposAllowed: [] });
  const idsOf = async (filter: Record<string, unknown>) => {
    const answer = await call(agents.list, { workspaceId, ...filter });
    return answer.agents.map((agent) => agent.displayName).sort();
  };
  assert.deepEqual(await idsOf({ repoId: elsewhere }), ['named']);
  assert.deepEqual(await idsOf({ repoId: home.repoId }), ['build-7']);
  await h.order('drain', { agentId: named });
  assert.deepEqual(await idsOf({ statuses: ['draining'] }), ['named']);
  assert.deepEqual(await idsOf({ statuses: ['draining', 'online'], repoId: elsewhere }), ['named']);
  assert.deepEqual(await idsOf({ statuses: [] }), []);
  h.clock.advance(AGENT_OFFLINE_AFTER_MS);
  await h.beat();
  const { counts } = await call(agents.list, { workspaceId });
  assert.deepEqual(counts, { online: 1, draining: 0, offline: 2 });
});

test('a paused repository says since when, and pausing stops only its jobs', async (t) => {
  const h = await setup(t);
  const { workspaceId, home, call } = h;
  const other = await h.addRepository(home, 'second');
  await call(queue.pause, { workspaceId, repoId: home.repoId });
  const { repo } = await call(endpoints.repositories.get, { workspaceId, repoId: home.repoId });
  assert.notEqual(repo.queuePausedAt, null);
  await h.enqueue();
  const { jobId } = await call(jobs.enqueue, {
    workspaceId,
    repoId: other,
    kind: 'work',
    prompt: 'Do it.',
  });
  assert.equal((await h.claim()).jobId, jobId);
  assert.equal((await h.claim()).jobId, null);
});
