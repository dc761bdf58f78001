import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ReadPace } from '../../src/db/sqlite/read-pace.ts';
import { countTurns } from '../support/event-loop-turns.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { openTestDatabase } from '../support/test-engine.ts';

const agent = { workspace: 'good', caller: 'agent' };
const attacker = { workspace: 'attacker', caller: 'token' };

test('reads of a turn that took long continue one a turn, in order; short ones never wait', async () => {
  const pace = new ReadPace();
  assert.equal(pace.pauseAfter(6, agent), null);
  const turns = countTurns();
  const continued: string[] = [];
  const note = (name: string) => () => continued.push(`${name} in turn ${turns.turns}`);
  const first = pace.pauseAfter(6, agent)?.then(note('first'));
  const second = pace.pauseAfter(1, agent)?.then(note('second'));
  assert.equal(pace.pauseAfter(0.1, agent), null, 'a short read');
  await Promise.all([first, second]);
  turns.stop();
  assert.deepEqual(continued, ['first in turn 1', 'second in turn 2']);
  assert.equal(pace.pauseAfter(6, agent), null, 'another turn has time of its own');
});

test('a reader waits for one turn of each other caller, however many of theirs wait', async () => {
  const pace = new ReadPace();
  const first = pace.pauseAfter(20, attacker);
  const continued: string[] = [];
  const read = (who: typeof agent, name: string) =>
    pace.pauseAfter(1, who)?.then(() => continued.push(name));
  await Promise.all([
    first,
    ...Array.from({ length: 8 }, (_, at) => read(attacker, `attacker ${at}`)),
    ...[read(agent, 'agent 0'), read(agent, 'agent 1')],
  ]);
  const places = ['agent 0', 'agent 1'].map((name) => continued.indexOf(name));
  assert.deepEqual(places, [0, 2], continued.join(', '));
});

test('many long reads leave turns of the event loop to others', async (t) => {
  const database = await openTestDatabase(t, createManualClock());
  const turns = countTurns();
  // Each takes some milliseconds on any machine.
  const slow = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40000)
    SELECT COUNT(*) AS count FROM n`;
  const readAll = async () => {
    for (let number = 0; number < 20; number++) await database.reader.firstSql(slow, []);
  };
  await Promise.all(Array.from({ length: 4 }, readAll));
  turns.stop();
  assert.ok(turns.turns >= 10, `${turns.turns} turns`);
});
