import assert from 'node:assert/strict';
import { test } from 'node:test';
import { consoleEndpoints, endpoints } from '@signalbox/contract';
import { MINUTE_MS, question, startAskingJob, startOutbox } from '../support/outbox-world.ts';

const { notificationChannels } = consoleEndpoints;

test('a person reads what was sent by a channel, and sends what failed again with its id', async (t) => {
  const h = await startAskingJob(t);
  const [phone] = await h.own();
  const ref = { workspaceId: h.workspaceId, channelId: phone?.channelId ?? '' };
  const read = async () => (await h.ask(notificationChannels.messages, ref)).messages;
  const sendAgain = (notificationId = '') =>
    h.ask(notificationChannels.sendAgain, { ...ref, notificationId });
  assert.deepEqual(await read(), []);
  h.receiver.answerWith({ status: 400 });
  const first = await h.raise();
  await h.send();
  h.clock.advance(MINUTE_MS);
  const second = await h.raise({ prompt: 'And now?' });
  await h.send();
  const [last, failed] = await read();
  assert.deepEqual(
    [last?.subjectId, last?.state, last?.text, failed?.subjectId, failed?.state, failed?.failure],
    [second, 'sent', '“Paint it.”: “And now?”', first, 'failed', 'The receiver answered 400.'],
  );
  assert.deepEqual(await sendAgain(failed?.notificationId), {
    ok: true,
    delivered: true,
    failure: null,
  });
  assert.deepEqual(
    h.receiver.messages.map(({ body }) => body.message),
    ['“Go?”', '“And now?”', '“Go?”'].map((asked) => `“Paint it.”: ${asked}`),
  );
  const [, repaired] = await read();
  assert.deepEqual([repaired?.state, repaired?.attempts, repaired?.failure], ['sent', 2, null]);
  const [channel] = await h.own();
  assert.equal(channel?.failure, null);
});

test('the id of a webhook stays when its message is sent again', async (t) => {
  const h = await startOutbox(t);
  const { channel } = await h.add({ kind: 'webhook', url: `${h.receiver.url}/hook` });
  const { uncertaintyId } = await h.call(endpoints.uncertainties.createWithAutoPromotion, {
    workspaceId: h.workspaceId,
    runId: h.runId,
    ...question,
  });
  await h.send();
  const ref = { workspaceId: h.workspaceId, channelId: channel.channelId };
  const [message] = (await h.ask(notificationChannels.messages, ref)).messages;
  const again = { ...ref, notificationId: message?.notificationId ?? '' };
  assert.equal(message?.subjectId, uncertaintyId);
  await h.ask(notificationChannels.sendAgain, again);
  assert.deepEqual(
    h.receiver.messages.map(({ headers }) => headers['webhook-id']),
    [message?.notificationId, message?.notificationId],
  );
  h.receiver.answerWith({ status: 410 });
  assert.equal((await h.ask(notificationChannels.sendAgain, again)).delivered, false);
  const [row] = (await h.ask(notificationChannels.messages, ref)).messages;
  assert.deepEqual([row?.state, row?.attempts], ['sent', 3], 'it was delivered once');
  const [stopped] = await h.own();
  assert.notEqual(stopped?.stoppedAt, null);
});

test('what waits, was answered, or is of others is not sent again', async (t) => {
  const h = await startAskingJob(t);
  const [phone] = await h.own();
  const ref = { workspaceId: h.workspaceId, channelId: phone?.channelId ?? '' };
  const uncertaintyId = await h.raise();
  const [waiting] = (await h.ask(notificationChannels.messages, ref)).messages;
  const again = { ...ref, notificationId: waiting?.notificationId ?? '' };
  const refused = await h.ask(notificationChannels.sendAgain, again);
  assert.match(refused.failure ?? '', /still to be sent/);
  await h.send();
  await h.answer(uncertaintyId);
  const late = await h.ask(notificationChannels.sendAgain, again);
  assert.deepEqual([late.delivered, late.failure], [false, 'Its question is not open any more.']);
  assert.equal(h.receiver.messages.length, 1);
  const { channel } = await h.add({ url: `${h.receiver.url}/other` });
  const elsewhere = { ...again, channelId: channel.channelId };
  await assert.rejects(
    h.ask(notificationChannels.sendAgain, elsewhere),
    /"NOTIFICATION_NOT_FOUND"/,
  );
});
