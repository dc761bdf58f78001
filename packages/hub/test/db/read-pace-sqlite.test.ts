import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ReadPace } from '../../src/db/sqlite/read-pace.ts';
import { countTurns } from '../support/event-loop-turns.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { openTestDatabase } from '../support/test-engine.ts';

const agent = { workspace: 'good', caller: 'agent' };
const attacker = { workspace: 'attacker', caller: 'token' };

/** Reads that take as long as the test says, and the turns in which they run. */
function openPace() {
  let nowMs = 0;
  const pace = new ReadPace(() => nowMs);
  const turns = countTurns();
  const ran: string[] = [];
  const read = (who: typeof agent, name: string, tookMs: number) =>
    pace.run(who, async () => {
      nowMs += tookMs;
      ran.push(`${name} in turn ${turns.turns}`);
    });
  return { read, ran, stop: () => turns.stop() };
}

test('reads that find their turn used up run in later ones', async () => {
  const { read, ran, stop } = openPace();
  const reads = [read(agent, 'long', 6), read(agent, 'next', 4), read(agent, 'short', 1)];
  assert.deepEqual(ran, ['long in turn 0']);
  await Promise.all([...reads, read(agent, 'longer', 9), read(agent, 'last', 1)]);
  stop();
  assert.deepEqual(ran.slice(1), [
    ...['next in turn 1', 'short in turn 1', 'longer in turn 1'],
    'last in turn 2',
  ]);
});

test('a reader waits for no more than its share, however many reads of others wait', async () => {
  const { read, ran, stop } = openPace();
  const first = read(attacker, 'first', 20);
  await Promise.all([
    first,
    ...Array.from({ length: 8 }, (_, at) => read(attacker, `attacker ${at}`, 6)),
    ...[read(agent, 'agent 0', 0.1), read(agent, 'agent 1', 0.1)],
  ]);
  stop();
  const places = ['agent 0', 'agent 1'].map((name) =>
    ran.findIndex((entry) => entry.startsWith(name)),
  );
  assert.deepEqual(places, [2, 3], ran.join(', '));
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
