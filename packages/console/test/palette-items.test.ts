import { expect, test } from 'vitest';
import { findItems } from '../src/shell/palette-items.ts';

const items = [
  { label: 'Workspace', note: 'Settings' },
  { label: 'Your account', note: 'Settings' },
  { label: 'acme/api' },
  { label: 'Use the dark theme' },
];
const found = (text: string) => findItems(items, text).map(({ label }) => label);

test('without text the palette shows everything', () => {
  expect(found(' ')).toEqual(items.map(({ label }) => label));
});

test('each word of the text begins a word of the line or of its note, in any order', () => {
  expect(found('ac')).toEqual(['Your account', 'acme/api']);
  expect(found('Theme da')).toEqual(['Use the dark theme']);
  expect(found('settings')).toEqual(['Workspace', 'Your account']);
  expect(found('dark light')).toEqual([]);
});

test('a name with a slash is found as it is written', () => {
  expect(found('acme/a')).toEqual(['acme/api']);
  expect(found('me/api')).toEqual(['acme/api']);
});
