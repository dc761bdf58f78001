import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CallTurns, TURN_MS } from '../../src/http/call-turns.ts';

const attacker = { workspace: 'attacker', caller: 'token' };
const good = { workspace: 'good', caller: 'agent' };

/** Turns that begin when the test says so. */
function openTurns() {
  const next: (() => void)[] = [];
  const turns = new CallTurns((run) => next.push(run));
  const begun: string[] = [];
  const enter = (who: typeof good, name: string, costMs: number) => {
    const turn = turns.enter(who, costMs);
    if (turn === null) begun.push(name);
    else void turn.then(() => begun.push(name));
  };
  /** Runs the next turn of the event loop. @returns the calls that began since the turn before. */
  const turn = async () => {
    for (const run of next.splice(0)) run();
    await Promise.resolve();
    return begun.splice(0);
  };
  return { enter, turn, isIdle: () => next.length === 0 };
}

test('a call waits for one turn of others at most, however many calls of a caller arrived before', async () => {
  const { enter, turn, isIdle } = openTurns();
  for (let at = 0; at < 100; at++) enter(attacker, `a${at}`, 1);
  enter(good, 'good', 1);
  const first = await turn();
  // Those that began at once, and the turn after.
  assert.deepEqual(
    first.slice(0, TURN_MS),
    Array.from({ length: TURN_MS }, (_, at) => `a${at}`),
  );
  assert.equal(first.length, 2 * TURN_MS, 'a turn begins no more than it has time for');
  assert.ok(first.includes('good'), `the call begins in the first turn after it: ${first}`);
  while (!isIdle()) await turn();
  enter(good, 'alone', 1);
  assert.deepEqual(await turn(), ['alone'], 'a call of an idle hub begins at once');
});

test('a turn begins one expensive call or many cheap ones, and the callers have equal time', async () => {
  const { enter, turn } = openTurns();
  for (let at = 0; at < 5; at++) enter(attacker, `A${at}`, 2 * TURN_MS);
  for (let at = 0; at < 60; at++) enter(good, `g${at}`, 1);
  assert.deepEqual(await turn(), ['A0', 'A1'], 'the first at once, the second in its turn');
  const later = [...(await turn()), ...(await turn()), ...(await turn())];
  const cheap = later.indexOf('A2');
  // The debt of a call is paid in steps, so shares are equal to within a few of them.
  assert.ok(Math.abs(cheap - 2 * TURN_MS) < 5, `calls of the same cost in between: ${cheap}`);
});
