import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClaimFloors } from '../../src/queue/claim-floors.ts';

const LANES = ['work', 'review'];
const MANY = 5_000;
const FEW = 10;

/** Floors of two lanes of one workspace, on a clock that the test turns. */
function setup() {
  const floors = new ClaimFloors();
  let nowMs = 1_000_000;
  const begin = (lanes = LANES) => floors.begin('here', lanes, nowMs);
  const write = (lane_id: string, sort_key: number) =>
    floors.lower({ workspace_id: 'here', lane_id, sort_key });
  return {
    floors,
    begin,
    write,
    /** Searches both lanes. */
    search(first: number | null, passed = MANY) {
      const search = begin();
      floors.end(search, { first, passed });
      return search.from;
    },
    advance(ms: number) {
      nowMs += ms;
    },
  };
}

test('a search that passes over many removed entries leaves a floor, one that passes few does not', () => {
  const h = setup();
  const healthy = h.begin();
  assert.equal(h.floors.isNoted(healthy, { first: 100, passed: FEW }), false);
  assert.equal(h.floors.isNoted(healthy, { first: 100, passed: MANY }), true);
  assert.equal(h.search(100), null);
  assert.deepEqual(h.begin().from, [100, 100]);
  assert.equal(h.begin(['other']).from, null);
  assert.equal(h.floors.begin('elsewhere', LANES, 1_000_000).from, null);
});

test('a floor rises with each search, for five seconds; then one search begins at the start', () => {
  const h = setup();
  h.search(100);
  assert.deepEqual(h.search(120, FEW), [100, 100]);
  h.advance(4_999);
  assert.deepEqual(h.search(130, FEW), [120, 120]);
  h.advance(1);
  const fromStart = h.begin();
  assert.equal(fromStart.from, null);
  assert.deepEqual(h.begin().from, [130, 130], 'the other searches do not wait for it');
  h.floors.end(fromStart, { first: 50, passed: MANY });
  assert.deepEqual(h.begin().from, [50, 50], 'another hub wrote an entry before the floor');
});

test('floors end when a search from the start passes over few entries', () => {
  const h = setup();
  h.search(100);
  h.advance(5_000);
  assert.equal(h.search(100, FEW), null);
  assert.equal(h.begin().from, null);
  assert.equal(h.floors.isNoted(h.begin(), { first: 100, passed: FEW }), false);
});

test('a write before the floor lowers it, in its lane only', () => {
  const h = setup();
  h.search(100);
  h.write('work', 40);
  h.write('review', 150);
  assert.deepEqual(h.begin().from, [40, 100]);
});

test('a search does not raise the floor above what was written during it', () => {
  const h = setup();
  h.search(100);
  const during = h.begin();
  h.write('work', 110);
  h.floors.end(during, { first: 130, passed: FEW });
  assert.deepEqual(h.begin().from, [110, 130]);
  const lowered = h.begin();
  h.write('work', 20);
  h.floors.end(lowered, { first: 140, passed: FEW });
  assert.deepEqual(h.begin().from, [20, 140]);
});

test('the first search leaves no place when something was written during it', () => {
  const h = setup();
  const first = h.begin();
  h.write('work', 20);
  h.floors.end(first, { first: 100, passed: MANY });
  assert.equal(h.begin().from, null);
  assert.equal(h.search(20), null);
  assert.deepEqual(h.begin().from, [20, 20]);
});

test('a search during which more was written than is kept does not raise the floor', () => {
  const h = setup();
  h.search(100);
  const long = h.begin();
  for (let n = 0; n < 5_000; n++) h.write('other', n);
  h.floors.end(long, { first: 130, passed: FEW });
  assert.deepEqual(h.begin().from, [100, 100]);
});

test('a search that began below a floor does not undo one that began at the start meanwhile', () => {
  const h = setup();
  h.search(100);
  const raised = h.begin();
  h.advance(5_000);
  h.search(60);
  h.floors.end(raised, { first: 130, passed: FEW });
  assert.deepEqual(h.begin().from, [60, 60]);
});

test('a lane in which nothing is ready keeps its floor', () => {
  const h = setup();
  h.search(100);
  h.search(null, FEW);
  h.advance(5_000);
  assert.equal(h.search(null), null);
  assert.deepEqual(h.begin().from, [100, 100]);
});

test('when too many lanes have a floor, all are dropped', () => {
  const h = setup();
  for (let n = 0; n < 5_001; n++) {
    h.floors.end(h.begin([`lane ${n}`]), { first: 100, passed: MANY });
  }
  assert.equal(h.begin(['lane 5000']).from, null);
});
