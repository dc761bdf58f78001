import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { consoleEndpoints, endpoints } from '@signalbox/contract';
import { deleteMembership } from '../../src/access/store.ts';
import {
  addNotification,
  listDue,
  putChannel,
  takeNotification,
} from '../../src/notifications/store.ts';
import { sealTarget } from '../../src/notifications/target.ts';
import { goContent, MINUTE_MS, question, readRow, startOutbox } from '../support/outbox-world.ts';
import { until } from '../support/until.ts';

const { notificationChannels } = consoleEndpoints;

test('a question reaches a topic of ntfy once, with a link and in quotation marks', async (t) => {
  const h = await startOutbox(t);
  await h.add({ secret: 'tk_4711' });
  const prompt = 'Delete it?\u202e See https://evil.example/x or www.evil.example';
  const { uncertaintyId } = await h.call(endpoints.uncertainties.createWithAutoPromotion, {
    workspaceId: h.workspaceId,
    runId: h.runId,
    ...question,
    prompt,
  });
  await h.send();
  await h.send();
  const [message, ...others] = h.receiver.messages;
  assert.deepEqual(others, []);
  assert.equal(message?.path, '/');
  assert.equal(message.headers.authorization, 'Bearer tk_4711');
  const page = `${h.hub.baseUrl}/w/${h.home.slug}/inbox/${uncertaintyId}`;
  assert.deepEqual(message.body, {
    topic: 'ada-4711',
    title: 'A job asks you',
    priority: 4,
    click: page,
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
    ok: true,
    delivered: true,
    failure: null,
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

test('chats get a message that mentions and links nothing of the question', async (t) => {
  const h = await startOutbox(t);
  for (const kind of ['slack', 'teams', 'discord'] as const) {
    await h.add({ kind, name: kind, url: `${h.receiver.url}/${kind}` });
  }
  const prompt = 'Is <!channel> or *@everyone* [right](javascript:x)?';
  const { uncertaintyId } = await h.call(endpoints.uncertainties.createWithAutoPromotion, {
    workspaceId: h.workspaceId,
    runId: h.runId,
    ...question,
    prompt,
  });
  await h.send();
  const url = `${h.hub.baseUrl}/w/${h.home.slug}/inbox/${uncertaintyId}`;
  const title = 'A job asks you';
  const text = '“Is <!channel> or *@everyone* [right]([link]”';
  const escaped = String.raw`“Is \<!channel\> or \*\@everyone\* \[right\]\(\[link\]”`;
  const plain = (shown: string) => ({ type: 'plain_text', text: shown });
  const bodies = new Map(h.receiver.messages.map(({ path, body }) => [path, body]));
  assert.deepEqual(bodies.get('/slack'), {
    text: `${title}: ${text.replaceAll('<', '&lt;').replaceAll('>', '&gt;')}`,
    blocks: [
      { type: 'header', text: plain(title) },
      { type: 'section', text: plain(text) },
      { type: 'actions', elements: [{ type: 'button', text: plain('Open'), url }] },
    ],
  });
  const teams = bodies.get('/teams') as { attachments: { content: unknown }[] };
  assert.deepEqual(teams.attachments[0]?.content, {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [
      { type: 'TextBlock', text: title, weight: 'Bolder', wrap: true },
      { type: 'TextBlock', text: escaped, wrap: true },
    ],
    actions: [{ type: 'Action.OpenUrl', title: 'Open', url }],
  });
  assert.deepEqual(bodies.get('/discord'), {
    embeds: [{ title, description: escaped, url }],
    allowed_mentions: { parse: [] },
  });
});

test('the person who enqueued a job hears that it ended, and no one else does', async (t) => {
  const h = await startOutbox(t);
  await h.add({ showsText: false });
  const others = await h.enqueue();
  await h.claim();
  await h.complete(others.jobId);
  const { jobId } = await h.ask(endpoints.jobs.enqueue, {
    workspaceId: h.workspaceId,
    repoId: h.repoId,
    kind: 'work',
    prompt: 'A secret plan.',
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
    workspaceId: h.workspaceId,
    runId: h.runId,
    confidence: 0.2,
    kind: 'choice',
    prompt: 'Go?',
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
    workspaceId: h.workspaceId,
    runId: h.runId,
    ...question,
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
      workspaceId: h.workspaceId,
      runId: h.runId,
      ...question,
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
    workspaceId: h.workspaceId,
    runId: h.runId,
    ...question,
  });
  await h.hub.database.write(null, (tx) => deleteMembership(tx, h.workspaceId, h.person.personId));
  await h.send();
  assert.deepEqual(h.receiver.messages, []);
});

test('a message that another hub took and never sent is sent after a minute', async (t) => {
  const h = await startOutbox(t);
  await h.add();
  await h.call(endpoints.uncertainties.createWithAutoPromotion, {
    workspaceId: h.workspaceId,
    runId: h.runId,
    ...question,
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
    workspaceId: h.workspaceId,
    runId: h.runId,
    ...question,
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
        workspace_id: h.workspaceId,
        notification_id: h.hub.deps.ids('notification'),
        event: 'decision',
        subject_id: `unc_${at}`,
        person_id,
        channel_id,
        content: JSON.stringify(goContent),
        state: 'waiting',
        attempts: 0,
        turn_at: tx.nowMs,
        due_at: tx.nowMs,
        held_by: null,
        failure: null,
        receipt: null,
        edit_at: null,
        created_at: tx.nowMs,
        ended_at: null,
      });
    }
  });
  h.clock.advance(1);
  await h.call(endpoints.uncertainties.createWithAutoPromotion, {
    workspaceId: h.workspaceId,
    runId: h.runId,
    ...question,
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
    workspaceId: h.workspaceId,
    runId: h.runId,
    ...question,
  });
  await h.send();
  assert.equal((await h.told(uncertaintyId))[0]?.state, 'failed');
  assert.match((await h.own())[0]?.failure ?? '', /save it again/);
  assert.equal((await h.add({ channelId: channel.channelId })).channel.failure, null);
});
