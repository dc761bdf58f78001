import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { statusOf } from '@signalbox/contract';
import { ApiError } from '@signalbox/sdk';
import type { Clock } from '../src/clock.ts';
import { createHubClient } from '../src/lifecycle.ts';
import { createReportingClient } from '../src/report-calls.ts';
import { FakeHub } from './support/fake-hub.ts';

const CALL = { timeoutMs: 10_000 };
const LEASE_MS = 600_000;

/** An agent's client whose waits end when the test says so, and jobs that the agent holds. */
async function setup(t: TestContext, { takesReports = true } = {}) {
  const hub = new FakeHub();
  hub.takesReports = takesReports;
  await hub.start();
  t.after(() => hub.stop());
  let nowMs = 0;
  const waits: { ms: number; end: () => void }[] = [];
  const clock: Clock = {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    sleep: (ms) => new Promise((end) => waits.push({ ms, end })),
  };
  const { workspaceId, agentId, token, baseUrl } = hub;
  const client = createReportingClient(createHubClient('test', { baseUrl, token }), clock);
  const claim = async () => {
    const { job } = hub.enqueue({ repoId: 'repo' });
    const grant = { claimKey: job.jobId, leaseMs: LEASE_MS };
    const claimed = await client.jobs.claimNext({
      workspaceId,
      agentId,
      repoIds: ['repo'],
      ...grant,
    });
    assert.ok(claimed.jobId !== null);
    return claimed.jobId;
  };
  const jobIds = [await claim(), await claim()];
  hub.calls.length = 0;
  const held = (at: number) => ({ workspaceId, agentId, jobId: jobIds[at] ?? '' });
  const renew = (at: number) =>
    client.jobs.heartbeat({ ...held(at), claimGeneration: 1, leaseMs: LEASE_MS }, CALL);
  const append = (at: number, logSeq: number) => {
    const entries = [{ logSeq, message: `ok ${logSeq}\n` }];
    return client.jobEvents.append({ ...held(at), claimGeneration: 1, entries }, CALL);
  };
  const beat = (status: 'online' | 'draining' = 'online') =>
    client.agents.heartbeat({ workspaceId, machineFingerprint: 'one', status }, CALL);
  const paths = () => hub.calls.map(({ path }) => path.replace('/control-plane/', ''));
  const pass = (ms: number) => {
    nowMs += ms;
  };
  return { hub, client, jobIds, waits, renew, append, beat, paths, pass };
}

test('what is due soon goes with the next output, in one call', async (t) => {
  const { renew, append, beat, paths, hub, waits, jobIds } = await setup(t);
  await beat();
  const waiting = [beat(), renew(0), renew(1)];
  await append(0, 1);
  const [again, renewed] = await Promise.all(waiting);
  assert.deepEqual(again, { ok: true, agentId: hub.agentId, intervalMs: 1_000, commands: [] });
  assert.ok(renewed !== undefined && 'leaseExpiresAt' in renewed);
  assert.deepEqual(paths(), ['v2/agents/heartbeat', 'v1/agents/report']);
  assert.equal(waits.length, 3);
  assert.ok(waits.every(({ ms }) => ms > 0 && ms <= 2_000));
  assert.equal(hub.jobs.get(jobIds[0] ?? '')?.log.size, 1);
});

test('a call without company goes by itself: output at once, a renewal after its wait', async (t) => {
  const { renew, append, paths, waits } = await setup(t);
  await append(0, 1);
  assert.equal(waits.length, 0);
  const renewal = renew(0);
  waits[0]?.end();
  assert.equal((await renewal).cancelRequested, false);
  assert.deepEqual(paths(), ['v1/job-events/append', 'v1/jobs/heartbeat']);
});

test('output of several jobs that follows other output goes together', async (t) => {
  const { append, paths, waits, pass } = await setup(t);
  await append(0, 1);
  const both = [append(0, 2), append(1, 1)];
  assert.deepEqual(
    waits.map(({ ms }) => ms),
    [25, 25],
  );
  waits[0]?.end();
  await Promise.all(both);
  assert.deepEqual(paths(), ['v1/job-events/append', 'v1/agents/report']);
  pass(1_000);
  await append(1, 2);
  assert.equal(waits.length, 2, 'output after a pause does not wait');
});

test('a heartbeat with news is sent at once', async (t) => {
  const { beat, waits, paths } = await setup(t);
  await beat('online');
  await beat('draining');
  assert.equal(waits.length, 0);
  assert.deepEqual(paths(), ['v2/agents/heartbeat', 'v2/agents/heartbeat']);
});

test('a lost lease fails its own call, and no other of the report', async (t) => {
  const { renew, append, hub, jobIds, paths } = await setup(t);
  const lost = hub.jobs.get(jobIds[0] ?? '');
  assert.ok(lost !== undefined);
  hub.loseLease(lost);
  const renewals = Promise.allSettled([renew(0), renew(1)]);
  await append(1, 1);
  const [refused, renewed] = await renewals;
  assert.ok(refused.status === 'rejected' && refused.reason instanceof ApiError);
  assert.deepEqual(
    [refused.reason.code, refused.reason.status],
    ['LEASE_LOST', statusOf('LEASE_LOST')],
  );
  assert.equal(renewed.status, 'fulfilled');
  assert.deepEqual(paths(), ['v1/agents/report']);
});

test('a hub without reports is asked once and then gets single calls', async (t) => {
  const { renew, append, paths } = await setup(t, { takesReports: false });
  const renewal = renew(0);
  await append(0, 1);
  await renewal;
  await Promise.all([renew(0), append(0, 2)]);
  assert.deepEqual(paths().toSorted(), [
    ...['v1/agents/report', 'v1/job-events/append', 'v1/job-events/append'],
    ...['v1/jobs/heartbeat', 'v1/jobs/heartbeat'],
  ]);
});

test('a report without an answer fails its calls, which their loops repeat', async (t) => {
  const { renew, append, hub } = await setup(t);
  hub.trouble('/agents/report', 503);
  const renewal = renew(0).catch((error: unknown) => error);
  const output = append(0, 1).catch((error: unknown) => error);
  for (const error of [await renewal, await output]) {
    assert.ok(error instanceof ApiError && error.status === 503);
  }
});

test('a call that is given up while it waits is not sent', async (t) => {
  const { client, hub, waits, jobIds, paths } = await setup(t);
  const { workspaceId, agentId } = hub;
  const giveUp = new AbortController();
  const renewal = client.jobs.heartbeat(
    { workspaceId, agentId, jobId: jobIds[0] ?? '', leaseMs: LEASE_MS },
    { ...CALL, signal: giveUp.signal },
  );
  giveUp.abort(new Error('no longer needed'));
  await assert.rejects(renewal, /no longer needed/);
  waits[0]?.end();
  await client.agents.heartbeat({ workspaceId, machineFingerprint: 'one' }, CALL);
  assert.deepEqual(paths(), ['v2/agents/heartbeat']);
});
