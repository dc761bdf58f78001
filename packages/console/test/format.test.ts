import { describe, expect, test } from 'vitest';
import { safeReturnPath } from '../src/format/return-path.ts';
import { slugOf } from '../src/format/slug.ts';
import { firstLine, plainText, splitLinks } from '../src/format/text.ts';
import {
  formatAbsolute,
  formatCountdown,
  formatDuration,
  formatRelative,
} from '../src/format/time.ts';
import { formatUserCode, isCompleteUserCode } from '../src/format/user-code.ts';
import { xssCorpus } from './xss-corpus.ts';

const nowMs = Date.parse('2026-11-02T09:00:00.000Z');
const before = (seconds: number) => new Date(nowMs - seconds * 1_000).toISOString();

describe('a relative time', () => {
  test.each([
    [0, 'just now'],
    [4, 'just now'],
    [-3, 'just now'],
    [12, '12 s ago'],
    [59.9, '59 s ago'],
    [60, '1 min ago'],
    [3_599, '59 min ago'],
    [7_200, '2 h ago'],
    [86_400 * 5, '5 d ago'],
    [86_400 * 31, '2 Oct 2026'],
    [-80, 'in 1 min'],
    [-59.9, 'in 1 min'],
    [-(86_400 * 7 - 2), 'in 7 d'],
    [-(3_600 * 24 - 60), 'in 1 d'],
  ])('%d seconds back reads %s', (seconds, text) => {
    expect(formatRelative(before(seconds), nowMs)).toBe(text);
  });

  test('that is invalid is shown unchanged', () => {
    expect(formatRelative('soon', nowMs)).toBe('soon');
    expect(formatAbsolute('soon')).toBe('soon');
  });

  test('has an absolute form with year, seconds and time zone', () => {
    expect(formatAbsolute('2026-11-02T09:00:07.000Z')).toMatch(/2026.*:07 \S+/);
  });
});

test.each([
  [-5, '0 ms'],
  [850, '850 ms'],
  [4_240, '4.2 s'],
  [59_999, '59 s'],
  [185_000, '3 min 5 s'],
  [180_000, '3 min'],
  [7_800_000, '2 h 10 min'],
  [273_600_000, '3 d 4 h'],
])('a duration of %d ms reads %s', (durationMs, text) => {
  expect(formatDuration(durationMs)).toBe(text);
});

test.each([
  [545_000, '9:05'],
  [999, '0:01'],
  [-1, '0:00'],
])('%d ms left count down as %s', (leftMs, text) => {
  expect(formatCountdown(leftMs)).toBe(text);
});

test.each([
  ['wdjb', 'WDJB'],
  ['wdjbm', 'WDJB-M'],
  ['wdjb mjht', 'WDJB-MJHT'],
  ['WDJB-MJHT', 'WDJB-MJHT'],
  [' wd-jb—mj.ht ', 'WDJB-MJHT'],
  ['WDJBMJHTEXTRA', 'WDJB-MJHT'],
  ['1234', ''],
  ['<script>', 'SCRI-PT'],
])('the code %j becomes %j', (typed, code) => {
  expect(formatUserCode(typed)).toBe(code);
});

test('a code is complete with eight letters', () => {
  expect(isCompleteUserCode('WDJB-MJHT')).toBe(true);
  expect(isCompleteUserCode('WDJB-MJH')).toBe(false);
});

describe('a return path', () => {
  test.each(['/', '/device?id=dev_1', '/w/acme/jobs?status=failed#x'])('%s is kept', (path) => {
    expect(safeReturnPath(path)).toBe(path);
  });

  test.each([
    'https://evil.example/',
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/\t/evil.example',
    '/.//evil.example',
    'javascript:alert(1)',
    'device',
    '',
    `/${'x'.repeat(5_000)}`,
    undefined,
    7,
    ['/'],
  ])('%j is refused', (path) => {
    expect(safeReturnPath(path)).toBeUndefined();
  });
});

test.each([
  ['Acme', 'acme'],
  ['Ärzte & Co.', 'arzte-co'],
  ['  --x--  ', 'x'],
  ['日本', ''],
  [`${'a'.repeat(62)}-b`, 'a'.repeat(62)],
])('the name %j gets the slug %j', (name, slug) => {
  expect(slugOf(name)).toBe(slug);
});

describe('untrusted text', () => {
  test('keeps lines and tabs, and makes deceptive characters visible', () => {
    expect(plainText('a\tb\nc\0d\u202ee\ufefff')).toBe('a\tb\nc\ufffdd\ufffde\ufffdf');
    const tags = [...'obey'].map((char) => String.fromCodePoint(0xe0000 + char.charCodeAt(0)));
    expect(plainText(`run tests${tags.join('')}`)).toBe('run tests\ufffd');
    expect(plainText('no\u200bpe 👩‍💻')).toBe('no\ufffdpe 👩‍💻');
  });

  test('is reduced to its first non-empty line, truncated', () => {
    expect(firstLine('\n  \n  Add a check \nmore', 100)).toBe('Add a check');
    expect(firstLine('abcdefgh', 5)).toBe('abcd…');
    expect(firstLine(' \n ', 5)).toBe('');
  });

  test('is split into text and URLs, without trailing punctuation', () => {
    expect(splitLinks('See (https://a.example/x?y=1#z). Or http://b.example!')).toEqual([
      { text: 'See (' },
      { text: 'https://a.example/x?y=1#z', href: 'https://a.example/x?y=1#z' },
      { text: '). Or ' },
      { text: 'http://b.example', href: 'http://b.example/' },
      { text: '!' },
    ]);
  });

  test.each([...xssCorpus, 'https://', 'http://:0', 'ftp://a.example', 'https://[::1'])(
    '%j loses nothing and links to http(s) only',
    (text) => {
      const pieces = splitLinks(text);
      expect(pieces.map((piece) => piece.text).join('')).toBe(text);
      for (const { href } of pieces) expect(href ?? 'https:').toMatch(/^https?:/);
    },
  );
});
