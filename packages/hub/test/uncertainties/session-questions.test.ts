import assert from 'node:assert/strict';
import { request } from 'node:http';
import { type TestContext, test } from 'node:test';
import {
  consoleEndpoints,
  consolePathOf,
  type Endpoint,
  endpoints,
  hashRemoteUrl,
  type RequestOf,
  SESSION_GONE_MS,
  SESSION_LEASE_MS,
  type Uncertainty,
} from '@signalbox/contract';
import { sentencesOf } from '../../src/notifications/content.ts';
import { readUncertainty } from '../../src/uncertainties/store.ts';
import { addPerson, logDeviceIn, makeOwner, signInAs } from '../support/people.ts';
import { startTestHub } from '../support/test-hub.ts';
import { until } from '../support/until.ts';
import type { Visitor } from '../support/visitor.ts';

const { sessionQuestions, uncertainties, repositories } = endpoints;
const { notifications, notificationChannels, decisionRules } = consoleEndpoints;
const session = { tool: 'claude', machine: 'ada-laptop', sessionId: '636182fc' } as const;
const WAIT_MS = 25_000;

/** Ada, whose session asks, and Bob, an owner of the same workspace. */
async function startSessions(t: TestContext) {
  const hub = await startTestHub(t);
  const { browser: ada, workspaceId } = await makeOwner(hub);
  const { email } = await addPerson(hub, workspaceId, 'bob', 'owner');
  const bob = await signInAs(hub, email);
  const machine = hub.visitor().withToken(await logDeviceIn(hub, ada));
  const bobsMachine = hub.visitor().withToken(await logDeviceIn(hub, bob));
  const deadlineAt = new Date(hub.clock.nowMs() + 3_600_000).toISOString();
  const ask = (more: Partial<RequestOf<typeof sessionQuestions.ask>> = {}) =>
    machine.call(sessionQuestions.ask, {
      workspaceId,
      session,
      prompt: 'Claude Code asks to run a command: npm publish',
      deadlineAt,
      ...more,
    });
  const ref = (uncertaintyId: string) => ({ workspaceId, uncertaintyId });
  const atConsole = (person: Visitor, row: Endpoint, body: Record<string, unknown>) =>
    person.send(row.path.startsWith('/console-api/') ? row.path : consolePathOf(row), body);
  const answered = { mode: 'answered', confidence: 1 } as const;
  return {
    ...hub,
    ada,
    bob,
    machine,
    bobsMachine,
    workspaceId,
    ask,
    ref,
    atConsole,
    answer: (person: Visitor, uncertaintyId: string, value: string, more = {}) =>
      atConsole(person, uncertainties.addResolution, {
        ...ref(uncertaintyId),
        ...answered,
        value,
        ...more,
      }),
    read: async (uncertaintyId: string) =>
      (await machine.call(uncertainties.get, ref(uncertaintyId))).uncertainty,
    /** Resolves once a call that waits, or that has broken off, has written its lease. */
    untilLease: (uncertaintyId: string, leaseMs: number) =>
      until('the lease is written', async () => {
        const row = await readUncertainty(hub.database.reader, workspaceId, uncertaintyId);
        return row?.waited_until === hub.clock.nowMs() + leaseMs;
      }),
  };
}

const isWithdrawn = ({ status, resolution }: Uncertainty) =>
  status === 'resolved' && resolution?.mode === 'dismissed' && resolution.createdBy === null;

test('a session asks its person, and gets the first answer given at the console', async (t) => {
  const h = await startSessions(t);
  const remoteUrlHash = await hashRemoteUrl('git@git.acme.example:acme/api.git');
  const { repo } = await h.machine.call(repositories.upsert, {
    workspaceId: h.workspaceId,
    remoteUrlHash,
    label: 'acme/api',
  });
  const { uncertaintyId } = await h.ask({ remoteUrlHash, context: 'Command:\nnpm publish' });
  const whole = await h.machine.call(uncertainties.get, h.ref(uncertaintyId));
  assert.equal(whole.situation?.repository?.repoId, repo.repoId);
  assert.deepEqual([whole.situation?.writtenBy, whole.situation?.trust], ['tool', 'external']);
  assert.deepEqual(whole.uncertainty.session, session);
  const waiting = h.machine.call(sessionQuestions.wait, {
    ...h.ref(uncertaintyId),
    waitMs: WAIT_MS,
  });
  const undoMs = 5_000;
  assert.equal((await h.answer(h.ada, uncertaintyId, 'allow', { undoMs })).status, 200);
  // It can be undone, so the session does not have it.
  const asked = { ...h.ref(uncertaintyId), waitMs: 0 };
  assert.equal((await h.machine.call(sessionQuestions.wait, asked)).uncertainty.status, 'open');
  h.clock.advance(undoMs);
  await h.hub.loops.handOvers.runOnce();
  const { uncertainty } = await waiting;
  assert.deepEqual(
    [uncertainty.resolution?.value, uncertainty.resolution?.createdBy],
    ['allow', 'Ada Lovelace'],
  );
  for (const supersede of [false, true]) {
    const late = await h.answer(h.ada, uncertaintyId, 'refuse', { supersede });
    assert.equal(late.body.error, 'ALREADY_RESOLVED', late.body.message as string);
  }
  const { jobs } = await h.machine.call(endpoints.jobs.list, { workspaceId: h.workspaceId });
  assert.deepEqual(jobs, []);
});

test('only its person reads it, hears of it or answers it', async (t) => {
  const h = await startSessions(t);
  const { workspaceId } = h;
  const channel = { kind: 'ntfy', name: 'Phone', showsText: true } as const;
  for (const person of [h.ada, h.bob]) {
    await person.call(notificationChannels.put, {
      workspaceId,
      url: 'https://ntfy.example/topic-4711',
      ...channel,
      events: ['decision'],
    });
  }
  const { uncertaintyId } = await h.ask();
  const body = h.ref(uncertaintyId);
  const answer = { ...body, mode: 'answered', value: 'allow', confidence: 1 };
  const refused: [Endpoint, object][] = [
    [uncertainties.get, body],
    [uncertainties.addResolution, answer],
    [uncertainties.promote, body],
    [uncertainties.withdrawResolution, { ...body, resolutionId: 'res_1' }],
    [notifications.list, body],
    [decisionRules.preview, { ...body, scope: 'repository' }],
  ];
  for (const [row, sent] of refused) {
    const { body: reply } = await h.atConsole(h.bob, row, { ...sent });
    assert.equal(reply.error, 'UNCERTAINTY_NOT_FOUND', row.name);
  }
  for (const row of [sessionQuestions.wait, sessionQuestions.withdraw, uncertainties.wait]) {
    const { body: reply } = await h.bobsMachine.send(row.path, body);
    assert.equal(reply.error, 'UNCERTAINTY_NOT_FOUND', row.name);
  }
  const seenBy = async (machine: Visitor) => {
    const open = { workspaceId, status: 'open' } as const;
    const { uncertainties: listed } = await machine.call(uncertainties.list, open);
    const { uncertainties: inbox } = await machine.call(uncertainties.inbox, { workspaceId });
    const { counts } = await machine.call(uncertainties.counts, { workspaceId });
    return [listed.length, inbox.length, counts.open];
  };
  assert.deepEqual(await seenBy(h.machine), [1, 1, 1]);
  assert.deepEqual(await seenBy(h.bobsMachine), [0, 0, 0]);
  const told = await h.ada.call(notifications.list, body);
  assert.deepEqual(
    told.notifications.map(({ personName }) => personName),
    ['Ada Lovelace'],
  );
  const content = { jobTitle: null, question: 'Go?', recommended: null, outcome: null };
  const ofSession = {
    ...content,
    isApproval: true,
    deadlineAtMs: null,
    isOfSession: true,
    isLowRisk: false,
  };
  assert.equal(sentencesOf(ofSession, true).title, 'Your session asks you');
  // Its tool may reach the token of its machine.
  const own = await h.machine.send(uncertainties.addResolution.path, answer);
  assert.equal(own.body.error, 'NOT_ALLOWED');
  assert.match(String(own.body.message), /answer at the console/);
});

test('programs and jobs ask for no session', async (t) => {
  const h = await startSessions(t);
  const { token } = await h.ada.call(consoleEndpoints.serviceTokens.mint, {
    workspaceId: h.workspaceId,
    name: 'robot',
    scopes: ['decide', 'enqueue'],
  });
  const { body } = await h
    .visitor()
    .withToken(token)
    .send(sessionQuestions.ask.path, {
      ...sessionQuestions.ask.example.request,
      workspaceId: h.workspaceId,
    });
  assert.equal(body.error, 'NOT_ALLOWED');
});

test('a question is withdrawn when its session does not wait, and kept while it does', async (t) => {
  const h = await startSessions(t);
  const { uncertaintyId } = await h.ask();
  h.clock.advance(1);
  const waiting = h.machine.call(sessionQuestions.wait, {
    ...h.ref(uncertaintyId),
    waitMs: 60_000,
  });
  await h.untilLease(uncertaintyId, SESSION_LEASE_MS);
  h.clock.advance(SESSION_LEASE_MS - 1);
  await h.hub.loops.deadlines.runOnce();
  assert.equal((await h.read(uncertaintyId)).status, 'open');
  h.clock.advance(1);
  assert.equal((await waiting).uncertainty.status, 'open');
  await h.hub.loops.deadlines.runOnce();
  assert.ok(isWithdrawn(await h.read(uncertaintyId)));
  const late = await h.answer(h.ada, uncertaintyId, 'allow');
  assert.match(String(late.body.message), /^The session does not wait for an answer any more/);
});

test('a session whose call breaks off has seconds to come back', async (t) => {
  const h = await startSessions(t);
  const { uncertaintyId } = await h.ask();
  const leave = async () => {
    h.clock.advance(1);
    const call = request(h.address + sessionQuestions.wait.path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${h.machine.token}`,
      },
    });
    call.on('error', () => undefined);
    call.end(JSON.stringify({ ...h.ref(uncertaintyId), waitMs: WAIT_MS }));
    await h.untilLease(uncertaintyId, SESSION_LEASE_MS);
    call.destroy();
    await h.untilLease(uncertaintyId, SESSION_GONE_MS);
  };
  await leave();
  const again = h.machine.call(sessionQuestions.wait, { ...h.ref(uncertaintyId), waitMs: WAIT_MS });
  await h.untilLease(uncertaintyId, SESSION_LEASE_MS);
  h.clock.advance(SESSION_GONE_MS);
  await h.hub.loops.deadlines.runOnce();
  assert.equal((await h.read(uncertaintyId)).status, 'open');
  h.clock.advance(WAIT_MS);
  await again;
  await leave();
  h.clock.advance(SESSION_GONE_MS);
  await h.hub.loops.deadlines.runOnce();
  assert.ok(isWithdrawn(await h.read(uncertaintyId)));
});

test('a session takes its question back, once', async (t) => {
  const h = await startSessions(t);
  const { uncertaintyId } = await h.ask();
  for (const _time of [1, 2]) {
    const { uncertainty } = await h.machine.call(sessionQuestions.withdraw, h.ref(uncertaintyId));
    assert.ok(isWithdrawn(uncertainty));
    assert.equal(uncertainty.resolutions.length, 1);
  }
  const asked = await h.ask();
  await h.answer(h.ada, asked.uncertaintyId, 'refuse');
  const kept = await h.machine.call(sessionQuestions.withdraw, h.ref(asked.uncertaintyId));
  assert.equal(kept.uncertainty.resolution?.value, 'refuse');
});
