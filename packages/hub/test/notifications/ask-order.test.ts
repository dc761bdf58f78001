import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type AskOrder, consoleEndpoints, consolePathOf, endpoints } from '@signalbox/contract';
import fc from 'fast-check';
import { updateRole } from '../../src/access/store.ts';
import type { NotificationRow } from '../../src/notifications/store.ts';
import { type Absences, passOver } from '../../src/notifications/turns.ts';
import { MINUTE_MS, question, startAskingJob } from '../support/outbox-world.ts';
import { listAudit } from '../support/people.ts';

const { notifications } = consoleEndpoints;

/** Ada enqueued the job and is the only owner; Grace, Linus and Edsger are members. */
async function startTeam(t: TestContext) {
  const h = await startAskingJob(t);
  const ada = h.person.personId;
  await h.hub.database.write(h.workspaceId, (tx) => updateRole(tx, h.workspaceId, ada, 'owner'));
  const grace = await h.addMember('Grace Hopper');
  const linus = await h.addMember('Linus Torvalds');
  const edsger = await h.addMember('Edsger Dijkstra');
  const { repo } = await h.call(endpoints.repositories.get, {
    workspaceId: h.workspaceId,
    repoId: h.repoId,
  });
  const order = async (personIds: AskOrder['personIds'], minutes = 5) => {
    const askOrder = { personIds, minutes };
    const { workspaceId } = h;
    const { remoteUrlHash } = repo;
    return await h.ask(endpoints.repositories.upsert, { workspaceId, remoteUrlHash, askOrder });
  };
  const leave = (personId: string) =>
    h.ask(consoleEndpoints.members.remove, { workspaceId: h.workspaceId, personId });
  const minutes = (count: number) => h.clock.advance(count * MINUTE_MS);
  return { ...h, ids: { grace, linus, edsger }, repo, order, leave, minutes };
}

test('persons are told in the order of the repository, and then the owners', async (t) => {
  const h = await startTeam(t);
  await h.order([h.ids.linus, h.ids.grace]);
  const uncertaintyId = await h.raise();
  assert.deepEqual(await h.sendAll(), ['linus']);
  const listed = await h.told(uncertaintyId);
  assert.deepEqual(
    listed.map(({ personName, state }) => [personName, state]),
    [
      ['Linus Torvalds', 'sent'],
      ['Grace Hopper', 'waiting'],
      ['Ada Lovelace', 'waiting'],
    ],
  );
  const askedMs = Date.parse(listed[0]?.createdAt ?? '');
  const dueMinutes = listed.map(({ dueAt }) => dueAt && (Date.parse(dueAt) - askedMs) / MINUTE_MS);
  assert.deepEqual(dueMinutes, [null, 5, 20]);
  h.clock.advance(5 * MINUTE_MS - 1);
  assert.deepEqual(await h.sendAll(), ['linus']);
  h.clock.advance(1);
  assert.deepEqual(await h.sendAll(), ['linus', 'grace']);
  h.minutes(15);
  assert.deepEqual(await h.sendAll(), ['linus', 'grace', 'ada']);
});

test('the person who enqueued the job has a place in the order', async (t) => {
  const h = await startTeam(t);
  await h.order([h.ids.linus, null]);
  await h.raise();
  h.minutes(5);
  assert.deepEqual(await h.sendAll(), ['linus', 'ada']);
});

test('two hubs tell each person once, also when one leaves while both send', async (t) => {
  const h = await startTeam(t);
  await h.order([h.ids.linus, h.ids.grace, h.ids.edsger]);
  await h.raise();
  const both = async () => {
    await Promise.all([h.sender.sendDue(), h.hub.loops.notifications.runOnce()]);
    await h.sender.idle();
  };
  await both();
  assert.deepEqual(h.topics(), ['linus']);
  h.minutes(5);
  await Promise.all([both(), h.leave(h.ids.linus)]);
  await both();
  assert.deepEqual(h.topics(), ['linus', 'grace']);
  await h.leave(h.ids.grace);
  await both();
  assert.deepEqual(h.topics(), ['linus', 'grace', 'edsger']);
});

test('a channel of a person comes some minutes later, if the question is still open', async (t) => {
  const h = await startTeam(t);
  await h.order([null, h.ids.grace]);
  await h.add({ name: 'Later', url: `${h.receiver.url}/ada-later`, afterMinutes: 2 });
  const [answered, open] = [await h.raise(), await h.raise({ prompt: 'And this?' })];
  assert.deepEqual(await h.sendAll(), ['ada', 'ada']);
  await h.answer(answered);
  h.clock.advance(2 * MINUTE_MS - 1);
  assert.deepEqual((await h.sendAll()).slice(2), []);
  h.clock.advance(1);
  assert.deepEqual((await h.sendAll()).slice(2), ['ada-later']);
  h.minutes(3);
  assert.deepEqual((await h.sendAll()).slice(2), ['ada-later', 'grace'], 'as without the delay');
  const states = (await h.told(open)).map(({ state }) => state);
  assert.deepEqual(states, ['sent', 'sent', 'sent']);
});

test('a channel that comes later keeps its minutes when the turn of its person comes earlier', async (t) => {
  const h = await startTeam(t);
  await h.order([h.ids.linus, null, h.ids.grace]);
  await h.add({ name: 'Later', url: `${h.receiver.url}/ada-later`, afterMinutes: 7 });
  await h.raise();
  assert.deepEqual(await h.sendAll(), ['linus']);
  h.minutes(1);
  await h.leave(h.ids.linus);
  assert.deepEqual(await h.sendAll(), ['linus', 'ada'], 'four minutes early');
  h.minutes(2);
  await h.leave(h.ids.grace);
  h.minutes(4);
  assert.deepEqual(await h.sendAll(), ['linus', 'ada']);
  h.minutes(1);
  assert.deepEqual(await h.sendAll(), ['linus', 'ada', 'ada-later']);
});

test('an answer in between ends the order', async (t) => {
  const h = await startTeam(t);
  await h.order([h.ids.linus, h.ids.grace]);
  const uncertaintyId = await h.raise();
  await h.sendAll();
  await h.answer(uncertaintyId);
  h.minutes(60);
  assert.deepEqual(await h.sendAll(), ['linus']);
});

test('a person who leaves is passed over at once, also after being told', async (t) => {
  const h = await startTeam(t);
  await h.order([h.ids.linus, h.ids.grace, h.ids.edsger]);
  const uncertaintyId = await h.raise();
  assert.deepEqual(await h.sendAll(), ['linus']);
  h.minutes(1);
  await h.leave(h.ids.grace);
  assert.deepEqual(await h.sendAll(), ['linus'], 'Linus has his five minutes');
  h.minutes(1);
  await h.leave(h.ids.linus);
  assert.deepEqual(await h.sendAll(), ['linus', 'edsger'], 'three minutes early');
  const listed = await h.told(uncertaintyId);
  assert.deepEqual(
    listed.map(({ personName, state, failure }) => [personName, state, failure]),
    [
      ['Linus Torvalds', 'sent', null],
      ['Edsger Dijkstra', 'sent', null],
      ['Grace Hopper', 'skipped', 'Left the workspace.'],
      ['Ada Lovelace', 'waiting', null],
    ],
  );
  h.minutes(14);
  assert.equal((await h.sendAll()).length, 2);
  h.minutes(1);
  assert.deepEqual(await h.sendAll(), ['linus', 'edsger', 'ada']);
});

test('a person who is out of office is passed over at once, until the day comes', async (t) => {
  const h = await startTeam(t);
  await h.order([null, h.ids.grace]);
  const asked = await h.raise();
  assert.deepEqual(await h.sendAll(), ['ada']);
  h.minutes(1);
  const absentUntil = new Date(h.clock.nowMs() + 30 * MINUTE_MS).toISOString();
  await h.ask(notifications.setAbsence, { absentUntil });
  assert.deepEqual(await h.sendAll(), ['ada', 'grace'], 'the next one has what waited');
  const second = await h.raise({ prompt: 'And now?' });
  assert.deepEqual(await h.sendAll(), ['ada', 'grace', 'grace']);
  const [skipped] = await h.told(second);
  const until = absentUntil.slice(0, 16).replace('T', ' ');
  assert.deepEqual(
    [skipped?.personName, skipped?.state, skipped?.failure],
    ['Ada Lovelace', 'skipped', `Out of office until ${until} UTC.`],
  );
  const members = async () => {
    const { workspaceId } = h;
    const listed = await h.ask(consoleEndpoints.members.list, { workspaceId });
    return listed.members.map((one) => one.absentUntil).filter((one) => one !== null);
  };
  assert.deepEqual(await members(), [absentUntil]);
  for (const uncertaintyId of [asked, second]) await h.answer(uncertaintyId);
  h.minutes(30);
  assert.deepEqual(await members(), []);
  await h.raise({ prompt: 'Back?' });
  assert.deepEqual((await h.sendAll()).slice(3), ['ada']);
});

test('of the jobs of a person who is out of office, members are told at once', async (t) => {
  const h = await startTeam(t);
  const absentUntil = new Date(h.clock.nowMs() + MINUTE_MS).toISOString();
  await h.ask(notifications.setAbsence, { absentUntil });
  await h.raise();
  assert.deepEqual((await h.sendAll()).toSorted(), ['edsger', 'grace', 'linus']);
});

test('an absence in the past, or of more than a year, is refused', async (t) => {
  const h = await startAskingJob(t);
  for (const aheadMs of [0, 367 * 24 * 60 * MINUTE_MS]) {
    const absentUntil = new Date(h.clock.nowMs() + aheadMs).toISOString();
    const path = consolePathOf(notifications.setAbsence);
    assert.equal((await h.person.send(path, { absentUntil })).body.error, 'INVALID_REQUEST');
  }
});

test('a person whose channel is gone is passed over', async (t) => {
  const h = await startTeam(t);
  await h.order([h.ids.linus, h.ids.grace]);
  h.receiver.answerWith({ status: 410 });
  await h.raise();
  assert.deepEqual(await h.sendAll(), ['linus', 'grace']);
});

test('who has left before the question has no place in it', async (t) => {
  const h = await startTeam(t);
  await h.order([h.ids.linus, h.ids.grace]);
  await h.leave(h.ids.linus);
  await h.raise();
  assert.deepEqual(await h.sendAll(), ['grace']);
});

test('the order of a run comes before that of its repository, and only people set it', async (t) => {
  const h = await startTeam(t);
  const { workspaceId, runId } = h;
  const { linus, grace } = h.ids;
  const set = { workspaceId, runId, status: 'in_progress' };
  const askOrder = { personIds: [linus], minutes: 5 };
  await h.refuse(endpoints.runs.upsertV2, { ...set, askOrder }, 'NOT_ALLOWED');
  await h.order([grace]);
  const { run } = await h.ask(endpoints.runs.upsertV2, { ...set, askOrder });
  assert.deepEqual(run.askOrder, askOrder);
  const asked = { workspaceId, runId, ...question };
  await h.call(endpoints.uncertainties.createWithAutoPromotion, asked);
  assert.deepEqual(await h.sendAll(), ['linus']);
  await h.ask(endpoints.runs.upsertV2, set);
  await h.raise();
  assert.deepEqual(await h.sendAll(), ['linus', 'grace']);
  await h.ask(endpoints.runs.upsertV2, { ...set, askOrder: null });
  await h.call(endpoints.uncertainties.createWithAutoPromotion, { ...asked, prompt: 'Now?' });
  assert.deepEqual(await h.sendAll(), ['linus', 'grace', 'grace']);
  const audit = (await listAudit(h.hub, workspaceId)).filter(({ subject }) => subject === runId);
  assert.deepEqual(
    audit.map(({ action, data }) => [action, JSON.parse(data).askOrder]),
    [
      ['run.set-ask-order', askOrder],
      ['run.set-ask-order', null],
    ],
  );
});

test('an order of strangers, doubles or programs is refused', async (t) => {
  const h = await startTeam(t);
  const { grace } = h.ids;
  const send = async (personIds: AskOrder['personIds'], minutes = 5) => {
    const { workspaceId } = h;
    const body = {
      workspaceId,
      remoteUrlHash: h.repo.remoteUrlHash,
      askOrder: { personIds, minutes },
    };
    return (await h.person.send(consolePathOf(endpoints.repositories.upsert), body)).body;
  };

  assert.equal((await send([grace, grace])).error, 'INVALID_REQUEST');
  assert.equal((await send([])).error, 'INVALID_REQUEST');
  assert.equal((await send([h.hub.deps.ids('person')])).error, 'INVALID_REQUEST');
  assert.equal((await send([grace], 721)).error, 'INVALID_REQUEST');
  await assert.rejects(
    h.call(endpoints.repositories.upsert, {
      workspaceId: h.workspaceId,
      remoteUrlHash: h.repo.remoteUrlHash,
      askOrder: null,
    }),
    /NOT_ALLOWED/,
  );
  const { repo } = await h.order([grace]);
  assert.deepEqual(repo.askOrder, { personIds: [grace], minutes: 5 });
});

const rowAt = (person: number, turn: number, delay: number): NotificationRow => ({
  workspace_id: 'w',
  notification_id: `n${person}-${turn}`,
  event: 'decision',
  subject_id: 'u',
  person_id: `p${person}`,
  channel_id: `c${person}`,
  content: '{}',
  state: 'waiting',
  attempts: 0,
  turn_at: turn * 10,
  due_at: turn * 10 + delay,
  held_by: null,
  failure: null,
  receipt: null,
  edit_at: null,
  created_at: 0,
  ended_at: null,
});

test('no absence loses, doubles or delays a turn, and passing over twice changes nothing', () => {
  const place = fc.record({ person: fc.nat(5), turn: fc.nat(4), delay: fc.nat(25) });
  const absent = fc.uniqueArray(fc.nat(5));
  fc.assert(
    fc.property(fc.array(place, { minLength: 1 }), absent, fc.nat(50), (places, gone, nowMs) => {
      const rows = places.map(({ person, turn, delay }) => rowAt(person, turn, delay));
      const left = gone.map((one) => [`p${one}`, { untilMs: null, reason: 'Left.' }] as const);
      const absences: Absences = new Map(left);
      const after = passOver(rows, absences, nowMs);
      assert.equal(after.length, rows.length);
      const byId = (all: readonly NotificationRow[]) =>
        all.toSorted((a, b) => a.notification_id.localeCompare(b.notification_id));
      for (const [at, row] of byId(rows).entries()) {
        const then = byId(after)[at] as NotificationRow;
        const isGone = absences.has(row.person_id);
        assert.equal(then.state, isGone ? 'skipped' : 'waiting');
        const delay = Number(row.due_at) - row.turn_at;
        assert.equal(then.due_at, isGone ? null : then.turn_at + delay);
        assert.ok(then.turn_at <= row.turn_at, 'no turn comes later');
      }
      const told = after.filter(({ state }) => state === 'waiting').map(({ turn_at }) => turn_at);
      const first = Math.min(...rows.map(({ turn_at }) => turn_at));
      if (told.length > 0) assert.ok(Math.min(...told) <= Math.max(first, nowMs));
      assert.deepEqual(byId(passOver(after, absences, nowMs)), byId(after));
    }),
  );
});
