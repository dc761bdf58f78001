import assert from 'node:assert/strict';
import { test } from 'node:test';
import { consoleEndpoints, endpoints, TRIGGERS_MAX } from '@signalbox/contract';
import {
  countRows,
  type IntegrationWorld,
  startIntegrationWorld,
  type TriggerDraft,
} from '../support/integration-world.ts';

const { integrationEvents, repositories, runs, triggers } = endpoints;
const { triggerSettings, auditLog } = consoleEndpoints;
const HOUR_MS = 60 * 60 * 1_000;
const DAY_MS = 24 * HOUR_MS;

const outcomesOf = async (world: IntegrationWorld, eventId: string) =>
  (await world.readEvent(eventId)).firings.map(({ outcome, reason }) => reason ?? outcome);

test('only a matching and enabled trigger starts a run, and the ledger says why others did not', async (t) => {
  const world = await startIntegrationWorld(t);
  const { workspaceId } = world.home;
  const fits = await world.addTrigger();
  const where = [{ path: 'data.number', op: 'eq' as const, value: 1 }];
  const other = await world.addTrigger({ match: { where } });
  const off = await world.addTrigger({ enabled: false });
  const { eventId, triggered } = await world.ingest();
  assert.deepEqual(
    triggered.map(({ triggerId }) => triggerId),
    [fits.triggerId],
  );
  const { unmatched, firings } = await world.readEvent(eventId);
  assert.deepEqual(unmatched, [{ triggerId: other.triggerId, failed: 'where/0' }]);
  assert.ok(firings.every(({ triggerId }) => triggerId !== off.triggerId));
  await world.atConsole(triggerSettings.enable, { workspaceId, triggerId: off.triggerId });
  await world.atConsole(triggerSettings.disable, { workspaceId, triggerId: fits.triggerId });
  const next = await world.ingest();
  assert.deepEqual(
    next.triggered.map(({ triggerId }) => triggerId),
    [off.triggerId],
  );
  const { trigger } = await world.call(triggers.get, { workspaceId, triggerId: fits.triggerId });
  assert.equal(trigger.enabled, false);
  assert.ok(trigger.lastFiredAt !== null);
});

test('all triggers of an event share one budget of patterns, and the ledger names those left out', async (t) => {
  const world = await startIntegrationWorld(t);
  const value = '(?i)(?:\\pL{1,40}){2}z|$';
  const where = [{ path: 'content', op: 'matches' as const, value }];
  for (let count = 0; count < 8; count++) await world.addTrigger({ match: { where } });
  const { eventId } = await world.ingest({ content: 'a'.repeat(10_000) });
  const { unmatched, firings } = await world.readEvent(eventId);
  assert.ok(firings.length > 0, 'the first ones are tried');
  assert.ok(unmatched.length > 0, 'the last ones are not');
  assert.deepEqual(new Set(unmatched.map(({ failed }) => failed)), new Set(['budget']));
});

test('events with one reference share a run and get a job each', async (t) => {
  const world = await startIntegrationWorld(t);
  const { workspaceId, repoId } = world.home;
  await world.addTrigger({ titleTemplate: '{{event.title}}' });
  const known = await world.call(runs.upsertV1, {
    workspaceId,
    repoId,
    runRef: 'issue-7',
    status: 'in_progress',
    title: 'As it was',
  });
  const first = await world.ingest({ data: { number: 7 } });
  const second = await world.ingest({ data: { number: 7 }, title: 'New words' });
  const third = await world.ingest({ data: { number: 8 }, title: 'Another thing' });
  const runIds = [first, second, third].map(({ triggered }) => triggered[0]?.runId);
  assert.deepEqual(runIds.slice(0, 2), [known.runId, known.runId]);
  assert.equal(await countRows(world, 'jobs'), 3);
  const { run } = await world.call(runs.get, { workspaceId, runId: known.runId });
  assert.partialDeepStrictEqual(run, { title: 'As it was', status: 'in_progress' });
  const made = await world.call(runs.get, { workspaceId, runId: runIds[2] ?? '' });
  assert.partialDeepStrictEqual(made.run, { title: 'Another thing', status: 'planned' });
});

test('a long reference is cut and stays unique', async (t) => {
  const world = await startIntegrationWorld(t);
  const { workspaceId } = world.home;
  await world.addTrigger({ runRefTemplate: 'x\n{{event.data.ref}}' });
  const refs: string[] = [];
  for (const end of ['a', 'b']) {
    const { triggered } = await world.ingest({ data: { ref: `${'long '.repeat(100)}${end}` } });
    const { run } = await world.call(runs.get, { workspaceId, runId: triggered[0]?.runId ?? '' });
    refs.push(run.runRef);
  }
  assert.equal(new Set(refs).size, 2);
  for (const ref of refs) assert.match(ref, /^x long long .{1,250}-[0-9a-f]{16}$/);
});

test('an hourly cap counts the runs of the last hour, and the ledger says capped', async (t) => {
  const world = await startIntegrationWorld(t);
  const trigger = await world.addTrigger({ hourlyCap: 2 });
  const burst = await Promise.all(Array.from({ length: 10 }, () => world.ingest()));
  const started = burst.filter(({ triggered }) => triggered.length === 1);
  assert.equal(started.length, 2);
  assert.equal(await countRows(world, 'jobs'), 2);
  const capped = burst.find(({ triggered }) => triggered.length === 0);
  assert.deepEqual(await outcomesOf(world, capped?.eventId ?? ''), ['capped']);
  world.clock.advance(HOUR_MS - 1);
  assert.deepEqual((await world.ingest()).triggered, []);
  world.clock.advance(1);
  assert.equal((await world.ingest()).triggered[0]?.triggerId, trigger.triggerId);
});

test('a trigger that cannot start a run says why, and the event is kept', async (t) => {
  const world = await startIntegrationWorld(t);
  const { workspaceId, repoId } = world.home;
  await world.addTrigger({ promptTemplate: '{{event.data.none}}' });
  const empty = await world.ingest();
  assert.deepEqual(await outcomesOf(world, empty.eventId), ['prompt_empty']);
  const label = 'archived';
  const remoteUrlHash = Buffer.from('first'.padEnd(32, '.')).toString('hex');
  await world.call(repositories.upsert, { workspaceId, remoteUrlHash, label, status: 'archived' });
  const archived = await world.ingest();
  assert.deepEqual(await outcomesOf(world, archived.eventId), ['repository_archived']);
  assert.ok(archived.contextItemId !== null);
  assert.equal(await countRows(world, 'jobs'), 0);
  assert.ok(repoId !== '');
});

test('a test says what a trigger would do with an event, and changes nothing', async (t) => {
  const world = await startIntegrationWorld(t);
  const { workspaceId, repoId } = world.home;
  const { eventId } = await world.ingest({ data: { number: 9 } });
  const where = [{ path: 'data.number', op: 'eq' as const, value: 9 }];
  const fits = await world.addTrigger({ enabled: false, match: { where }, priority: 3 });
  const other = await world.addTrigger({ match: { type: 'issue.closed' } });
  const empty = await world.addTrigger({ promptTemplate: '{{event.data.none}}' });
  const ask = async (triggerId: string) =>
    (await world.call(integrationEvents.testTrigger, { workspaceId, eventId, triggerId })).test;
  const would = await ask(fits.triggerId);
  assert.partialDeepStrictEqual(would, {
    failed: null,
    refused: null,
    job: { repoId, priority: 3, runRef: 'issue-9', runTitle: 'Issues' },
  });
  assert.match(would.job?.prompt ?? '', /Untrusted text .*health check/s);
  assert.deepEqual(await ask(other.triggerId), { failed: 'type', refused: null, job: null });
  assert.deepEqual(await ask(empty.triggerId), {
    failed: null,
    refused: 'prompt_empty',
    job: null,
  });
  for (const table of ['jobs', 'runs', 'trigger_firings'] as const) {
    assert.equal(await countRows(world, table), 0, table);
  }
  const schedule = await world.addTrigger({ type: 'schedule', cron: '0 9 * * *' });
  const ref = { workspaceId, eventId, triggerId: schedule.triggerId };
  const { body } = await world.send(integrationEvents.testTrigger.path, ref);
  assert.equal(body.error, 'INVALID_REQUEST');
});

test('the latest firings of a trigger are listed, each with its event', async (t) => {
  const world = await startIntegrationWorld(t);
  const { workspaceId } = world.home;
  const { triggerId } = await world.addTrigger({ hourlyCap: 1 });
  await world.addTrigger();
  const first = await world.ingest();
  world.clock.advance(1);
  const second = await world.ingest();
  const { firings } = await world.call(triggers.listFirings, { workspaceId, triggerId });
  assert.deepEqual(
    firings.map(({ eventId, firing }) => [eventId, firing.outcome, firing.jobId !== null]),
    [
      [second.eventId, 'capped', false],
      [first.eventId, 'started', true],
    ],
  );
});

test('a replay matches the current triggers and starts nothing twice', async (t) => {
  const world = await startIntegrationWorld(t);
  const { workspaceId } = world.home;
  const first = await world.addTrigger();
  const { eventId, contextItemId, triggered } = await world.ingest();
  const later = await world.addTrigger({ name: 'Later', runRefTemplate: 'later' });
  const replays = await Promise.all(
    Array.from({ length: 5 }, () => world.call(integrationEvents.replay, { workspaceId, eventId })),
  );
  assert.deepEqual(new Set(replays.map(({ replay }) => replay)), new Set([1, 2, 3, 4, 5]));
  for (const { replay, firings } of replays) {
    const [again, added] = firings;
    assert.partialDeepStrictEqual(again, {
      triggerId: first.triggerId,
      replay,
      outcome: 'already_started',
      runId: triggered[0]?.runId,
      jobId: triggered[0]?.jobId,
    });
    assert.equal(added?.triggerId, later.triggerId);
    assert.equal(added?.outcome, replay === 1 ? 'started' : 'already_started');
  }
  assert.equal(await countRows(world, 'jobs'), 2);
  assert.equal(await countRows(world, 'context_items'), 1);
  const event = await world.readEvent(eventId);
  assert.partialDeepStrictEqual(event, { replays: 5, contextItemId });
  assert.equal(event.firings.length, 11);
  const repeated = await world.sendEvent(world.event({ idempotencyKey: 'once' }));
  assert.equal(repeated.body.duplicate, false);
  const { entries } = await world.atConsole(auditLog.list, {
    workspaceId,
    action: 'integration-event.replay',
  });
  assert.equal(entries.length, 5);
});

test('a repeated delivery after a replay still gets the first answer', async (t) => {
  const world = await startIntegrationWorld(t);
  const { workspaceId } = world.home;
  await world.addTrigger();
  const body = world.event();
  const first = await world.sendEvent(body);
  await world.addTrigger({ name: 'Later', runRefTemplate: 'later' });
  const eventId = String(first.body.eventId);
  await world.call(integrationEvents.replay, { workspaceId, eventId });
  const again = await world.sendEvent(body);
  assert.deepEqual(again.body, { ...first.body, duplicate: true });
});

test('people create, change and delete triggers at the console, and each action is audited', async (t) => {
  const world = await startIntegrationWorld(t);
  const { workspaceId } = world.home;
  const { triggerId } = await world.addTrigger();
  const ref = { workspaceId, triggerId };
  const { trigger } = await world.atConsole(triggerSettings.update, {
    ...ref,
    name: 'Renamed',
    hourlyCap: 5,
    titleTemplate: '{{event.title}}',
    match: { source: 'tracker' },
  });
  assert.partialDeepStrictEqual(trigger, {
    name: 'Renamed',
    hourlyCap: 5,
    titleTemplate: '{{event.title}}',
    match: { source: 'tracker', where: [] },
  });
  await world.atConsole(triggerSettings.disable, ref);
  await world.atConsole(triggerSettings.enable, ref);
  const { triggers: listed } = await world.call(triggers.list, { workspaceId, type: 'event' });
  assert.deepEqual(
    listed.map((row) => row.name),
    ['Renamed'],
  );
  assert.deepEqual(await world.atConsole(triggerSettings.delete, ref), { ok: true, deleted: true });
  await world.refuse(triggers.get, ref, 'TRIGGER_NOT_FOUND');
  const { entries } = await world.atConsole(auditLog.list, { workspaceId, subject: triggerId });
  assert.deepEqual(
    entries.map(({ action }) => action),
    ['delete', 'enable', 'disable', 'update', 'create'].map((verb) => `trigger.${verb}`),
  );
});

const refused: [what: string, draft: TriggerDraft, code: string][] = [
  ['an event trigger with a schedule', { cron: '0 9 * * *' }, 'INVALID_REQUEST'],
  ['a time zone without a schedule', { timeZone: 'UTC' }, 'INVALID_REQUEST'],
  [
    'a schedule that matches',
    { type: 'schedule', cron: '0 9 * * *', match: {} },
    'INVALID_REQUEST',
  ],
  ['a schedule without times', { type: 'schedule' }, 'INVALID_REQUEST'],
  ['six fields', { type: 'schedule', cron: '0 0 9 * * *' }, 'INVALID_REQUEST'],
  ['a nickname', { type: 'schedule', cron: '@daily' }, 'INVALID_REQUEST'],
  ['an invalid minute', { type: 'schedule', cron: '60 * * * *' }, 'INVALID_REQUEST'],
  ['a day that never comes', { type: 'schedule', cron: '0 0 30 2 *' }, 'INVALID_REQUEST'],
  [
    'an unknown time zone',
    { type: 'schedule', cron: '0 9 * * *', timeZone: 'Mars/Base' },
    'INVALID_REQUEST',
  ],
  ['a template of another kind', { promptTemplate: '{{process.env}}' }, 'INVALID_REQUEST'],
  [
    'a pattern that looks ahead',
    { match: { where: [{ path: 'title', op: 'matches', value: '(?=x)' }] } },
    'INVALID_REQUEST',
  ],
  ['an unknown repository', { repoId: 'repo_unknown' }, 'REPO_NOT_FOUND'],
  ['a cap of 0', { hourlyCap: 0 }, 'INVALID_REQUEST'],
];

test('a trigger that could never work is refused', async (t) => {
  const world = await startIntegrationWorld(t);
  const { workspaceId, repoId } = world.home;
  for (const [what, draft, code] of refused) {
    const answer = await world.owner.send(triggerSettings.create.path, {
      workspaceId,
      repoId,
      name: what,
      type: 'event',
      runRefTemplate: 'r',
      promptTemplate: 'p',
      ...(draft.type === 'schedule' ? {} : { match: {} }),
      ...draft,
    });
    assert.equal(answer.body.error, code, `${what}: ${answer.text}`);
  }
  assert.equal(await countRows(world, 'triggers'), 0);
  for (let made = 0; made < TRIGGERS_MAX; made++) await world.addTrigger({ enabled: false });
  const oneMore = { ...refused[0]?.[1], workspaceId, repoId, name: 'x', type: 'event', match: {} };
  const answer = await world.owner.send(triggerSettings.create.path, {
    ...oneMore,
    cron: undefined,
    runRefTemplate: 'r',
    promptTemplate: 'p',
  });
  assert.match(String(answer.body.message), /limit of 100 triggers/);
});

test('expired items and contents are deleted first, then the lines of the ledger', async (t) => {
  const world = await startIntegrationWorld(t);
  const { workspaceId } = world.home;
  await world.addTrigger();
  const retention = world.hub.loops.contentRetention;
  const body = world.event({ content: 'old words' });
  const first = await world.sendEvent(body);
  const eventId = String(first.body.eventId);
  world.clock.advance(2 * DAY_MS);
  await world.ingest({ content: 'new words' });
  await retention.runOnce();
  assert.equal(
    (await world.readEvent(eventId)).isForgotten,
    false,
    'the content has not been deleted yet',
  );
  // Set in the database, because the console session has expired by now.
  await world.hub.database.write(null, (tx) =>
    tx.runSql('UPDATE workspaces SET retention_days = 1 WHERE workspace_id = ?', [workspaceId]),
  );
  assert.partialDeepStrictEqual(await retention.runOnce(), {
    items: 1,
    contents: 1,
    events: 0,
    hasMore: false,
  });
  const event = await world.readEvent(eventId);
  assert.partialDeepStrictEqual(event, { isForgotten: true, title: null, data: null, actor: null });
  assert.equal(event.firings.length, 1);
  const replay = await world.send(integrationEvents.replay.path, { workspaceId, eventId });
  assert.match(String(replay.body.message), /content still exists/);
  // The key is still known: a late delivery starts nothing.
  assert.deepEqual((await world.sendEvent(body)).body, { ...first.body, duplicate: true });
  world.clock.advance(5 * DAY_MS + 1);
  await retention.runOnce();
  await world.refuse(integrationEvents.get, { workspaceId, eventId }, 'EVENT_NOT_FOUND');
  assert.equal(await countRows(world, 'integration_events'), 1);
  assert.equal(await countRows(world, 'trigger_firings'), 1);
  assert.equal(await countRows(world, 'context_items'), 0);
});
