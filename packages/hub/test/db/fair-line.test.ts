import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairLine } from '../../src/fair-line.ts';

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

test('an empty line has nothing, and a cleared one is empty', () => {
  const line = new FairLine<string>();
  assert.equal(line.next(), undefined);
  line.add(good, 'g1');
  line.add(attacker, 'a1');
  assert.deepEqual(line.clear().sort(), ['a1', 'g1']);
  assert.equal(line.length, 0);
  assert.equal(line.next(), undefined);
});
