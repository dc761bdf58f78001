import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import {
  eventOf,
  fileAppears,
  git,
  isAlive,
  readPid,
  repoId,
  resultOf,
  setup,
} from '../support/harness.ts';

test('cancelling ends the whole process tree, including processes that left the session', async (t) => {
  const { hub, directory, clone, start, events } = await setup(t);
  const held = hub.enqueue({ repoId });
  const pids = ['leader', 'child', 'grandchild', 'escaped'].map((name) => join(directory, name));
  const [leader, child, grandchild, escaped] = pids;
  // The grandchild ignores SIGTERM; the escaped process has its own session.
  await start(
    `echo $$ > ${leader}; echo left > half-done.txt;
     bash -c 'echo $$ > ${child}
       bash -c "trap \\"\\" TERM; echo \\$\\$ > ${grandchild}; while :; do sleep 0.1; done"; true' &
     setsid bash -c 'echo $$ > ${escaped}; while :; do sleep 0.1; done' &
     wait`,
    { leaseMs: 1_500, killGraceMs: 300 },
  );
  const alive = await Promise.all(pids.map(readPid));
  assert.deepEqual(alive.map(isAlive), [true, true, true, true]);
  held.isCanceled = true;
  await hub.until('the work is over', () => eventOf(events, 'job-finished') !== undefined);
  assert.deepEqual(alive.map(isAlive), [false, false, false, false]);
  assert.equal(eventOf(events, 'job-stopping')?.reason, 'canceled');
  assert.equal(eventOf(events, 'job-finished')?.outcome, null);
  await hub.until('the lease is released', () => held.heartbeats.at(-1)?.shorten === true);
  assert.deepEqual(held.completions, []);
  assert.equal(git(clone, 'branch', '--list', 'signalbox/*'), '');
});

test('the cancel-job command of an agent heartbeat cancels immediately', async (t) => {
  const { hub, directory, start, events } = await setup(t);
  hub.intervalMs = 500;
  const held = hub.enqueue({ repoId });
  await start(`echo $$ > ${directory}/pid; exec sleep 60`);
  const pid = await readPid(join(directory, 'pid'));
  hub.commands = [{ command: 'cancel-job', jobId: held.job.jobId }];
  await hub.until('the work is over', () => eventOf(events, 'job-finished') !== undefined);
  assert.equal(isAlive(pid), false);
  assert.deepEqual(held.completions, []);
});

test('a tool that writes is stopped by the answer to its output, before the next renewal', async (t) => {
  const { hub, start, events } = await setup(t);
  const held = hub.enqueue({ repoId });
  await start('while :; do echo working; sleep 0.1; done', { leaseMs: 600_000 });
  await hub.until('output has arrived', () => hub.output(held).includes('working'));
  const renewals = held.heartbeats.length;
  held.isCanceled = true;
  await hub.until('the work is over', () => eventOf(events, 'job-finished') !== undefined);
  assert.equal(eventOf(events, 'job-stopping')?.reason, 'canceled');
  assert.ok(held.heartbeats.slice(renewals).every(({ shorten }) => shorten === true));
});

test('a lost lease stops the process, reports nothing and keeps the changes on the branch', async (t) => {
  const { hub, directory, clone, start, events } = await setup(t);
  const held = hub.enqueue({ repoId });
  await start(`echo saved > work.txt; echo $$ > ${directory}/pid; exec sleep 60`, {
    leaseMs: 1_200,
  });
  const pid = await readPid(join(directory, 'pid'));
  hub.loseLease(held);
  await hub.until('the work is over', () => eventOf(events, 'job-finished') !== undefined);
  assert.equal(isAlive(pid), false);
  assert.equal(eventOf(events, 'job-stopping')?.reason, 'lease_lost');
  assert.deepEqual(held.completions, []);
  assert.equal(git(clone, 'show', `signalbox/${held.job.jobId}-1:work.txt`), 'saved');
});

test('a hub that stays unavailable stops the process when the lease expires', async (t) => {
  const { hub, directory, start, events } = await setup(t);
  const held = hub.enqueue({ repoId });
  await start(`echo $$ > ${directory}/pid; exec sleep 60`, { leaseMs: 1_500 });
  const pid = await readPid(join(directory, 'pid'));
  await hub.until('a renewal', () => held.heartbeats.length > 0);
  const downSinceMs = performance.now();
  await hub.stop();
  await hub.until('the work stops', () => eventOf(events, 'job-stopping') !== undefined);
  // The lease of 1.5 s, plus a margin for a busy machine.
  assert.ok(performance.now() - downSinceMs < 2_500, 'stopped when the lease expired');
  await hub.until('the work is over', () => eventOf(events, 'job-finished') !== undefined);
  assert.equal(isAlive(pid), false);
  assert.ok(eventOf(events, 'hub-unreachable'));
  await hub.start();
  await hub.until('the agent is back', () => eventOf(events, 'hub-back') !== undefined);
  assert.deepEqual(held.completions, []);
});

test('a job beyond its time limit fails with that reason', async (t) => {
  const { hub, start } = await setup(t);
  const held = hub.enqueue({ repoId });
  await start('exec sleep 60', { jobTimeLimitMs: 400 });
  await hub.until('the result', () => held.accepted !== null);
  const { outcome, outcomeReason } = resultOf(held);
  assert.equal(outcome, 'failed');
  const { code, retryable } = outcomeReason ?? {};
  assert.deepEqual({ code, retryable }, { code: 'time_limit', retryable: false });
});

test('background processes of a command end with it', async (t) => {
  const { hub, directory, start } = await setup(t);
  const held = hub.enqueue({ repoId });
  await start(`sleep 60 & echo $! > ${directory}/pid; echo done`);
  await hub.until('the result', () => held.accepted !== null);
  assert.equal(resultOf(held).outcome, 'done');
  assert.equal(isAlive(await readPid(join(directory, 'pid'))), false);
});

test('processes without the environment and the session of their job end with it', {
  skip: process.platform !== 'linux' && 'the directory of a process is known on Linux only',
}, async (t) => {
  const { hub, directory, start, events } = await setup(t);
  const held = hub.enqueue({ repoId });
  const escaped = (place: string, name: string) =>
    `cd ${place}; echo $$ > ${directory}/${name}; exec env -i setsid sleep 60`;
  // The first has lost its parent and stays in the worktree; the second has left the worktree only.
  await start(
    `(sh -c '${escaped('.', 'orphan')}' &); sh -c '${escaped('/', 'child')}' &
     pwd > ${directory}/worktree; wait`,
    { leaseMs: 1_500, killGraceMs: 300 },
  );
  const pids = await Promise.all(['orphan', 'child'].map((name) => readPid(join(directory, name))));
  await fileAppears(join(directory, 'worktree'));
  const worktree = readFileSync(join(directory, 'worktree'), 'utf8').trim();
  const bystander = spawn('sleep', ['60'], { cwd: worktree, env: {}, detached: true });
  t.after(() => bystander.kill());
  held.isCanceled = true;
  await hub.until('the work is over', () => eventOf(events, 'job-finished') !== undefined);
  assert.deepEqual(pids.map(isAlive), [false, false]);
  assert.equal(isAlive(bystander.pid ?? 0), true, 'somebody else looks at the worktree');
});

test('draining finishes the held job, renews its lease and claims nothing more', async (t) => {
  const { hub, directory, start, stateDir } = await setup(t);
  hub.intervalMs = 500;
  const held = hub.enqueue({ repoId });
  const agent = await start(
    `touch ${directory}/begun; until [ -e ${directory}/go ]; do sleep 0.02; done; echo end`,
    { leaseMs: 1_200 },
  );
  await fileAppears(join(directory, 'begun'));
  const left = agent.drain();
  await hub.until('the hub knows', () => hub.agentHeartbeats.at(-1)?.status === 'draining');
  const waiting = hub.enqueue({ repoId });
  const renewals = held.heartbeats.length;
  const heartbeats = hub.agentHeartbeats.length;
  await hub.until('renewals continue', () => held.heartbeats.length > renewals + 1);
  await hub.until('heartbeats continue', () => hub.agentHeartbeats.length > heartbeats);
  git(directory, 'init', '--quiet', 'go');
  await left;
  assert.equal(resultOf(held).outcome, 'done');
  assert.equal(waiting.generation, 0);
  assert.equal(hub.agentHeartbeats.at(-1)?.status, 'offline');
  assert.deepEqual(readdirSync(join(stateDir, 'jobs')), []);
});

test('stopping the agent ends its job and returns it to the queue immediately', async (t) => {
  const { hub, directory, start, stateDir } = await setup(t);
  const held = hub.enqueue({ repoId });
  const agent = await start(`echo $$ > ${directory}/pid; exec sleep 60`);
  const pid = await readPid(join(directory, 'pid'));
  await agent.stop();
  assert.equal(isAlive(pid), false);
  const { code, retryable } = resultOf(held).outcomeReason ?? {};
  assert.deepEqual({ code, retryable }, { code: 'agent_stopped', retryable: true });
  assert.equal(held.job.status, 'pending');
  assert.equal(existsSync(join(stateDir, 'agent.lock')), false);
});
