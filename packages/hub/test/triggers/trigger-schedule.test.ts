import assert from 'node:assert/strict';
import { test } from 'node:test';
import { consoleEndpoints, endpoints } from '@signalbox/contract';
import { fireDueSchedules } from '../../src/triggers/fire-schedules.ts';
import { countMissed, MISSED_SLOTS_MAX, nextSlot } from '../../src/triggers/schedule.ts';
import {
  countRows,
  type IntegrationWorld,
  startIntegrationWorld,
} from '../support/integration-world.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { takeDatabase } from '../support/test-engine.ts';

const { triggers, jobs, jobEvents, runs } = endpoints;
const { triggerSettings } = consoleEndpoints;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** The next slots after a time, in UTC. */
function slotsAfter(cron: string, timeZone: string, after: string, count: number): string[] {
  const slots: string[] = [];
  let at: number | null = Date.parse(after);
  while (slots.length < count) {
    at = nextSlot({ cron, timeZone }, at);
    assert.ok(at !== null);
    slots.push(new Date(at).toISOString().replace(':00.000Z', 'Z'));
  }
  return slots;
}

const summerTime: [what: string, cron: string, zone: string, after: string, slots: string[]][] = [
  [
    'a slot in the hour that summer time skips fires right after it',
    '30 2 * * *',
    'Europe/Berlin',
    '2026-03-27T12:00Z',
    ['2026-03-28T01:30Z', '2026-03-29T01:00Z', '2026-03-30T00:30Z'],
  ],
  [
    'a slot in the hour that occurs twice fires once',
    '30 2 * * *',
    'Europe/Berlin',
    '2026-10-24T12:00Z',
    ['2026-10-25T00:30Z', '2026-10-26T01:30Z'],
  ],
  [
    'a schedule that repeats within the hour fires in both hours',
    '*/30 * * * *',
    'Europe/Berlin',
    '2026-10-24T23:50Z',
    ['2026-10-25T00:00Z', '2026-10-25T00:30Z', '2026-10-25T01:00Z', '2026-10-25T01:30Z'],
  ],
  [
    'New York changes its clocks in a different week',
    '0 9 * * MON-FRI',
    'America/New_York',
    '2026-03-06T15:00Z',
    ['2026-03-09T13:00Z', '2026-03-10T13:00Z'],
  ],
  [
    'a zone without summer time does not shift',
    '0 9 * * *',
    'Asia/Kolkata',
    '2026-03-28T12:00Z',
    ['2026-03-29T03:30Z', '2026-03-30T03:30Z'],
  ],
];
for (const [what, cron, zone, after, slots] of summerTime) {
  test(what, () => assert.deepEqual(slotsAfter(cron, zone, after, slots.length), slots));
}

test('missed slots are counted up to a bound', () => {
  const schedule = { cron: '* * * * *', timeZone: 'UTC' };
  const slotMs = Date.UTC(2026, 10, 2, 9);
  assert.equal(countMissed(schedule, slotMs, slotMs), 0);
  assert.equal(countMissed(schedule, slotMs, slotMs + 3 * MINUTE_MS - 1), 2);
  assert.equal(countMissed(schedule, slotMs, slotMs + 365 * 24 * HOUR_MS), MISSED_SLOTS_MAX);
});

const daily = {
  type: 'schedule',
  cron: '0 10 * * *',
  timeZone: 'UTC',
  runRefTemplate: 'daily-{{schedule.slotAt}}',
  promptTemplate: 'Look after {{trigger.name}}.',
} as const;

function runSchedule(world: IntegrationWorld) {
  return fireDueSchedules(world.hub.deps, 100);
}

test('a schedule fires once in its slot, no matter how many hubs look', async (t) => {
  const world = await startIntegrationWorld(t);
  const { workspaceId } = world.home;
  const { triggerId, nextFireAt } = await world.addTrigger(daily);
  assert.equal(nextFireAt, '2026-11-02T10:00:00.000Z');
  assert.deepEqual(await runSchedule(world), { due: 0, fired: 0 });
  world.clock.advance(HOUR_MS);
  const results = await Promise.all(Array.from({ length: 20 }, () => runSchedule(world)));
  assert.equal(
    results.reduce((sum, { fired }) => sum + fired, 0),
    1,
  );
  assert.deepEqual(await runSchedule(world), { due: 0, fired: 0 });
  const { jobs: made } = await world.call(jobs.list, { workspaceId });
  assert.equal(made.length, 1);
  assert.partialDeepStrictEqual(made[0], { kind: 'create_run', prompt: 'Look after Issues.' });
  const { run } = await world.call(runs.get, { workspaceId, runId: made[0]?.runId ?? '' });
  assert.equal(run.runRef, 'daily-2026-11-02T10:00:00.000Z');
  const { trigger } = await world.call(triggers.get, { workspaceId, triggerId });
  assert.equal(trigger.nextFireAt, '2026-11-03T10:00:00.000Z');
  assert.equal(trigger.lastFiredAt, '2026-11-02T10:00:00.000Z');
});

test('one run makes up for the slots missed while no hub was up, and says so', async (t) => {
  const dataDir = makeTempDir(t);
  const clock = createManualClock();
  const before = await startIntegrationWorld(t, { dataDir, clock });
  const { workspaceId, token } = before.home;
  const { triggerId } = await before.addTrigger({ ...daily, cron: '*/10 * * * *' });
  await before.hub.stop();
  clock.advance(HOUR_MS + MINUTE_MS);
  const { createHub } = await import('../../src/start/app.ts');
  const { readConfig } = await import('../../src/start/config.ts');
  const database = await takeDatabase(dataDir);
  const settings = readConfig({ SVC_PORT: '0', SVC_LOG_LEVEL: 'silent' });
  const hub = await createHub({ config: { ...settings, dataDir, ...database.config }, clock });
  await hub.listen();
  t.after(async () => {
    await hub.stop();
    await database.release();
  });
  const world = { ...before, hub };
  assert.deepEqual(await runSchedule(world), { due: 1, fired: 1 });
  assert.deepEqual(await runSchedule(world), { due: 0, fired: 0 });
  const row = await hub.database.reader.firstSql<{ missed_slots: number; cause: string }>(
    'SELECT missed_slots, cause FROM trigger_firings WHERE trigger_id = ?',
    [triggerId],
  );
  assert.deepEqual({ ...row }, { missed_slots: 5, cause: `slot:${Date.UTC(2026, 10, 2, 9, 10)}` });
  const answer = await fetch(hub.baseUrl + jobs.list.path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ workspaceId }),
  });
  const { jobs: made } = (await answer.json()) as { jobs: { jobId: string }[] };
  assert.equal(made.length, 1);
  const told = await fetch(hub.baseUrl + jobEvents.listForJob.path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ workspaceId, jobId: made[0]?.jobId }),
  });
  const { events } = (await told.json()) as { events: { data: Record<string, unknown> }[] };
  assert.partialDeepStrictEqual(events[0]?.data, { triggerId, missedSlots: 5 });
});

test('a schedule that is disabled or changed meanwhile does not fire its old slot', async (t) => {
  const world = await startIntegrationWorld(t);
  const { workspaceId } = world.home;
  const off = await world.addTrigger(daily);
  const moved = await world.addTrigger(daily);
  await world.atConsole(triggerSettings.disable, { workspaceId, triggerId: off.triggerId });
  const { trigger } = await world.atConsole(triggerSettings.update, {
    workspaceId,
    triggerId: moved.triggerId,
    cron: '0 11 * * *',
    timeZone: 'Europe/Berlin',
  });
  assert.equal(trigger.nextFireAt, '2026-11-02T10:00:00.000Z');
  await world.atConsole(triggerSettings.update, {
    workspaceId,
    triggerId: moved.triggerId,
    cron: '30 11 * * *',
  });
  world.clock.advance(HOUR_MS);
  assert.deepEqual(await runSchedule(world), { due: 0, fired: 0 });
  // Enabled again, it continues from now: the slots missed while disabled do not fire.
  await world.atConsole(triggerSettings.enable, { workspaceId, triggerId: off.triggerId });
  assert.deepEqual(await runSchedule(world), { due: 0, fired: 0 });
  world.clock.advance(HOUR_MS / 2);
  assert.deepEqual(await runSchedule(world), { due: 1, fired: 1 });
  assert.equal(await countRows(world, 'jobs'), 1);
});

test('the cap applies to schedules as well, and a capped slot does not fire later', async (t) => {
  const world = await startIntegrationWorld(t);
  await world.addTrigger({ ...daily, cron: '*/10 * * * *', hourlyCap: 2 });
  for (let slot = 0; slot < 4; slot++) {
    world.clock.advance(10 * MINUTE_MS);
    assert.deepEqual(await runSchedule(world), { due: 1, fired: 1 });
  }
  const rows = await world.hub.database.reader.allSql<{ outcome: string }>(
    'SELECT outcome FROM trigger_firings ORDER BY at',
    [],
  );
  assert.deepEqual(
    rows.map(({ outcome }) => outcome),
    ['started', 'started', 'capped', 'capped'],
  );
});
