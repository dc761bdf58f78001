import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints, type RequestOf } from '@signalbox/contract';
import { startQueueWorld } from '../support/queue-world.ts';

const { jobEvents, jobs } = endpoints;

type Setup = Awaited<ReturnType<typeof startQueueWorld>>;

/** A running job, with functions that append and read its output. */
async function setupLog(h: Setup) {
  const { jobId } = await h.enqueue();
  await h.claim();
  const ref = { workspaceId: h.workspaceId, jobId, agentId: h.agentId };
  const entriesOf = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, i) => ({
      logSeq: from + i,
      message: `line ${from + i}`,
    }));
  const append = (from: number, to: number, claimGeneration = 1) =>
    h.call(jobEvents.append, { ...ref, claimGeneration, entries: entriesOf(from, to) });
  const list = (page: Partial<RequestOf<typeof jobEvents.listForJob>> = {}) =>
    h.call(jobEvents.listForJob, { workspaceId: h.workspaceId, jobId, ...page });
  const readLines = async () => {
    const { events } = await list({ limit: 1_000 });
    return events.filter(({ kind }) => kind === 'log').map(({ message }) => message);
  };
  return { jobId, ref, entriesOf, append, list, readLines };
}

test('the answer to output says that a person wants the job to end', async (t) => {
  const h = await startQueueWorld(t);
  const { append, ref } = await setupLog(h);
  assert.equal((await append(1, 1)).cancelRequested, undefined);
  const { workspaceId, jobId } = ref;
  await h.call(jobs.cancel, { workspaceId, jobId });
  assert.equal((await append(2, 2)).cancelRequested, true);
});

test('a timeline is read from its end, or from a sequence number to the last event', async (t) => {
  const h = await startQueueWorld(t);
  const { append, list } = await setupLog(h);
  await append(1, 150);
  const last = await list();
  assert.equal(last.events.length, 100);
  assert.deepEqual([last.events[0]?.seq, last.events.at(-1)?.seq], [53, 152]);
  assert.equal(last.nextAfter, 152);
  const three = await list({ limit: 3 });
  assert.deepEqual(
    three.events.map(({ seq }) => seq),
    [150, 151, 152],
  );
  const start = await list({ after: 0, limit: 2 });
  assert.deepEqual(
    start.events.map(({ seq, kind }) => [seq, kind]),
    [
      [1, 'enqueued'],
      [2, 'claimed'],
    ],
  );
  assert.equal(start.nextAfter, 2);
  const end = await list({ after: last.nextAfter });
  assert.deepEqual([end.events, end.nextAfter], [[], 152]);
});

test('the event of a claim tells its lease, which is stored only if it is not the usual one', async (t) => {
  const h = await startQueueWorld(t);
  for (const leaseMs of [600_000, 90_000]) {
    const { jobId } = await h.enqueue();
    await h.claim({ leaseMs });
    const claimed = (await h.timeline(jobId)).find(({ kind }) => kind === 'claimed');
    assert.deepEqual(claimed?.data, { leaseMs });
  }
  const stored = await h.hub.database.reader.allSql<{ data: string | null }>(
    "SELECT data FROM job_events WHERE kind = 'claimed' ORDER BY job_key",
    [],
  );
  assert.deepEqual(
    stored.map(({ data }) => data),
    [null, '{"leaseMs":90000}'],
  );
});

test('the first event names who enqueued the job, which only the job stores', async (t) => {
  const h = await startQueueWorld(t);
  const { list } = await setupLog(h);
  const [stored] = await h.hub.database.reader.allSql<{ created_by: string; data: string | null }>(
    `SELECT j.created_by, e.data FROM jobs AS j JOIN job_events AS e
       ON e.job_key = j.job_key WHERE e.seq = 1`,
    [],
  );
  const [first] = (await list({ after: 0, limit: 1 })).events;
  assert.deepEqual(first?.data, { by: stored?.created_by });
  assert.equal(stored?.data, null);
});

test('each event has an id of its own, which stays while heartbeats fold into it', async (t) => {
  const h = await startQueueWorld(t);
  const first = await setupLog(h);
  await first.append(1, 20);
  await h.call(jobs.heartbeat, first.ref);
  const before = (await first.list()).events;
  await h.call(jobs.heartbeat, first.ref);
  const after = (await first.list()).events;
  assert.deepEqual(after.at(-1)?.data, { count: 2 });
  const idsOf = (events: typeof before) => events.map(({ eventId }) => eventId);
  assert.deepEqual(idsOf(after), idsOf(before));
  const second = await setupLog(h);
  const all = [...idsOf(after), ...idsOf((await second.list()).events)];
  assert.equal(new Set(all).size, 23 + 2);
  assert.ok(all.every((id) => id.startsWith('evt_')));
});

test('pages of a timeline hold each event once while more is appended', async (t) => {
  const h = await startQueueWorld(t);
  const { append, list } = await setupLog(h);
  let after = 0;
  const seen: number[] = [];
  for (let round = 0; round < 10; round++) {
    await append(round * 5 + 1, round * 5 + 5);
    const { events, nextAfter } = await list({ after, limit: 7 });
    seen.push(...events.map(({ seq }) => seq));
    after = nextAfter;
  }
  assert.deepEqual(
    seen,
    Array.from({ length: 52 }, (_, i) => i + 1),
  );
});

test('one page has at most 1,000 events', async (t) => {
  const h = await startQueueWorld(t);
  const { append, list } = await setupLog(h);
  await append(1, 500);
  await append(501, 1_000);
  assert.equal((await list({ limit: 1_000 })).events.length, 1_000);
  assert.equal((await list({ after: 2, limit: 1_000 })).events.length, 1_000);
});

test('output that is sent again, or overlaps, is kept once', async (t) => {
  const h = await startQueueWorld(t);
  const { append, readLines } = await setupLog(h);
  assert.deepEqual(await append(1, 3), {
    ok: true,
    appended: 3,
    lastLogSeq: 3,
  });
  assert.deepEqual(await append(1, 3), {
    ok: true,
    appended: 0,
    lastLogSeq: 3,
  });
  assert.deepEqual(await append(2, 5), {
    ok: true,
    appended: 2,
    lastLogSeq: 5,
  });
  assert.deepEqual(await append(4, 4), {
    ok: true,
    appended: 0,
    lastLogSeq: 5,
  });
  assert.deepEqual(await readLines(), ['line 1', 'line 2', 'line 3', 'line 4', 'line 5']);
});

test('the entries of one append are kept in the order of their numbers, however they were sent', async (t) => {
  const h = await startQueueWorld(t);
  const { ref, entriesOf, readLines } = await setupLog(h);
  const [first, second, third] = entriesOf(1, 3);
  assert.ok(first && second && third);
  const entries = [third, first, second, first];
  const answer = await h.call(jobEvents.append, { ...ref, entries });
  assert.deepEqual(answer, { ok: true, appended: 3, lastLogSeq: 3 });
  assert.deepEqual(await readLines(), ['line 1', 'line 2', 'line 3']);
});

test('100 equal appends at once keep the output once', async (t) => {
  const h = await startQueueWorld(t);
  const { append, readLines } = await setupLog(h);
  const answers = await Promise.all(Array.from({ length: 100 }, () => append(1, 2)));
  assert.equal(answers.filter(({ appended }) => appended === 2).length, 1);
  assert.equal(answers.filter(({ appended }) => appended === 0).length, 99);
  assert.deepEqual(await readLines(), ['line 1', 'line 2']);
});

test('output of a lost attempt is refused, and the next attempt numbers from one again', async (t) => {
  const h = await startQueueWorld(t);
  const { jobId, ref, entriesOf, append, readLines } = await setupLog(h);
  await append(1, 2);
  h.clock.advance(600_000);
  const { claimGeneration } = await h.claim();
  assert.equal(claimGeneration, 2);
  const late = { ...ref, entries: entriesOf(3, 3) };
  await h.refuse(jobEvents.append, { ...late, claimGeneration: 1 }, 'CLAIM_GENERATION_MISMATCH');
  assert.equal((await append(1, 1, 2)).appended, 1);
  assert.deepEqual(await readLines(), ['line 1', 'line 2', 'line 1']);
  const second = await h.addAgent(h.home, 'second');
  await h.refuse(jobEvents.append, { ...late, agentId: second }, 'LEASE_LOST');
  await h.complete(jobId);
  await h.refuse(jobEvents.append, late, 'JOB_ALREADY_FINISHED');
});

test('output keeps its stream, its text and the agent’s own time', async (t) => {
  const h = await startQueueWorld(t);
  const { ref, list } = await setupLog(h);
  const entry = {
    logSeq: 7,
    message: '\u001b[31mred\u001b[0m\r\n',
    stream: 'stderr' as const,
    at: '2026-11-02T08:59:59.000Z',
  };
  await h.call(jobEvents.append, { ...ref, entries: [entry] });
  const event = (await list()).events.at(-1);
  assert.equal(event?.message, entry.message);
  assert.deepEqual(event?.data, { logSeq: 7, stream: 'stderr', at: entry.at });
  assert.equal(event?.agentId, h.agentId);
});

test('the timeline of a canceled job says why it was canceled', async (t) => {
  const h = await startQueueWorld(t);
  const { jobId } = await h.enqueue();
  await h.call(jobs.cancel, { workspaceId: h.workspaceId, jobId, reason: 'Not wanted.' });
  const events = await h.timeline(jobId);
  assert.deepEqual(
    events.map(({ kind, message }) => [kind, message]),
    [
      ['enqueued', null],
      ['canceled', 'Not wanted.'],
    ],
  );
});

test('the timeline says at once who asked to cancel a running job, and that no agent lost it', async (t) => {
  const h = await startQueueWorld(t);
  const { jobId } = await h.enqueue();
  await h.claim();
  const cancel = () => h.call(jobs.cancel, { workspaceId: h.workspaceId, jobId, reason: 'Stop.' });
  await cancel();
  await cancel();
  const [asked, ...more] = (await h.timeline(jobId)).slice(2);
  assert.equal(asked?.message, 'test asked to cancel the job. Stop.');
  assert.ok(asked?.data?.cancelRequestedBy);
  assert.deepEqual(more, [], 'a second request is the same one');
  await h.complete(jobId).catch(() => {});
  const last = (await h.timeline(jobId)).at(-1);
  assert.equal(last?.kind, 'canceled');
});

test('entries that a job token appends cannot silence the agent', async (t) => {
  const h = await startQueueWorld(t);
  const { jobId } = await h.enqueue();
  const { jobToken = '' } = await h.claim();
  const { workspaceId, agentId } = h;
  const ref = { workspaceId, jobId, agentId };
  const append = (logSeq: number, message: string, token?: string) => {
    const entries = [{ logSeq, message, stream: 'agent' as const }];
    return h.call(jobEvents.append, { ...ref, entries }, token);
  };
  const far = Number.MAX_SAFE_INTEGER;
  assert.equal((await append(far, 'all fine', jobToken)).lastLogSeq, far);
  assert.deepEqual(await append(1, 'tests fail'), {
    ok: true,
    appended: 1,
    lastLogSeq: 1,
  });
  assert.equal((await append(1, 'tests fail')).appended, 0, 'a repeated entry is skipped');
  assert.equal((await append(far, 'all fine', jobToken)).appended, 0);
  const logs = (await h.timeline(jobId)).filter(({ kind }) => kind === 'log');
  assert.deepEqual(
    logs.map(({ message, data }) => [message, data?.stream]),
    [
      ['all fine', 'tool'],
      ['tests fail', 'agent'],
    ],
  );
});

test('a page of long events ends early, and the following pages have the rest', async (t) => {
  const h = await startQueueWorld(t);
  const { ref, list } = await setupLog(h);
  for (let at = 0; at < 60; at += 3) {
    const entries = [1, 2, 3].map((n) => ({ logSeq: at + n, message: 'x'.repeat(60_000) }));
    await h.call(jobEvents.append, { ...ref, entries });
  }
  const last = await list({ limit: 1_000 });
  assert.ok(last.events.length < 30, `${last.events.length} events of 60 KB`);
  assert.equal(last.events.at(-1)?.data?.logSeq, 60, 'the newest are shown');
  const seen: unknown[] = [];
  for (let after = 0, more = true; more; ) {
    const page = await list({ limit: 1_000, after });
    assert.ok(page.events.length < 30);
    more = page.events.length > 0;
    after = page.nextAfter;
    seen.push(...page.events.flatMap(({ data }) => data?.logSeq ?? []));
  }
  assert.deepEqual(
    seen,
    Array.from({ length: 60 }, (_, at) => at + 1),
  );
});
