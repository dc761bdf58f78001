import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startQueueWorld } from '../support/queue-world.ts';

const DEPENDENTS = 450;
/** The number of dependents that a completion, or a claim that finds nothing, notifies itself. */
const TOLD_AT_COMPLETION = 200;
const TOLD_BY_CLAIM = 100;

test('hundreds of jobs that wait for one are notified in batches, and each is claimed once', async (t) => {
  const h = await startQueueWorld(t);
  const { jobId: first } = await h.enqueue();
  await h.claim();
  const waiting = new Set<string>();
  for (let from = 0; from < DEPENDENTS; from += 50) {
    const made = await Promise.all(
      Array.from({ length: 50 }, () => h.enqueue({ dependsOn: [first] })),
    );
    for (const { jobId } of made) waiting.add(jobId);
  }
  const countReady = async () => {
    const row = await h.hub.database.reader.firstSql<{ ready: number }>(
      `SELECT COUNT(*) AS ready FROM queue_entries WHERE hold = 'ready'`,
      [],
    );
    return row?.ready;
  };
  await h.complete(first);
  assert.equal(await countReady(), TOLD_AT_COMPLETION);

  const claimed: (string | null)[] = [];
  while (claimed.length < TOLD_AT_COMPLETION) claimed.push((await h.claim()).jobId);
  // Nothing is ready now, but something will be: a claim must not say that the queue is empty.
  claimed.push((await h.claim()).jobId);
  assert.equal(await countReady(), TOLD_BY_CLAIM - 1);
  await h.hub.loops.sweeper.runOnce();
  await h.hub.loops.sweeper.runOnce();
  assert.equal(await countReady(), DEPENDENTS - claimed.length);
  for (let left = DEPENDENTS - claimed.length; left > 0; left--)
    claimed.push((await h.claim()).jobId);
  assert.deepEqual(new Set(claimed), waiting);
  assert.equal((await h.claim()).reason, 'no_pending_jobs');
  const settlements = await h.hub.database.reader.allSql('SELECT * FROM queue_settlements', []);
  assert.deepEqual(settlements, []);
});

test('of many dependents, those with a delay or a taken key continue to wait for it', async (t) => {
  const h = await startQueueWorld(t);
  const { jobId: first } = await h.enqueue({ concurrencyKey: 'k' });
  await h.claim();
  const { jobId: delayed } = await h.enqueue({ dependsOn: [first], delayMs: 1_000 });
  const { jobId: keyed } = await h.enqueue({ dependsOn: [first], concurrencyKey: 'k' });
  const { jobId: keyedToo } = await h.enqueue({ dependsOn: [first], concurrencyKey: 'k' });
  await h.complete(first);
  assert.equal((await h.claim()).jobId, keyed);
  assert.equal((await h.claim()).jobId, null);
  h.clock.advance(1_000);
  assert.equal((await h.claim()).jobId, delayed);
  assert.equal((await h.get(keyedToo)).waitingFor?.reason, 'concurrency_key');
});
