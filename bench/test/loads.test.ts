// The fleet against a real hub: what it counts is what the hub has.
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
import { parseOptions } from '../options.ts';
import { Place } from '../place.ts';
import { baseUrlOf, withHubs } from '../subjects/hub.ts';

function openBench(t: TestContext): Bench {
  const directory = mkdtempSync(join(import.meta.dirname, '../.data-test-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const place = new Place(directory);
  return { options: parseOptions([]), place, postgres: 'not in this test', say: () => undefined };
}

test('every agent of a fleet holds a job, and its log has the output that was counted', (t) =>
  withHubs(openBench(t), 'sqlite', {}, async (world) => {
    const { workspaceId, repoId, tokens, targets } = world;
    const [target] = targets;
    assert.ok(target);
    const fleet = { agentCount: 5, watcherCount: 2, watchesOneJob: false, outputIntervalMs: 200 };
    const spec = { workspaceId, repoId, tokens, target, ...fleet, warmUpMs: 0, measureMs: 4_000 };
    const load = { kind: 'fleet', ...spec } as const satisfies LoadSpec;
    const { count, totals } = await runFleetLoad(load, () => undefined);
    const client = createClient({ baseUrl: baseUrlOf(target), token: tokens[0] ?? '' });
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
