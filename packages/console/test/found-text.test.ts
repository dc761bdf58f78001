import { expect, test } from 'vitest';
import { parseAnsiLine } from '../src/format/ansi.ts';
import { plainStyle } from '../src/format/ansi-style.ts';
import { markFound } from '../src/format/found-text.ts';

const lineOf = (text: string) => parseAnsiLine(text, plainStyle).line;
const found = (text: string, searched: string) =>
  markFound(lineOf(text), searched).map(({ text: part, isFound }) =>
    isFound ? `[${part}]` : part,
  );

test('each place of the searched text is marked, in any case', () => {
  expect(found('Error: no error here', 'ERROR')).toEqual(['[Error]', ': no ', '[error]', ' here']);
});

test('a match continues in a span of another style, and the whole text stays', () => {
  expect(found('a \u001b[31mfail\u001b[0mure b', 'failure')).toEqual([
    'a ',
    '[fail]',
    '[ure]',
    ' b',
  ]);
});

test('matches beside each other stay two, and no text is left out', () => {
  expect(found('aaaa', 'aa')).toEqual(['[aa]', '[aa]']);
  expect(found('\u0130stanbul i', 'i')).toEqual(['[\u0130]', 'stanbul ', '[i]']);
});

test('without a searched text nothing is marked', () => {
  expect(found('plain', '')).toEqual(['plain']);
});
