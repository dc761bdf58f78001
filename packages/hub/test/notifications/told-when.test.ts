import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { consoleEndpoints, consolePathOf, endpoints } from '@signalbox/contract';
import { endOfQuiet } from '../../src/notifications/quiet-hours.ts';
import { updateWorkspace } from '../../src/workspaces/store.ts';
import { MINUTE_MS, question, startAskingJob, startOutbox } from '../support/outbox-world.ts';

const { notificationChannels, notifications } = consoleEndpoints;

test('in quiet hours a question waits until they end, with the reason', async (t) => {
  const h = await startOutbox(t);
  await h.add();
  await h.ask(notifications.setQuietHours, { quietHours: quietAt(h.clock.nowMs()) });
  const raise = async (more: object = {}) => {
    const row = endpoints.uncertainties.createWithAutoPromotion;
    const body = { workspaceId: h.workspaceId, runId: h.runId, ...question, ...more };
    return (await h.call(row, body)).uncertaintyId;
  };
  const waits = await raise();
  const answered = await raise();
  await raise({ kind: 'approval', prompt: 'May it delete?' });
  const deadlineAt = new Date(h.clock.nowMs() + 59 * MINUTE_MS).toISOString();
  await raise({ prompt: 'In time?', deadlineAt });
  await raise({ deadlineAt: new Date(h.clock.nowMs() + 120 * MINUTE_MS).toISOString() });
  // One message at a time for a channel.
  for (let turn = 0; turn < 5; turn++) await h.send();
  const texts = () => h.receiver.messages.map(({ body }) => String(body.message)).toSorted();
  assert.deepEqual(texts(), ['“In time?”', '“May it delete?”']);
  const [told] = await h.told(waits);
  assert.deepEqual([told?.state, told?.attempts], ['waiting', 0]);
  assert.match(told?.failure ?? '', /^Quiet hours until \d\d:\d\d \(Asia\/Kathmandu\)\.$/);
  await h.answer(answered);
  h.clock.advance(60 * MINUTE_MS);
  for (let turn = 0; turn < 3; turn++) await h.send();
  assert.deepEqual(texts(), ['“Go?”', '“Go?”', '“In time?”', '“May it delete?”']);
  assert.equal((await h.told(answered))[0]?.state, 'settled');
  assert.equal((await h.told(waits))[0]?.failure, null);
});

test('what waits for quiet hours is sent when the person ends them', async (t) => {
  const h = await startOutbox(t);
  await h.add();
  await h.ask(notifications.setQuietHours, { quietHours: quietAt(h.clock.nowMs()) });
  const { uncertaintyId } = await h.call(endpoints.uncertainties.createWithAutoPromotion, {
    workspaceId: h.workspaceId,
    runId: h.runId,
    ...question,
  });
  const tryToSend = async () => {
    await h.send();
    return (await h.told(uncertaintyId))[0];
  };
  assert.equal((await tryToSend())?.state, 'waiting');
  const longer = quietAt(h.clock.nowMs() + 30 * MINUTE_MS);
  await h.ask(notifications.setQuietHours, { quietHours: longer });
  const still = await tryToSend();
  assert.equal(Date.parse(still?.dueAt ?? '') - h.clock.nowMs(), 90 * MINUTE_MS);
  await h.ask(notifications.setQuietHours, { quietHours: null });
  assert.equal((await tryToSend())?.state, 'sent');
});

test('quiet hours end where the clocks change, and go over midnight', () => {
  const berlin = { from: '22:00', until: '07:00', timeZone: 'Europe/Berlin' };
  const at = (time: string) => {
    const endMs = endOfQuiet(berlin, Date.parse(time));
    return endMs === null ? null : new Date(endMs).toISOString();
  };
  assert.equal(at('2026-11-02T20:59:59Z'), null);
  assert.equal(at('2026-11-02T21:00:00Z'), '2026-11-03T06:00:00.000Z');
  assert.equal(at('2026-11-03T05:59:59Z'), '2026-11-03T06:00:00.000Z');
  assert.equal(at('2026-11-03T06:00:00Z'), null);
  // Summer time begins and ends at 01:00 UTC.
  assert.equal(at('2026-03-28T22:30:00Z'), '2026-03-29T05:00:00.000Z');
  assert.equal(at('2026-10-24T22:30:00Z'), '2026-10-25T06:00:00.000Z');
});

test('quiet hours of an unknown zone, or without length, are refused', async (t) => {
  const h = await startOutbox(t);
  const set = (quietHours: object) =>
    h.person.send(consolePathOf(notifications.setQuietHours), { quietHours });
  for (const wrong of [{ timeZone: 'Mars/Olympus' }, { until: '22:00' }, { from: '24:00' }]) {
    const hours = { from: '22:00', until: '07:00', timeZone: 'Europe/Berlin', ...wrong };
    assert.equal((await set(hours)).body.error, 'INVALID_REQUEST', JSON.stringify(wrong));
  }
  const { quietHours } = await h.ask(notificationChannels.list, { workspaceId: h.workspaceId });
  assert.equal(quietHours, null);
});

/** Ada has a digest of four hours; the tool of their job asks, mostly of low impact. */
async function startDigest(t: TestContext) {
  const h = await startAskingJob(t);
  await h.ask(notifications.setDigest, { hours: 4 });
  const low = (more: object = {}) => h.raise({ impact: 'Low', ...more });
  const messages = async () => {
    await h.sendAll();
    return h.receiver.messages.map(({ body }) => [body.title, body.message]);
  };
  const paths = () => h.receiver.messages.map(({ body }) => new URL(String(body.click)).pathname);
  return { ...h, low, messages, paths };
}

test('questions of low risk come in one message, if they are still open', async (t) => {
  const h = await startDigest(t);
  const first = await h.low();
  assert.deepEqual(await h.messages(), []);
  h.clock.advance(30 * MINUTE_MS);
  const answered = await h.low({ prompt: 'And this?' });
  const third = await h.low({ prompt: 'And that?' });
  assert.deepEqual(await h.messages(), []);
  for (const uncertaintyId of [first, third]) {
    const [told] = await h.told(uncertaintyId);
    assert.equal(told?.failure, 'Low risk: told every 4 hours.');
    assert.equal(Date.parse(told.dueAt ?? '') - h.clock.nowMs(), 210 * MINUTE_MS);
  }
  await h.answer(answered);
  h.clock.advance(210 * MINUTE_MS - 1);
  assert.deepEqual(await h.messages(), []);
  h.clock.advance(1);
  const told = [['2 questions of low risk wait', '“Go?” and another.']];
  assert.deepEqual(await h.messages(), told);
  assert.deepEqual(h.paths(), [`/w/${h.home.slug}/inbox`]);
  const states = async (id: string) => (await h.told(id)).map(({ state }) => state);
  assert.deepEqual(await Promise.all([first, answered, third].map(states)), [
    ['sent'],
    ['settled'],
    ['sent'],
  ]);
  h.clock.advance(600 * MINUTE_MS);
  assert.deepEqual(await h.messages(), told);
});

test('only low risk waits: no approval, no risk, and no deadline before the message', async (t) => {
  const h = await startDigest(t);
  const deadlineAt = (minutes: number) => ({
    deadlineAt: new Date(h.clock.nowMs() + minutes * MINUTE_MS).toISOString(),
  });
  await h.low({ kind: 'risk', prompt: 'Risk?' });
  await h.low({ kind: 'approval', prompt: 'Approval?' });
  await h.raise({ impact: 'high', prompt: 'High?' });
  await h.raise({ prompt: 'Unknown?' });
  await h.low({ ...deadlineAt(239), prompt: 'Soon?' });
  await h.low({ ...deadlineAt(300), prompt: 'Later?' });
  const texts = (await h.messages()).map(([, text]) =>
    String(String(text).match(/[A-Z]\w+\?/)?.[0]),
  );
  assert.deepEqual(texts.toSorted(), ['Approval?', 'High?', 'Risk?', 'Soon?', 'Unknown?']);
});

test('a digest that no receiver takes is tried again with all of its questions', async (t) => {
  const h = await startDigest(t);
  await h.low();
  await h.low({ prompt: 'And this?' });
  await h.messages();
  h.receiver.answerWith({ status: 500 });
  h.clock.advance(240 * MINUTE_MS);
  const told = ['2 questions of low risk wait', '“Go?” and another.'];
  assert.deepEqual(await h.messages(), [told]);
  h.clock.advance(MINUTE_MS);
  assert.deepEqual(await h.messages(), [told, told]);
  h.clock.advance(MINUTE_MS);
  assert.equal((await h.messages()).length, 2);
});

test('what waits for a digest is sent when the person ends it', async (t) => {
  const h = await startDigest(t);
  await h.low();
  assert.deepEqual(await h.messages(), []);
  await h.ask(notifications.setDigest, { hours: 0 });
  assert.deepEqual(
    (await h.messages()).map(([title]) => title),
    ['A job asks you'],
  );
});

test('a channel tells of risky questions only, another of the rest', async (t) => {
  const h = await startOutbox(t);
  await h.add({ url: `${h.receiver.url}/pager`, questions: 'risky' });
  await h.add({ url: `${h.receiver.url}/desk`, name: 'Desk', questions: 'not_risky' });
  for (const kind of ['approval', 'risk', 'choice'] as const) {
    const body = { workspaceId: h.workspaceId, runId: h.runId, ...question, kind };
    await h.call(endpoints.uncertainties.createWithAutoPromotion, body);
  }
  for (let turn = 0; turn < 3; turn++) await h.send();
  const topics = h.receiver.messages.map(({ body }) => String(body.topic));
  assert.deepEqual(topics.toSorted(), ['desk', 'pager', 'pager']);
});

/** Quiet hours that began a while ago, and end in an hour, in a zone with an odd offset. */
function quietAt(nowMs: number) {
  const timeZone = 'Asia/Kathmandu';
  const format = { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  const time = (atMs: number) => new Intl.DateTimeFormat('en-GB', format).format(atMs);
  return { from: time(nowMs - 60 * MINUTE_MS), until: time(nowMs + 60 * MINUTE_MS), timeZone };
}

/** A job that Ada enqueued, and Grace, an owner of the workspace with another channel. */
async function startEscalation(t: TestContext) {
  const h = await startAskingJob(t);
  await h.addMember('Grace Hopper', 'owner');
  return h;
}

test('owners are told of a question that is still open after 15 minutes', async (t) => {
  const h = await startEscalation(t);
  const uncertaintyId = await h.raise();
  await h.send();
  assert.deepEqual(h.topics(), ['ada']);
  const waiting = (await h.told(uncertaintyId)).find(({ state }) => state === 'waiting');
  assert.equal(waiting?.personName, 'Grace Hopper');
  const dueMs = Date.parse(waiting.dueAt ?? '') - Date.parse(waiting.createdAt);
  assert.equal(dueMs, 15 * MINUTE_MS);
  h.clock.advance(15 * MINUTE_MS - 1);
  await h.send();
  assert.deepEqual(h.topics(), ['ada']);
  h.clock.advance(1);
  await h.send();
  assert.deepEqual(h.topics(), ['ada', 'grace']);
});

test('owners are not told of a question that was answered first', async (t) => {
  const h = await startEscalation(t);
  const uncertaintyId = await h.raise();
  await h.send();
  await h.answer(uncertaintyId);
  h.clock.advance(15 * MINUTE_MS);
  await h.send();
  assert.deepEqual(h.topics(), ['ada']);
  const states = (await h.told(uncertaintyId)).map(({ state }) => state);
  assert.deepEqual(states.toSorted(), ['sent', 'settled']);
});

test('a workspace can leave its questions to the person who enqueued the job', async (t) => {
  const h = await startEscalation(t);
  const never = { ask_owners_after_minutes: 0 };
  await h.hub.database.write(h.workspaceId, (tx) => updateWorkspace(tx, h.workspaceId, never));
  const uncertaintyId = await h.raise();
  assert.equal((await h.told(uncertaintyId)).length, 1);
});

/** Ada hears of jobs that wait, and enqueues some. */
async function startWaits(t: TestContext) {
  const h = await startOutbox(t);
  await h.add({ events: ['job_waits'] });
  const enqueue = async (prompt: string) => {
    const job = { workspaceId: h.workspaceId, repoId: h.repoId, kind: 'work' as const, prompt };
    return (await h.ask(endpoints.jobs.enqueue, job)).jobId;
  };
  const told = () => h.receiver.messages.map(({ body }) => [body.title, body.message]);
  return { ...h, enqueue, told };
}

test('the person hears once of all jobs that no agent takes for 10 minutes', async (t) => {
  const h = await startWaits(t);
  for (const prompt of ['Paint it.', 'Dry it.']) await h.enqueue(prompt);
  h.clock.advance(10 * MINUTE_MS - 1);
  await h.send();
  assert.deepEqual(h.told(), []);
  h.clock.advance(1);
  await h.send();
  await h.send();
  const text = '“Paint it.”: no agent can take it. Open it to see why.';
  assert.deepEqual(h.told(), [['2 jobs wait for agents', text]]);
  h.clock.advance(60 * MINUTE_MS);
  await h.send();
  assert.equal(h.told().length, 1);
});

test('a job whose agent is lost later is told of, and no other', async (t) => {
  const h = await startWaits(t);
  await h.enqueue('Paint it.');
  await h.claim({ leaseMs: 11 * MINUTE_MS });
  h.clock.advance(10 * MINUTE_MS);
  await h.send();
  assert.deepEqual(h.told(), []);
  h.clock.advance(10 * MINUTE_MS);
  await h.hub.loops.sweeper.runOnce();
  await h.send();
  assert.deepEqual(h.told(), [
    ['A job waits for an agent', '“Paint it.”: no agent can take it. Open it to see why.'],
  ]);
});

test('a job that has ended, or waits for a busy agent, is no reason to call', async (t) => {
  const h = await startWaits(t);
  const canceled = await h.enqueue('Paint it.');
  await h.ask(endpoints.jobs.cancel, { workspaceId: h.workspaceId, jobId: canceled });
  await h.enqueue('Dry it.');
  h.clock.advance(10 * MINUTE_MS);
  const agent = { machineFingerprint: 'first', displayName: 'first', status: 'online' as const };
  const capabilities = { canWrite: true };
  await h.call(endpoints.agents.heartbeat, { workspaceId: h.workspaceId, ...agent, capabilities });
  await h.send();
  assert.deepEqual(h.told(), []);
  const states = await h.hub.database.reader.allSql<{ state: string }>(
    'SELECT state FROM notifications ORDER BY notification_id',
    [],
  );
  assert.deepEqual(
    states.map(({ state }) => state),
    ['settled', 'waiting'],
  );
});
