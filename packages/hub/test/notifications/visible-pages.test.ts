import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { consoleEndpoints, endpoints } from '@signalbox/contract';
import { MINUTE_MS, startAskingJob } from '../support/outbox-world.ts';
import { until } from '../support/until.ts';

const { notifications } = consoleEndpoints;

/** Ada, with pages of the console; Grace owns the workspace and has none. */
async function startPages(t: TestContext) {
  const h = await startAskingJob(t);
  await h.addMember('Grace Hopper', 'owner');
  const { workspaceId } = h;
  const report = async (more: { isVisible?: boolean; pageId?: string; shows?: string } = {}) => {
    const { isVisible = true, pageId = 'first', shows } = more;
    const shown = shows === undefined ? {} : { uncertaintyId: shows };
    const page = { workspaceId, pageId, isVisible, ...shown };
    return (await h.ask(notifications.reportPage, page)).seen;
  };
  const seconds = (count: number) => h.clock.advance(count * 1_000);
  const states = async (uncertaintyId: string) =>
    (await h.told(uncertaintyId)).map(({ personName, state }) => `${personName}: ${state}`);
  return { ...h, report, seconds, states };
}

test('a page that shows the question suppresses the message to its person alone', async (t) => {
  const h = await startPages(t);
  await h.report();
  const uncertaintyId = await h.raise();
  assert.deepEqual(await h.sendAll(), []);
  assert.equal(await h.report({ shows: uncertaintyId }), true);
  h.seconds(2);
  assert.deepEqual(await h.sendAll(), []);
  assert.deepEqual(await h.states(uncertaintyId), ['Ada Lovelace: seen', 'Grace Hopper: waiting']);
  h.clock.advance(15 * MINUTE_MS);
  assert.deepEqual(await h.sendAll(), ['grace']);
});

test('a page that shows the question leaves a channel alone that comes later', async (t) => {
  const h = await startPages(t);
  await h.add({ name: 'Later', url: `${h.receiver.url}/ada-later`, afterMinutes: 2 });
  await h.report();
  const uncertaintyId = await h.raise();
  assert.equal(await h.report({ shows: uncertaintyId }), true);
  const states = (await h.states(uncertaintyId)).toSorted();
  assert.deepEqual(states, [
    'Ada Lovelace: seen',
    'Ada Lovelace: waiting',
    'Grace Hopper: waiting',
  ]);
  h.clock.advance(2 * MINUTE_MS);
  assert.deepEqual(await h.sendAll(), ['ada-later'], 'the page was closed since');
});

test('a visible page that shows another question delays the message by a second', async (t) => {
  const h = await startPages(t);
  const other = await h.raise({ prompt: 'Another?' });
  await h.sendAll();
  assert.equal(await h.report({ shows: other }), false, 'it was sent before');
  const uncertaintyId = await h.raise();
  assert.deepEqual(await h.sendAll(), ['ada']);
  await h.report({ shows: other });
  h.clock.advance(999);
  assert.deepEqual(await h.sendAll(), ['ada']);
  h.clock.advance(1);
  // Any hub sends it: the wait is in its row.
  await h.sender.sendDue();
  await h.sender.idle();
  assert.deepEqual(h.topics(), ['ada', 'ada']);
  assert.equal(await h.report({ shows: uncertaintyId }), false);
  assert.equal((await h.states(uncertaintyId))[0], 'Ada Lovelace: sent');
});

test('a page that was hidden, or has not reported for 45 s, delays nothing', async (t) => {
  const h = await startPages(t);
  await h.report({ pageId: 'hidden' });
  await h.report({ pageId: 'hidden', isVisible: false });
  await h.raise();
  assert.deepEqual(await h.sendAll(), ['ada']);
  await h.report({ pageId: 'closed' });
  h.seconds(45);
  await h.raise({ prompt: 'Again?' });
  assert.deepEqual(await h.sendAll(), ['ada', 'ada']);
  await h.hub.loops.notificationRetention.runOnce();
  const sql = 'SELECT page_id FROM visible_pages';
  assert.deepEqual(await h.hub.database.reader.allSql(sql, []), []);
});

test('one visible page is enough, and hiding another does not change it', async (t) => {
  const h = await startPages(t);
  await h.report({ pageId: 'desk' });
  await h.report({ pageId: 'phone' });
  await h.report({ pageId: 'phone', isVisible: false });
  const uncertaintyId = await h.raise();
  assert.deepEqual(await h.sendAll(), []);
  await h.report({ pageId: 'desk', shows: uncertaintyId });
  h.seconds(2);
  assert.deepEqual(await h.sendAll(), []);
});

test('a channel that others read is told as if no page was visible', async (t) => {
  const h = await startPages(t);
  await h.add({ kind: 'webhook', name: 'Room', url: `${h.receiver.url}/room` });
  await h.report();
  const uncertaintyId = await h.raise();
  await h.sendAll();
  const paths = () => h.receiver.messages.map(({ path }) => path);
  assert.deepEqual(paths(), ['/room']);
  await h.report({ shows: uncertaintyId });
  h.seconds(2);
  await h.sendAll();
  assert.deepEqual(paths(), ['/room']);
});

test('a page that shows the question before the turn of its person does not take the turn', async (t) => {
  const h = await startPages(t);
  const { workspaceId, repoId } = h;
  const { repo } = await h.call(endpoints.repositories.get, { workspaceId, repoId });
  const grace = (await h.ask(consoleEndpoints.members.list, { workspaceId })).members.find(
    ({ name }) => name === 'Grace Hopper',
  );
  await h.ask(endpoints.repositories.upsert, {
    workspaceId,
    remoteUrlHash: repo.remoteUrlHash,
    askOrder: { personIds: [String(grace?.personId), null], minutes: 5 },
  });
  const uncertaintyId = await h.raise();
  assert.equal(await h.report({ shows: uncertaintyId }), false);
  assert.deepEqual(await h.sendAll(), ['grace']);
  h.clock.advance(5 * MINUTE_MS);
  await h.report();
  assert.deepEqual(await h.sendAll(), ['grace'], 'its page is asked first');
  assert.equal(await h.report({ shows: uncertaintyId }), true);
  h.seconds(2);
  assert.deepEqual(await h.sendAll(), ['grace']);
});

test('a message that waits for a page is announced to it, so that it reports', async (t) => {
  const h = await startPages(t);
  await h.report();
  await h.raise();
  const announced: string[] = [];
  const { leave } = h.hub.feed.listen(h.workspaceId, {
    onChanges: ({ changes }) => announced.push(...changes.map(({ kind }) => kind)),
    onReset: () => assert.fail('a stream of one hub misses nothing'),
    onEnd: () => {},
  });
  t.after(leave);
  await h.send();
  await until('the announcement', () => announced.includes('uncertainty'));
});

test('a page that only repeats itself writes nothing, and stays visible', async (t) => {
  const h = await startPages(t);
  const uncertaintyId = await h.raise();
  await h.sendAll();
  await h.report({ shows: uncertaintyId });
  const untilAt = async () => {
    const sql = 'SELECT until_at FROM visible_pages';
    return (await h.hub.database.reader.allSql<{ until_at: number }>(sql, []))[0]?.until_at;
  };
  const first = await untilAt();
  h.seconds(10);
  await h.report({ shows: uncertaintyId });
  assert.equal(await untilAt(), first);
  h.seconds(10);
  await h.report();
  assert.equal(await untilAt(), (first ?? 0) + 20_000);
});
