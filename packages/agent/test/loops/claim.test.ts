import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { type Clock, systemClock } from '../../src/clock.ts';
import { eventOf, fileAppears, git, repoId, resultOf, setup } from '../support/harness.ts';

test('a claim whose answer was lost is retried, and its job runs once', async (t) => {
  const { hub, start } = await setup(t);
  const held = hub.enqueue({ repoId });
  hub.trouble('/claim-next', 'lose', 2);
  const agent = await start('echo once');
  await hub.until('the result', () => held.accepted !== null);
  await agent.drain();
  assert.equal(held.generation, 1);
  assert.equal(held.completions.length, 1);
  const keys = hub.calls
    .filter(({ path }) => path.endsWith('/claim-next'))
    .map(({ body }) => body.claimKey);
  assert.equal(new Set(keys.slice(0, 3)).size, 1);
  assert.notEqual(keys[3], keys[0]);
});

for (const status of [429, 503]) {
  test(`a claim and a completion that get ${status} are retried after retry-after`, async (t) => {
    const { hub, start } = await setup(t);
    const held = hub.enqueue({ repoId });
    hub.trouble('/claim-next', status, 1, 1);
    hub.trouble('/jobs/complete', status, 1, 1);
    const beganMs = performance.now();
    await start('true');
    await hub.until('the result', () => held.accepted !== null);
    assert.ok(performance.now() - beganMs >= 2_000);
  });
}

test('a drain accepts the job of the claim that it aborted', async (t) => {
  const { hub, start } = await setup(t);
  const agent = await start('echo taken');
  await hub.until('a poll', () => hub.calls.some(({ path }) => path.endsWith('/claim-next')));
  // The hub grants the job while the connection breaks, so the agent never receives the answer.
  const held = hub.enqueue({ repoId });
  hub.cutClaims();
  await agent.drain();
  assert.equal(held.generation, 1);
  assert.equal(resultOf(held).outcome, 'done');
});

test('an agent claims no more jobs than it has slots', async (t) => {
  const { hub, directory, start } = await setup(t);
  const first = hub.enqueue({ repoId });
  const second = hub.enqueue({ repoId });
  hub.intervalMs = 500;
  const agent = await start(
    `touch ${directory}/b; until [ -e ${directory}/go ]; do sleep 0.02; done`,
  );
  await fileAppears(join(directory, 'b'));
  const heartbeats = hub.agentHeartbeats.length;
  await hub.until('time passes', () => hub.agentHeartbeats.length > heartbeats + 1);
  assert.equal(second.generation, 0);
  assert.deepEqual(agent.heldJobIds(), [first.job.jobId]);
  git(directory, 'init', '--quiet', 'go');
  await hub.until('both results', () => first.accepted !== null && second.accepted !== null);
});

test('a person can drain the agent from the hub and resume it', async (t) => {
  const { hub, start, events } = await setup(t);
  hub.intervalMs = 500;
  hub.commands = [{ command: 'drain' }];
  await start('true');
  await hub.until('it drains', () => hub.agentHeartbeats.at(-1)?.status === 'draining');
  assert.deepEqual(eventOf(events, 'draining'), { type: 'draining', byHub: true });
  const held = hub.enqueue({ repoId });
  const heartbeats = hub.agentHeartbeats.length;
  await hub.until('time passes', () => hub.agentHeartbeats.length > heartbeats + 1);
  assert.equal(held.generation, 0);
  hub.commands = [{ command: 'resume' }];
  await hub.until('the result', () => held.accepted !== null);
  assert.ok(eventOf(events, 'resumed'));
});

test('a revoked token ends the agent with the hub’s reason', async (t) => {
  const { hub, start } = await setup(t);
  hub.intervalMs = 500;
  const agent = await start('true');
  await hub.until('it is online', () => hub.agentHeartbeats.length > 0);
  hub.isTokenDead = true;
  await assert.rejects(agent.done, { name: 'ApiError', code: 'TOKEN_REVOKED' });
});

test('an agent that a defect has ended waits for nothing', async (t) => {
  const { hub, stateDir, start } = await setup(t);
  const waits = new Set<number>();
  const sleep: Clock['sleep'] = async (ms, signal) => {
    waits.add(ms);
    await systemClock.sleep(ms, signal);
    waits.delete(ms);
  };
  const agent = await start('true', { clock: { ...systemClock, sleep } });
  // No directory of an attempt can be made below a file.
  const jobs = join(stateDir, 'jobs');
  rmSync(jobs, { recursive: true });
  writeFileSync(jobs, '');
  hub.enqueue({ repoId });
  await assert.rejects(agent.done, { code: 'ENOTDIR' });
  // The timer of a job without a limit of time would keep the process from ending.
  assert.deepEqual(
    [...waits].filter((ms) => ms > 3_600_000),
    [],
  );
});

test('the heartbeat reports identity and capabilities, and continues during a job', async (t) => {
  const { hub, directory, start } = await setup(t);
  hub.intervalMs = 500;
  hub.enqueue({ repoId });
  const agent = await start(`touch ${directory}/b; exec sleep 60`, {
    maxConcurrentJobs: 3,
    labels: { os: 'linux' },
    capabilities: { models: ['m-1'] },
  });
  await fileAppears(join(directory, 'b'));
  const heartbeats = hub.agentHeartbeats.length;
  await hub.until('heartbeats continue', () => hub.agentHeartbeats.length > heartbeats + 1);
  const body = hub.agentHeartbeats.at(-1);
  assert.equal(body?.machineFingerprint, agent.machineFingerprint);
  assert.match(agent.machineFingerprint, /^[0-9a-f]{32}$/);
  assert.deepEqual(body?.capabilities, {
    executionModes: ['cli', 'landing'],
    canWrite: true,
    canUseNetwork: true,
    models: ['m-1'],
    reposAllowed: [repoId],
    changesOnRequest: [],
    labels: { os: 'linux' },
    maxConcurrentJobs: 3,
    tools: [{ name: 'command', models: [], isolation: [] }],
  });
  await agent.stop();
  const again = await start('true');
  assert.equal(again.machineFingerprint, agent.machineFingerprint);
});
