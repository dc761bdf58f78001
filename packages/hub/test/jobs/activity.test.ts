import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ACTIVITIES_MAX,
  ACTIVITY_FILES_MAX,
  ACTIVITY_PATH_CHARS_MAX,
  ACTIVITY_TITLE_CHARS_MAX,
  type Activity,
  endpoints,
  PLAN_ENTRIES_MAX,
  type RequestOf,
} from '@signalbox/contract';
import { startQueueWorld } from '../support/queue-world.ts';

const { jobEvents, jobs } = endpoints;

type Entry = RequestOf<typeof jobEvents.append>['entries'][number];

async function setup(t: Parameters<typeof startQueueWorld>[0]) {
  const h = await startQueueWorld(t);
  const { jobId } = await h.enqueue();
  const { jobToken } = await h.claim({ leaseMs: 86_400_000 });
  const ref = { workspaceId: h.workspaceId, jobId };
  let logSeq = 0;
  const numbered = (entries: Omit<Entry, 'logSeq'>[]) => ({
    ...ref,
    agentId: h.agentId,
    entries: entries.map((entry) => ({ ...entry, logSeq: ++logSeq })),
  });
  const append = (...entries: Omit<Entry, 'logSeq'>[]) =>
    h.call(jobEvents.append, numbered(entries));
  const read = (body: Partial<RequestOf<typeof jobs.activity>> = {}) =>
    h.call(jobs.activity, { ...ref, ...body });
  return { ...h, ref, jobToken, numbered, append, read };
}

const at = '2026-11-02T09:00:05.000Z';
const call = { id: 'c1', kind: 'execute', title: 'npm test' } as const;
const began: Activity = { toolCall: { ...call, status: 'running' } };
const ended: Activity = {
  toolCall: { ...call, status: 'failed', exitCode: 1, durationMs: 4_000 },
};
const plan: Activity = { plan: { entries: [{ text: 'Mend it', status: 'pending' }] } };
const usage: Activity = { usage: { inputTokens: 7, costUsd: 0.5 } };
const message: Activity = { isMessage: true };

test('activities are read with the lines in which their text begins', async (t) => {
  const h = await setup(t);
  const { append, read, ref } = h;
  await append(
    { message: 'I will test.\n' },
    { message: '→ npm test\n', activity: began, at },
    { message: '', activity: usage },
    { message: '  1 failed\n  ✖ failed\n', activity: ended },
  );
  const first = await read({ limit: 2 });
  assert.deepEqual(
    first.items.map(({ line, activity }) => [line, activity]),
    [
      [2, began],
      [3, usage],
    ],
  );
  assert.equal(first.items[0]?.at, at);
  const rest = await read({ after: first.nextAfter });
  assert.deepEqual(
    rest.items.map(({ line, activity }) => [line, activity]),
    [[3, ended]],
  );
  // A watcher gets what comes later, and nothing twice.
  assert.deepEqual((await read({ after: rest.nextAfter })).items, []);
  await append({ message: 'Plan:\n', activity: plan });
  const next = await read({ after: rest.nextAfter });
  assert.deepEqual(next.items[0]?.activity, plan);
  assert.equal(next.items[0]?.line, 5);
  // The text of the log is what it was.
  const { lines } = await h.call(jobs.log, ref);
  assert.deepEqual(
    lines.map(({ text }) => text),
    ['I will test.', '→ npm test', '  1 failed', '  ✖ failed', 'Plan:'],
  );
});

test('a page of long activities ends early, and the next one continues', async (t) => {
  const { append, read } = await setup(t);
  const path = 'p'.repeat(ACTIVITY_PATH_CHARS_MAX);
  const locations = Array.from({ length: ACTIVITY_FILES_MAX }, () => path);
  const long: Activity = { toolCall: { ...call, status: 'done', locations } };
  const count = 120;
  for (let at = 0; at < count; at += 20) {
    await append(...Array.from({ length: 20 }, () => ({ message: '', activity: long })));
  }
  const seen: number[] = [];
  for (;;) {
    const page = await read({ after: seen.at(-1) ?? 0, limit: 1_000 });
    if (page.items.length === 0) break;
    const sizeBytes = JSON.stringify(page).length;
    assert.ok(sizeBytes < 1_100_000, `${sizeBytes} bytes`);
    seen.push(...page.items.map(({ seq }) => seq));
  }
  assert.equal(seen.length, count);
  assert.equal(new Set(seen).size, count);
});

test('an entry that is sent again adds no activity, and another attempt has its own', async (t) => {
  const h = await setup(t);
  const body = h.numbered([{ message: '→ npm test\n', activity: began }]);
  await h.call(jobEvents.append, body);
  await h.call(jobEvents.append, body);
  assert.equal((await h.read()).items.length, 1);
  const { workspaceId, agentId } = h;
  const outcomeReason = { retryable: true, summary: 'Once more.' };
  await h.call(jobs.complete, { ...h.ref, agentId, outcome: 'failed', outcomeReason });
  h.clock.advance(3_600_000);
  await h.call(jobs.claimNext, { workspaceId, agentId, leaseMs: 60_000 });
  const { attempt, items } = await h.read();
  assert.deepEqual([attempt, items], [2, []]);
  assert.equal((await h.read({ attempt: 1 })).items.length, 1);
});

test('the timeline has the activity of an entry, without fields that are unknown', async (t) => {
  const h = await setup(t);
  await h.append({
    message: '→ npm test\n',
    activity: { ...began, dance: 'x'.repeat(9) } as Activity,
  });
  const { events } = await h.call(jobEvents.listForJob, h.ref);
  assert.deepEqual(events.at(-1)?.data?.activity, began);
});

const longTitle = 'x'.repeat(ACTIVITY_TITLE_CHARS_MAX + 1);
const entriesMax = Array.from({ length: PLAN_ENTRIES_MAX + 1 }, () => plan.plan?.entries[0]);
const refused: readonly (readonly [object, RegExp])[] = [
  [{ toolCall: { ...call, status: 'resting' } }, /status must be one of running, done, failed/],
  [{ toolCall: { ...call, status: 'done', kind: 'dance' } }, /toolCall.kind must be one of read/],
  [{ toolCall: { ...call, status: 'done', id: '' } }, /toolCall.id must not have fewer than 1/],
  [{ toolCall: { ...call, status: 'done', title: longTitle } }, /title must not have more than/],
  [{ plan: { entries: entriesMax } }, /plan.entries must not have more than 50/],
  [{ usage: { costUsd: -1 } }, /usage.costUsd must be >= 0/],
];

test('an activity out of its bounds is refused, and nothing of the call is stored', async (t) => {
  const h = await setup(t);
  for (const [activity, message] of refused) {
    const entries = [{ message: 'before\n' }, { message: 'x\n', activity: activity as Activity }];
    const error = await h.refuse(jobEvents.append, h.numbered(entries), 'INVALID_REQUEST');
    assert.match(error.message, message);
  }
  assert.equal((await h.call(jobs.log, h.ref)).totalLines, 0);
});

test('the tool of a job adds output, but no activity', async (t) => {
  const h = await setup(t);
  const body = h.numbered([{ message: '→ rm -rf /\n', activity: began }]);
  await h.call(jobEvents.append, body, h.jobToken ?? '');
  assert.deepEqual((await h.read()).items, []);
  assert.equal((await h.call(jobs.log, h.ref)).lines[0]?.text, '→ rm -rf /');
});

test('activities above the limit of an attempt are dropped, and their text is kept', async (t) => {
  const h = await setup(t);
  await h.append({ message: 'first\n', activity: message });
  await h.hub.database.write(null, (tx) =>
    tx.runSql('UPDATE job_logs SET activities = ?', [ACTIVITIES_MAX - 1]),
  );
  await h.append(
    { message: 'last\n', activity: message },
    { message: 'beyond\n', activity: message },
  );
  assert.deepEqual(
    (await h.read()).items.map(({ line }) => line),
    [1, 2],
  );
  assert.equal((await h.call(jobs.log, h.ref)).lines.at(-1)?.text, 'beyond');
  const { events } = await h.call(jobEvents.listForJob, h.ref);
  assert.equal(events.at(-1)?.data?.activity, undefined);
});
