import assert from 'node:assert/strict';
import test from 'node:test';
import { readResetTime } from '../../src/executors/reset-time.ts';

const MINUTE_MS = 60_000;
/** The end of the minute that a sentence names. */
const utc = (text: string) => Date.parse(text) + MINUTE_MS;
const nowMs = Date.parse('2026-11-23T18:38:43Z');

for (const [sentence, expected] of [
  ["You've hit your 5-hour limit · resets 7:38pm (UTC)", '2026-11-23T19:38Z'],
  ["You've hit your limit · resets 11pm (UTC)", '2026-11-23T23:00Z'],
  // It has passed an hour and more ago: the tool means tomorrow.
  ["You've hit your limit · resets 11:47am (UTC)", '2026-11-24T11:47Z'],
  // It has just passed: the tool was slow.
  ["You've hit your limit · resets 6:38pm (UTC)", '2026-11-23T18:38Z'],
  ["You've hit your weekly limit · resets Nov 26, 7:38pm (UTC)", '2026-11-26T19:38Z'],
  ['Weekly limit reached · resets Jan 2 at 12am (UTC)', '2027-01-02T00:00Z'],
  ['Limit · resets 9:30pm (Europe/Berlin)', '2026-11-23T20:30Z'],
  ['Limit · resets 12:15am (America/New_York)', '2026-11-24T05:15Z'],
] as const) {
  test(`"${sentence}" is read as ${expected}`, () => {
    assert.equal(readResetTime(sentence, nowMs), utc(expected));
  });
}

test('a time without a zone is that of the machine', () => {
  const here = new Date(2026, 10, 23, 19, 26, 44).getTime();
  const near = readResetTime('You’ve hit your usage limit. Or try again at 8:26 PM.', here);
  assert.equal(near, new Date(2026, 10, 23, 20, 27).getTime());
  const far = readResetTime('Or try again at Nov 26th, 2026 8:27 PM.', here);
  assert.equal(far, new Date(2026, 10, 26, 20, 28).getTime());
});

test('a wait is added to now, and a sentence without a time has none', () => {
  const ms = readResetTime('Try again in 2 hours 5 minutes.', nowMs);
  assert.equal(ms, nowMs + 125 * MINUTE_MS);
  for (const sentence of ['Try again later.', 'resets soon', 'resets Foo 3, 4pm', '']) {
    assert.equal(readResetTime(sentence, nowMs), undefined, sentence);
  }
});
