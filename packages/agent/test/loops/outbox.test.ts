import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import {
  eventOf,
  fileAppears,
  git,
  isAlive,
  readPid,
  repoId,
  resultOf,
  type Setup,
  setup,
} from '../support/harness.ts';

/** Starts an agent in a separate process, so that it can be killed. */
function spawnAgent(t: TestContext, parts: Setup, command: string): ChildProcess {
  const { hub, clone, stateDir } = parts;
  const options = {
    baseUrl: hub.baseUrl,
    token: hub.token,
    workspaceId: hub.workspaceId,
    stateDir,
    command,
    repositories: [{ repoId, path: clone }],
  };
  const file = join(import.meta.dirname, '../support/agent-process.ts');
  const child = spawn(process.execPath, [file, JSON.stringify(options)], { stdio: 'inherit' });
  t.after(() => child.kill('SIGKILL'));
  return child;
}

test('a result whose answer was lost is sent again and counted once', async (t) => {
  const { hub, start, stateDir } = await setup(t);
  const held = hub.enqueue({ repoId });
  hub.trouble('/jobs/complete', 'lose', 2);
  const agent = await start('echo once');
  await hub.until('the third attempt to send', () => held.completions.length === 3);
  await agent.drain();
  assert.equal(resultOf(held).outcome, 'done');
  assert.deepEqual(readdirSync(join(stateDir, 'outbox')), ['refused']);
});

test('a hub that is unavailable at completion gets the result once it is back', async (t) => {
  const { hub, directory, start, events } = await setup(t);
  const held = hub.enqueue({ repoId });
  await start(
    `touch ${directory}/begun; until [ -e ${directory}/go ]; do sleep 0.02; done; echo late`,
  );
  await fileAppears(join(directory, 'begun'));
  await hub.stop();
  git(directory, 'init', '--quiet', 'go');
  await hub.until('the work is over', () => eventOf(events, 'job-finished') !== undefined);
  assert.equal(held.accepted, null);
  await hub.start();
  await hub.until('the result', () => held.accepted !== null);
  assert.equal(resultOf(held).message, 'late');
  assert.equal(hub.output(held, 'stdout'), 'late\n');
});

test('a rejected result is kept for the person, with its output', async (t) => {
  const { hub, directory, start, events, stateDir } = await setup(t);
  const held = hub.enqueue({ repoId });
  await start(
    `touch ${directory}/begun; until [ -e ${directory}/go ]; do sleep 0.02; done; echo unwanted`,
  );
  await fileAppears(join(directory, 'begun'));
  hub.loseLease(held);
  git(directory, 'init', '--quiet', 'go');
  await hub.until('the rejection', () => eventOf(events, 'result-refused') !== undefined);
  assert.equal(eventOf(events, 'result-refused')?.code, 'LEASE_LOST');
  const key = `${held.job.jobId}-1`;
  const refused = join(stateDir, 'outbox', 'refused');
  const kept = JSON.parse(readFileSync(join(refused, `${key}.json`), 'utf8'));
  assert.equal(kept.completion.message, 'unwanted');
  assert.equal(kept.refusal.code, 'LEASE_LOST');
  assert.match(readFileSync(join(refused, `${key}.log.ndjson`), 'utf8'), /unwanted/);
  assert.equal(held.accepted, null);
});

test('an agent killed with a result in its outbox sends it after a restart', async (t) => {
  const parts = await setup(t);
  const { hub, stateDir, start } = parts;
  const held = hub.enqueue({ repoId, prompt: 'Survive' });
  hub.trouble('/jobs/complete', 503, 1_000);
  const child = spawnAgent(t, parts, 'echo kept > kept.txt; echo said');
  await hub.until('an attempt to send', () =>
    hub.calls.some(({ path }) => path.endsWith('/jobs/complete')),
  );
  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.equal(held.accepted, null);
  hub.endTrouble();
  const agent = await start('false');
  await hub.until('the result', () => held.accepted !== null);
  await agent.drain();
  assert.equal(resultOf(held).outcome, 'done');
  assert.equal(hub.output(held, 'stdout'), 'said\n');
  assert.equal(held.generation, 1);
  assert.deepEqual(readdirSync(join(stateDir, 'outbox')), ['refused']);
  assert.deepEqual(readdirSync(join(stateDir, 'jobs')), []);
});

test('after a kill during a job, the next agent ends the orphans and does not resume the job', async (t) => {
  const parts = await setup(t);
  const { hub, directory, stateDir, clone, start } = parts;
  const held = hub.enqueue({ repoId });
  const files = ['leader', 'escaped', 'unmarked'].map((name) => join(directory, name));
  const [leader, escaped, unmarked] = files;
  const child = spawnAgent(
    t,
    parts,
    `echo half > half.txt; setsid sh -c 'echo $$ > ${escaped}; exec sleep 60' &
     (sh -c 'echo $$ > ${unmarked}; exec env -i setsid sleep 60' &); echo $$ > ${leader}; wait`,
  );
  const pids = await Promise.all(files.map(readPid));
  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.deepEqual(pids.map(isAlive), [true, true, true]);
  const agent = await start('true');
  assert.deepEqual(pids.map(isAlive), [false, false, false]);
  assert.deepEqual(readdirSync(join(stateDir, 'jobs')), []);
  await hub.until('its lease is released', () => held.heartbeats.at(-1)?.shorten === true);
  assert.equal(held.heartbeats.at(-1)?.claimGeneration, 1);
  const next = hub.enqueue({ repoId });
  await hub.until('the next job', () => next.accepted !== null);
  await agent.drain();
  assert.deepEqual(held.completions, []);
  assert.equal(git(clone, 'branch', '--list', 'signalbox/*'), '');
  const [mirror] = readdirSync(join(stateDir, 'mirrors'));
  assert.equal(git(join(stateDir, 'mirrors', String(mirror)), 'branch', '--list'), '');
});

test('a second agent in the same state directory is rejected; a stale lock is taken over', async (t) => {
  const parts = await setup(t);
  const { hub, start } = parts;
  const child = spawnAgent(t, parts, 'true');
  await hub.until('it is online', () => hub.agentHeartbeats.length > 0);
  await assert.rejects(start('true'), {
    name: 'AgentAlreadyRunningError',
    message: new RegExp(`process ${child.pid}`),
  });
  child.kill('SIGKILL');
  await once(child, 'exit');
  const agent = await start('true');
  await agent.drain();
});
