import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairLine } from '../../src/base/fair-line.ts';

const attacker = { workspace: 'attacker', caller: 'token' };
const good = { workspace: 'good', caller: 'agent' };
const colleague = { workspace: 'good', caller: 'colleague' };

/** Hands out all entries; each took as long as the test says. @returns their order. */
function runAll(line: FairLine<string>, tookMs: (entry: string) => number): string {
  const order: string[] = [];
  for (let entry = line.next(); entry !== undefined; entry = line.next()) {
    order.push(entry);
    line.charge(tookMs(entry));
  }
  assert.equal(line.length, 0);
  return order.join(' ');
}

test('a workspace with many entries delays another by one entry at a time', () => {
  const line = new FairLine<string>();
  for (const entry of ['a1', 'a2', 'a3', 'a4', 'a5']) line.add(attacker, entry);
  for (const entry of ['g1', 'g2']) line.add(good, entry);
  assert.equal(line.length, 7);
  assert.equal(
    runAll(line, () => 0.1),
    'a1 g1 a2 g2 a3 a4 a5',
  );
});

test('a workspace with expensive entries waits for as long as others have cheap ones', () => {
  const line = new FairLine<string>();
  for (const entry of ['A1', 'A2', 'A3']) line.add(attacker, entry);
  for (let at = 1; at <= 8; at++) line.add(good, `g${at}`);
  assert.equal(
    runAll(line, (entry) => (entry.startsWith('A') ? 10 : 0.25)),
    'A1 g1 g2 g3 g4 g5 g6 g7 g8 A2 A3',
  );
});

test('within a workspace the callers have equal shares, and each keeps its order', () => {
  const line = new FairLine<string>();
  for (const entry of ['c1', 'c2', 'c3']) line.add(colleague, entry);
  for (const entry of ['g1', 'g2']) line.add(good, entry);
  line.add(attacker, 'a1');
  assert.equal(
    runAll(line, (entry) => (entry.startsWith('c') ? 5 : 0.1)),
    'c1 a1 g1 g2 c2 c3',
  );
});

test('a workspace that has had less than its share precedes the others until it has had as much', () => {
  const line = new FairLine<string>();
  // The other workspace had the line for itself, beyond the credit.
  for (const entry of ['A1', 'A2', 'A3']) line.add(attacker, entry);
  assert.equal(line.next(), 'A1');
  line.charge(1_000);
  assert.equal(line.next(), 'A2');
  line.charge(1);
  for (let at = 1; at <= 30; at++) line.add(good, `g${at}`);
  for (let at = 4; at <= 30; at++) line.add(attacker, `A${at}`);
  const order = runAll(line, () => 10).split(' ');
  assert.deepEqual(
    order.slice(0, 9),
    Array.from({ length: 9 }, (_, at) => `g${at + 1}`),
  );
  const next = order.slice(9, 29).filter((entry) => entry.startsWith('g'));
  assert.ok(next.length >= 9 && next.length <= 11, `equal shares from then on: ${order}`);
});

test('a caller whose turn is not charged yet waits once, also when more arrives meanwhile', () => {
  const line = new FairLine<string>();
  line.add(attacker, 'A1');
  assert.equal(line.next(), 'A1');
  line.add(attacker, 'A2');
  line.add(attacker, 'A3');
  line.add(good, 'g1');
  line.charge(5);
  assert.equal(
    runAll(line, () => 5),
    'g1 A2 A3',
  );
});

test('entries of thousands of callers that come and go are handed out once, in their order', () => {
  const line = new FairLine<{ caller: string; number: number }>();
  const added = new Map<string, number>();
  const taken = new Map<string, number>();
  const take = () => {
    const entry = line.next();
    if (entry === undefined) return;
    assert.equal(entry.number, (taken.get(entry.caller) ?? 0) + 1, entry.caller);
    taken.set(entry.caller, entry.number);
  };
  for (let at = 0; at < 20_000; at++) {
    // A caller comes back soon, or after more others than a line remembers.
    const caller = `address ${(at * 7) % (at % 3 === 0 ? 10 : 4_000)}`;
    const number = (added.get(caller) ?? 0) + 1;
    added.set(caller, number);
    line.add({ workspace: `network ${caller.length}`, caller }, { caller, number });
    if (at % 50 > 0) take();
    if (at % 2 === 0) line.charge(at % 5);
  }
  while (line.length > 0) take();
  assert.deepEqual(taken, added);
});

test('an empty line has nothing, and a cleared one is empty', () => {
  const line = new FairLine<string>();
  assert.equal(line.next(), undefined);
  line.add(good, 'g1');
  line.add(attacker, 'a1');
  assert.deepEqual(line.clear().sort(), ['a1', 'g1']);
  assert.equal(line.length, 0);
  assert.equal(line.next(), undefined);
});
