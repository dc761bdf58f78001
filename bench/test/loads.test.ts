// The loads and the seeding against a real hub: what they count is what the hub has.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createClient } from '@signalbox/sdk';
import type { Bench } from '../bench.ts';
import { runFleetLoad } from '../load/fleet-load.ts';
import type { LoadSpec } from '../load/main.ts';
import { Span } from '../load/span.ts';
import { sendStreams } from '../load/streams.ts';
import { runWaitingLoad } from '../load/waiting-load.ts';
import { parseOptions } from '../options.ts';
import { Place } from '../place.ts';
import { baseUrlOf, type HubWorld, registerAgents, withHubs } from '../subjects/hub.ts';
import { withSeededHub } from '../subjects/seed.ts';

function openBench(t: TestContext): Bench {
  const directory = mkdtempSync(join(import.meta.dirname, '../.data-test-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const place = new Place(directory);
  return { options: parseOptions([]), place, postgres: 'not in this test', say: () => undefined };
}

const clientOf = ({ targets, tokens }: HubWorld) =>
  createClient({ baseUrl: baseUrlOf(targets[0]), token: tokens[0] ?? '' });

test('every agent of a fleet holds a job, and its log has the output that was counted', (t) =>
  withHubs(openBench(t), 'sqlite', {}, async (world) => {
    const { workspaceId, repoId, tokens, targets } = world;
    const [target] = targets;
    assert.ok(target);
    const fleet = { agentCount: 5, watcherCount: 2, watchesOneJob: false, outputIntervalMs: 200 };
    const spec = { workspaceId, repoId, tokens, target, ...fleet, warmUpMs: 0, measureMs: 4_000 };
    const load = { kind: 'fleet', ...spec } as const satisfies LoadSpec;
    const { count, totals } = await runFleetLoad(load, () => undefined);
    const client = clientOf(world);
    const { jobs } = await client.jobs.list({ workspaceId, status: 'running', limit: 50 });
    assert.equal(jobs.length, 5);
    let lines = 0;
    for (const { jobId } of jobs) {
      lines += (await client.jobs.log({ workspaceId, jobId, limit: 1 })).totalLines;
    }
    const { outputs = 0, outputsWanted, watcherReads = 0 } = totals;
    assert.ok(outputs > 0 && lines / 21 >= outputs, `${lines} lines, ${outputs} outputs`);
    assert.equal(outputsWanted, 100);
    assert.ok(count >= outputs && watcherReads > 0);
    const refused = runFleetLoad({ ...load, tokens: ['unknown'] }, () => undefined);
    await assert.rejects(refused, /first heartbeat: 401/);
  }));

test('jobs that agents wait for are delivered once each', (t) =>
  withHubs(openBench(t), 'sqlite', {}, async (world) => {
    const { workspaceId, repoId, tokens, targets } = world;
    const [target] = targets;
    assert.ok(target);
    const queue = { workspaceId, repoId, tokens, target, enqueueTarget: target };
    const load = { agentCount: 4, jobsPerSecond: 50, warmUpMs: 0, measureMs: 1_000 };
    const spec = { kind: 'waiting', ...queue, ...load } as const satisfies LoadSpec;
    const { count } = await runWaitingLoad(spec, () => undefined);
    const client = clientOf(world);
    const { jobs } = await client.jobs.list({ workspaceId, status: 'done', limit: 200 });
    assert.ok(count > 0 && jobs.length >= count, `${count} of ${jobs.length}`);
  }));

test('calls are sent at their rate, whether or not answers arrive, and late answers show', async () => {
  const answers = Promise.withResolvers<void>();
  const endMs = performance.now() + 300;
  const isOpen = () => {
    const isBefore = performance.now() < endMs;
    if (!isBefore) setImmediate(answers.resolve);
    return isBefore;
  };
  const numbers: number[] = [];
  const send = async (_dueMs: number, number: number) => {
    numbers.push(number);
    await answers.promise;
  };
  assert.equal(await sendStreams([{ perSecond: 200, send }], { isOpen }), 0);
  assert.ok(numbers.length > 10 && numbers.length <= 61, `${numbers.length} were sent`);
  assert.deepEqual(numbers, [...numbers.keys()]);
  const failing = new Span({ warmUpMs: 1, measureMs: 50 }, () => undefined);
  const refuse = () => Promise.reject(new Error('refused'));
  await assert.rejects(sendStreams([{ perSecond: 200, send: refuse }], failing), /refused/);
});

test('seeded jobs are listed, have their timelines, and are claimed in order', (t) =>
  withSeededHub(
    openBench(t),
    'sqlite',
    { pending: 30, finished: 40, events: 500 },
    async (world) => {
      const { workspaceId, loggedJobId } = world;
      const client = clientOf(world);
      const { jobs } = await client.jobs.list({ workspaceId, status: 'pending', limit: 200 });
      assert.equal(jobs.length, 30);
      const asked = { workspaceId, jobId: loggedJobId, limit: 3 };
      const { events } = await client.jobEvents.listForJob(asked);
      assert.equal(events.at(-1)?.seq, 503);
      const [agent] = await registerAgents(world, 1);
      assert.ok(agent);
      const claimed = await client.jobs.claimNext({ workspaceId, agentId: agent.agentId });
      assert.equal(claimed.jobId, jobs.at(-1)?.jobId, 'the oldest goes first');
    },
  ));
