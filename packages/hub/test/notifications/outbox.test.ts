import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import {
  consoleEndpoints,
  consolePathOf,
  endpoints,
  type NotificationChannel,
  type RequestOf,
} from '@signalbox/contract';
import { deleteMembership, insertMembership } from '../../src/access/store.ts';
import { endOfQuiet } from '../../src/notifications/quiet-hours.ts';
import { NotificationSender } from '../../src/notifications/sender.ts';
import {
  addNotification,
  listDue,
  putChannel,
  readChannel,
  takeNotification,
} from '../../src/notifications/store.ts';
import { sealTarget } from '../../src/notifications/target.ts';
import { insertPerson } from '../../src/people/store.ts';
import {
  readWorkspace,
  updateWorkspaceSettings,
  type WorkspaceRow,
} from '../../src/workspaces/store.ts';
import { signInFirstOwner } from '../support/console-person.ts';
import { startDecisionWorld } from '../support/decision-world.ts';
import { startReceiver } from '../support/message-receiver.ts';
import { until } from '../support/until.ts';

const { notificationChannels, notifications } = consoleEndpoints;
const MINUTE_MS = 60_000;
const goContent = {
  ...{ jobTitle: null, question: 'Go?', recommended: null, outcome: null },
  ...{ isApproval: false, deadlineAtMs: null, isOfSession: false },
};
const question = { confidence: 0.2, kind: 'choice', prompt: 'Go?' } as const;
const everything = {
  ...{ name: 'Phone', showsText: true },
  events: ['decision', 'job_ended'] as NotificationChannel['events'],
};

/** A hub with a person of its workspace, and a receiver of messages. */
async function startOutbox(t: TestContext, allowPrivateHosts: 'all' | string[] = 'all') {
  const receiver = await startReceiver(t);
  const h = await startDecisionWorld(t, { config: { allowPrivateHosts } });
  const person = await signInFirstOwner(h);
  const { workspaceId, hub } = h;
  const ask = person.call;
  const add = (draft: Partial<RequestOf<typeof notificationChannels.put>> = {}) =>
    ask(notificationChannels.put, {
      ...{ workspaceId, kind: 'ntfy', url: `${receiver.url}/ada-4711`, ...everything, ...draft },
    });
  const own = async () => (await ask(notificationChannels.list, { workspaceId })).channels;
  const told = async (uncertaintyId: string) =>
    (await ask(notifications.list, { workspaceId, uncertaintyId })).notifications;
  const sent = { ...hub.deps, allowed: 'all' as const, smtp: null, baseUrl: () => hub.baseUrl };
  return {
    ...h,
    sender: new NotificationSender(sent, (error) => assert.fail(String(error))),
    person,
    receiver,
    ask,
    add,
    own,
    told,
    send: () => hub.loops.notifications.runOnce(),
  };
}

test('a question reaches a topic of ntfy once, with a link and in quotation marks', async (t) => {
  const h = await startOutbox(t);
  await h.add({ secret: 'tk_4711' });
  const prompt = 'Delete it?\u202e See https://evil.example/x or www.evil.example';
  const { uncertaintyId } = await h.call(endpoints.uncertainties.createWithAutoPromotion, {
    ...{ workspaceId: h.workspaceId, runId: h.runId, ...question, prompt },
  });
  await h.send();
  await h.send();
  const [message, ...others] = h.receiver.messages;
  assert.deepEqual(others, []);
  assert.equal(message?.path, '/');
  assert.equal(message.headers.authorization, 'Bearer tk_4711');
  const page = `${h.hub.baseUrl}/w/${h.home.slug}/inbox/${uncertaintyId}`;
  assert.deepEqual(message.body, {
    ...{ topic: 'ada-4711', title: 'A job asks you', priority: 4, click: page },
    message: '“Delete it? See [link] or [link]”',
    actions: [{ action: 'view', label: 'Open', url: page, clear: true }],
  });
  const [told] = await h.told(uncertaintyId);
  assert.equal(told?.state, 'sent');
  assert.equal(told.personName, 'Ada Lovelace');
});

test('a webhook is signed by the secret that only its creation shows', async (t) => {
  const h = await startOutbox(t);
  const url = `${h.receiver.url}/hook`;
  const { signingSecret, channel } = await h.add({ kind: 'webhook', url, showsText: false });
  assert.match(signingSecret ?? '', /^whsec_/);
  const renamed = await h.add({
    kind: 'webhook',
    channelId: channel.channelId,
    name: 'Pager',
    url,
  });
  assert.equal(renamed.signingSecret, null);
  assert.deepEqual(
    (await h.own()).map(({ name }) => name),
    ['Pager'],
  );
  const test = { workspaceId: h.workspaceId, channelId: channel.channelId };
  assert.deepEqual(await h.ask(notificationChannels.test, test), {
    ...{ ok: true, delivered: true, failure: null },
  });
  const [message] = h.receiver.messages;
  const { 'webhook-id': id, 'webhook-timestamp': at } = message?.headers ?? {};
  const key = Buffer.from(String(signingSecret).slice('whsec_'.length), 'base64');
  const signature = createHmac('sha256', key)
    .update(`${id}.${at}.${message?.text}`)
    .digest('base64');
  assert.equal(message?.headers['webhook-signature'], `v1,${signature}`);
  assert.equal(message.body.type, 'test');
});

test('the person who enqueued a job hears that it ended, and no one else does', async (t) => {
  const h = await startOutbox(t);
  await h.add({ showsText: false });
  const others = await h.enqueue();
  await h.claim();
  await h.complete(others.jobId);
  const { jobId } = await h.ask(endpoints.jobs.enqueue, {
    ...{ workspaceId: h.workspaceId, repoId: h.repoId, kind: 'work', prompt: 'A secret plan.' },
  });
  await h.claim();
  await h.complete(jobId, { outcome: 'failed', outcomeReason: 'It broke.' });
  await h.send();
  const bodies = h.receiver.messages.map(({ body }) => [body.title, body.message]);
  assert.deepEqual(bodies, [['A job has failed', 'Open it to see the result.']]);
});

test('an answer that comes first is not followed by a message', async (t) => {
  const h = await startOutbox(t);
  await h.add();
  const { uncertaintyId } = await h.call(endpoints.uncertainties.createWithAutoPromotion, {
    ...{
      workspaceId: h.workspaceId,
      runId: h.runId,
      confidence: 0.2,
      kind: 'choice',
      prompt: 'Go?',
    },
  });
  await h.answer(uncertaintyId);
  await h.send();
  assert.deepEqual(h.receiver.messages, []);
  const [told] = await h.told(uncertaintyId);
  assert.equal(told?.state, 'settled');
});

test('a receiver that is busy is tried again when it wants, with the same id', async (t) => {
  const h = await startOutbox(t);
  await h.add({ kind: 'webhook', url: `${h.receiver.url}/hook` });
  h.receiver.answerWith({ status: 429, headers: { 'retry-after': '120' } }, { status: 500 });
  const { uncertaintyId } = await h.call(endpoints.uncertainties.createWithAutoPromotion, {
    ...{ workspaceId: h.workspaceId, runId: h.runId, ...question },
  });
  await h.send();
  assert.equal((await h.own())[0]?.failure, 'The receiver answered 429.');
  h.clock.advance(MINUTE_MS);
  await h.send();
  assert.equal(h.receiver.messages.length, 1, 'two minutes have not passed');
  h.clock.advance(MINUTE_MS);
  await h.send();
  h.clock.advance(MINUTE_MS);
  await h.send();
  const ids = h.receiver.messages.map(({ headers }) => headers['webhook-id']);
  assert.equal(ids.length, 3);
  assert.equal(new Set(ids).size, 1);
  assert.equal((await h.told(uncertaintyId))[0]?.state, 'sent');
  assert.equal((await h.own())[0]?.failure, null);
});

test('a receiver that is gone stops its channel until it is saved again', async (t) => {
  const h = await startOutbox(t);
  const { channel } = await h.add();
  h.receiver.answerWith({ status: 410 });
  const raise = () =>
    h.call(endpoints.uncertainties.createWithAutoPromotion, {
      ...{ workspaceId: h.workspaceId, runId: h.runId, ...question },
    });
  const { uncertaintyId } = await raise();
  await h.send();
  const [told] = await h.told(uncertaintyId);
  assert.deepEqual([told?.state, told?.failure], ['failed', 'The receiver answered 410.']);
  assert.ok((await h.own())[0]?.stoppedAt);
  const second = await raise();
  await h.send();
  assert.deepEqual(await h.told(second.uncertaintyId), []);
  await h.add({ channelId: channel.channelId });
  await raise();
  await h.send();
  assert.equal(h.receiver.messages.length, 2);
});

test('a private host is called only if the operator allows it, and says so', async (t) => {
  const h = await startOutbox(t, []);
  const { channel } = await h.add();
  const test = { workspaceId: h.workspaceId, channelId: channel.channelId };
  const { delivered, failure } = await h.ask(notificationChannels.test, test);
  assert.equal(delivered, false);
  assert.match(failure ?? '', /SVC_ALLOW_PRIVATE_HOSTS/);
  assert.deepEqual(h.receiver.messages, []);
});

test('a token is not sent to another server than the one that it was given for', async (t) => {
  const h = await startOutbox(t);
  const { channel } = await h.add({ url: 'http://127.0.0.1:9/topic', secret: 'tk_4711' });
  await h.add({ channelId: channel.channelId });
  const test = { workspaceId: h.workspaceId, channelId: channel.channelId };
  await h.ask(notificationChannels.test, test);
  assert.equal(h.receiver.messages[0]?.headers.authorization, undefined);
});

test('who has left the workspace hears of nothing', async (t) => {
  const h = await startOutbox(t);
  await h.add();
  await h.call(endpoints.uncertainties.createWithAutoPromotion, {
    ...{ workspaceId: h.workspaceId, runId: h.runId, ...question },
  });
  await h.hub.database.write(null, (tx) => deleteMembership(tx, h.workspaceId, h.person.personId));
  await h.send();
  assert.deepEqual(h.receiver.messages, []);
});

test('a message that another hub took and never sent is sent after a minute', async (t) => {
  const h = await startOutbox(t);
  await h.add();
  await h.call(endpoints.uncertainties.createWithAutoPromotion, {
    ...{ workspaceId: h.workspaceId, runId: h.runId, ...question },
  });
  const { database } = h.hub;
  const none = { channelIds: [], workspaceIds: [] };
  const [row] = await listDue(database.reader, h.clock.nowMs(), none, 10);
  assert.ok(row);
  const take = () =>
    database.write(h.workspaceId, (tx) => takeNotification(tx, row, h.clock.nowMs() + MINUTE_MS));
  assert.deepEqual([await take(), await take()], [true, false]);
  await h.send();
  assert.deepEqual(h.receiver.messages, []);
  h.clock.advance(MINUTE_MS);
  await h.send();
  assert.equal(h.receiver.messages.length, 1);
});

test('a receiver that hangs up is tried again, and delays no other', async (t) => {
  const h = await startOutbox(t);
  await h.add({ url: `${h.receiver.url}/one` });
  await h.add({ url: `${h.receiver.url}/two`, name: 'Second' });
  h.receiver.answerWith('hang up');
  const { uncertaintyId } = await h.call(endpoints.uncertainties.createWithAutoPromotion, {
    ...{ workspaceId: h.workspaceId, runId: h.runId, ...question },
  });
  await h.send();
  assert.equal(h.receiver.messages.length, 2);
  const states = (await h.told(uncertaintyId)).map(({ state }) => state);
  assert.deepEqual(states.toSorted(), ['sent', 'waiting']);
  h.clock.advance(MINUTE_MS);
  await h.send();
  assert.equal(h.receiver.messages.length, 3);
});

test('a receiver for which much waits delays no other', async (t) => {
  const h = await startOutbox(t);
  const slow = await h.add({ url: `${h.receiver.url}/slow` });
  const { person_id, channel_id } = await readRow(h, slow.channel.channelId);
  await h.add({ url: `${h.receiver.url}/other`, name: 'Other' });
  await h.hub.database.write(h.workspaceId, async (tx) => {
    for (let at = 0; at < 600; at++) {
      await addNotification(tx, {
        ...{ workspace_id: h.workspaceId, notification_id: h.hub.deps.ids('notification') },
        ...{ event: 'decision', subject_id: `unc_${at}`, person_id, channel_id },
        ...{
          content: JSON.stringify(goContent),
        },
        ...{ state: 'waiting', attempts: 0, due_at: tx.nowMs, failure: null },
        ...{ created_at: tx.nowMs, ended_at: null },
      });
    }
  });
  h.clock.advance(1);
  await h.call(endpoints.uncertainties.createWithAutoPromotion, {
    ...{ workspaceId: h.workspaceId, runId: h.runId, ...question },
  });
  h.receiver.answerWith('nothing');
  const first = await h.sender.sendDue();
  assert.deepEqual(first, { begun: 1, hasMore: true });
  await h.sender.sendDue();
  await until('the message of the other', () =>
    h.receiver.messages.some(({ body }) => body.topic === 'other'),
  );
  await h.sender.stop();
});

test('an address that was sealed with another key stops its channel, which can be saved', async (t) => {
  const h = await startOutbox(t);
  const { channel } = await h.add();
  const row = await readRow(h, channel.channelId);
  const sealed_target = sealTarget(
    { url: 'https://x.example/y', secret: null },
    randomBytes(32),
    row,
  );
  await h.hub.database.write(h.workspaceId, (tx) => putChannel(tx, { ...row, sealed_target }));
  const { uncertaintyId } = await h.call(endpoints.uncertainties.createWithAutoPromotion, {
    ...{ workspaceId: h.workspaceId, runId: h.runId, ...question },
  });
  await h.send();
  assert.equal((await h.told(uncertaintyId))[0]?.state, 'failed');
  assert.match((await h.own())[0]?.failure ?? '', /save it again/);
  assert.equal((await h.add({ channelId: channel.channelId })).channel.failure, null);
});

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

/** Quiet hours that began a while ago, and end in an hour, in a zone with an odd offset. */
function quietAt(nowMs: number) {
  const timeZone = 'Asia/Kathmandu';
  const format = { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  const time = (atMs: number) => new Intl.DateTimeFormat('en-GB', format).format(atMs);
  return { from: time(nowMs - 60 * MINUTE_MS), until: time(nowMs + 60 * MINUTE_MS), timeZone };
}

/** A job that Ada enqueued, and Grace, an owner of the workspace with another channel. */
async function startEscalation(t: TestContext) {
  const h = await startOutbox(t);
  const ada = await h.add({ url: `${h.receiver.url}/ada` });
  const { database, deps } = h.hub;
  await database.write(h.workspaceId, async (tx) => {
    const created_at = tx.nowMs;
    const person_id = deps.ids('person');
    const grace = { person_id, email: 'grace@acme.dev', name: 'Grace Hopper', created_at };
    await insertPerson(tx, { ...grace, password_hash: '' });
    await insertMembership(tx, {
      ...{ workspace_id: h.workspaceId, person_id, role: 'owner', created_at },
    });
    const row = await readRow(h, ada.channel.channelId);
    const own = { ...row, channel_id: deps.ids('notificationChannel'), person_id };
    const target = { url: `${h.receiver.url}/grace`, secret: null };
    await putChannel(tx, { ...own, sealed_target: sealTarget(target, deps.secretKey, own) });
  });
  const { jobId } = await h.ask(endpoints.jobs.enqueue, {
    ...{ workspaceId: h.workspaceId, repoId: h.repoId, kind: 'work', prompt: 'Paint it.' },
  });
  const { jobToken } = await h.claim();
  const raise = async () => {
    const body = { workspaceId: h.workspaceId, jobId, ...question };
    const row = endpoints.uncertainties.createWithAutoPromotion;
    return (await h.call(row, body, jobToken ?? '')).uncertaintyId;
  };
  return { ...h, raise, topics: () => h.receiver.messages.map(({ body }) => body.topic) };
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
  await h.hub.database.write(h.workspaceId, async (tx) => {
    const row = await readWorkspace(tx, h.workspaceId);
    assert.ok(row);
    await updateWorkspaceSettings(tx, h.workspaceId, { ...settingsOf(row), ...never });
  });
  const uncertaintyId = await h.raise();
  assert.equal((await h.told(uncertaintyId)).length, 1);
});

function settingsOf({ name, content_storage, retention_days, redact_secrets }: WorkspaceRow) {
  return { name, content_storage, retention_days, redact_secrets };
}

async function readRow({ hub, workspaceId }: Awaited<ReturnType<typeof startOutbox>>, id: string) {
  const row = await readChannel(hub.database.reader, workspaceId, id);
  assert.ok(row);
  return row;
}
