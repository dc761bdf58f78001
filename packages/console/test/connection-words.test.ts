import { expect, test } from 'vitest';
import { bannerWords, signWords } from '../src/format/connection-words.ts';
import type { LiveState } from '../src/live/live-source.ts';

const lostAtMs = new Date(2026, 5, 1, 14, 2, 30).getTime();
const lost = (retryAtMs: number): LiveState => ({ kind: 'lost', sinceMs: lostAtMs, retryAtMs });

test('a connection that works needs no banner', () => {
  expect(signWords({ kind: 'live' }, lostAtMs)).toBe('live');
  expect(bannerWords({ kind: 'live' }, lostAtMs)).toBeNull();
  expect(bannerWords({ kind: 'connecting' }, lostAtMs)).toBeNull();
});

test('a break of a second shows in the sign only, a longer one in the banner too', () => {
  const state = lost(lostAtMs + 4_200);
  expect(signWords(state, lostAtMs + 1_000)).toBe('reconnecting');
  expect(bannerWords(state, lostAtMs + 1_000)).toBeNull();
  expect(bannerWords(state, lostAtMs + 2_000)).toBe('Reconnecting in 3 s');
  expect(bannerWords(state, lostAtMs + 9_000), 'an attempt is under way').toBe(
    'Reconnecting in 1 s',
  );
});

test('after ten seconds the connection is offline, with the time or, a day later, the date', () => {
  const minuteLater = lostAtMs + 60_000;
  expect(signWords(lost(minuteLater), minuteLater)).toBe('offline since 14:02');
  expect(bannerWords(lost(minuteLater + 8_000), minuteLater)).toBe(
    'Offline since 14:02, next try in 8 s',
  );
  const dayLater = lostAtMs + 86_400_000;
  expect(signWords(lost(dayLater), dayLater)).toBe('offline since 1 Jun, 14:02');
});
