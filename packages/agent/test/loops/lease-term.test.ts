import assert from 'node:assert/strict';
import test from 'node:test';
import type { Clock } from '../../src/index.ts';
import { createLeaseTerm } from '../../src/loops/lease-term.ts';

function createHandClock() {
  const time = { wallMs: 1_000_000, monotonicMs: 5_000 };
  const clock: Clock = {
    nowMs: () => time.wallMs,
    monotonicMs: () => time.monotonicMs,
    sleep: () => Promise.resolve(),
  };
  return {
    clock,
    pass(ms: number) {
      time.wallMs += ms;
      time.monotonicMs += ms;
    },
    sleepMachine(ms: number) {
      time.wallMs += ms;
    },
  };
}

test('a term counts from when the request was sent, not from its answer', () => {
  const hand = createHandClock();
  const term = createLeaseTerm(hand.clock, 30_000, 4_000);
  assert.equal(term.isCertain(), true);
  assert.equal(term.remainingMs(), 29_000);
  hand.pass(8_999);
  assert.equal(term.isRenewalDue(), false);
  hand.pass(1);
  assert.equal(term.isRenewalDue(), true);
  term.renew(hand.clock.monotonicMs() - 2_000);
  assert.equal(term.remainingMs(), 28_000);
  hand.pass(27_999);
  assert.equal(term.isOver(), false);
  hand.pass(1);
  assert.equal(term.isOver(), true);
});

test('a claim with a late answer is uncertain until its first renewal', () => {
  const hand = createHandClock();
  hand.pass(60_000);
  const term = createLeaseTerm(hand.clock, 30_000, 5_000);
  assert.equal(term.isCertain(), false);
  assert.equal(term.isRenewalDue(), true);
  assert.equal(term.isOver(), false);
  term.renew(hand.clock.monotonicMs());
  assert.equal(term.isCertain(), true);
});

test('a machine renews immediately after sleeping', () => {
  const hand = createHandClock();
  const term = createLeaseTerm(hand.clock, 600_000, 5_000);
  assert.ok(term.pauseMs() <= 15_000, 'it checks often enough to notice');
  hand.sleepMachine(4_000);
  assert.equal(term.isRenewalDue(), false);
  hand.sleepMachine(3_600_000);
  assert.equal(term.isRenewalDue(), true);
  term.renew(hand.clock.monotonicMs());
  assert.equal(term.isRenewalDue(), false);
});
