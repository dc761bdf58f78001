import { describe, expect, test } from 'vitest';
import { type AnsiLine, parseAnsiLine } from '../src/format/ansi.ts';
import { plainStyle } from '../src/format/ansi-style.ts';
import { styleTexts } from '../src/job/styled-lines.ts';
import { xssCorpus } from './xss-corpus.ts';

const ESC = '\u001b';

const parse = (text: string) => parseAnsiLine(text, plainStyle).line;
const textOf = (line: AnsiLine) => line.map((span) => span.text).join('');
const firstStyle = (text: string) => parse(text)[0]?.style;

describe('text', () => {
  test.each([
    ['plain', 'plain'],
    ['10%\r50%\r100%', '100%'],
    ['kept\r', 'kept'],
    ['abc\b\bX', 'aX'],
    ['\b\bX', 'X'],
    ['tab\tstays', 'tab\tstays'],
    ['null\0bell\u0007gone', 'nullbellgone'],
    ['', ''],
  ])('%j reads %j', (input, text) => {
    expect(textOf(parse(input))).toBe(text);
  });
});

describe('styles', () => {
  test.each([
    ['31', { fg: 1 }],
    ['97', { fg: 15 }],
    ['44', { bg: 4 }],
    ['104', { bg: 12 }],
    ['1;31', { bold: true, fg: 1 }],
    ['38;5;9', { fg: 9 }],
    ['38;5;196', { fg: '#ff0000' }],
    ['38;5;255', { fg: '#eeeeee' }],
    ['38;2;1;2;3', { fg: '#010203' }],
    ['38:2:1:2:3', { fg: '#010203' }],
    ['48;2;255;0;0;4', { bg: '#ff0000', underline: true }],
    ['38;5', { fg: null }],
    ['38;5;999', { fg: null }],
    ['38;2;300;0;0', { fg: null }],
    ['38;2;1;1', { fg: null }],
    ['31;39', { fg: null }],
    ['7;27', { inverse: false }],
    ['1;2;22', { bold: false, dim: false }],
    ['31;0', { fg: null }],
    ['31;', { fg: null }],
    ['999999999999', { fg: null }],
  ])('ESC[%sm gives %j', (params, style) => {
    expect(firstStyle(`${ESC}[${params}mx`)).toMatchObject(style);
  });

  test('continue across lines until the output resets them', () => {
    const lines = styleTexts([`${ESC}[32mgreen`, `still${ESC}[m plain`]);
    expect(lines[1]?.map((span) => [span.text, span.style.fg])).toEqual([
      ['still', 2],
      [' plain', null],
    ]);
  });

  test('without a change create no new span', () => {
    expect(parse(`a${ESC}[31m${ESC}[39mb${ESC}[0mc`)).toHaveLength(1);
  });
});

describe('control sequences that are not shown', () => {
  test.each([
    [`${ESC}[2J${ESC}[H${ESC}[?25lx`, 'x'],
    [`${ESC}]0;title\u0007x`, 'x'],
    [`${ESC}]8;;https://a.example${ESC}\\link${ESC}]8;;${ESC}\\`, 'link'],
    [`${ESC}P1$r0m${ESC}\\x`, 'x'],
    [`${ESC}(Bx${ESC}=y${ESC}7z`, 'xyz'],
    ['\u009b31mx', '31mx'],
    [`x${ESC}`, 'x'],
    [`x${ESC}[`, 'x'],
    [`x${ESC}[3`, 'x'],
    [`x${ESC}[31\u0001my`, 'x31my'],
  ])('%j reads %j', (input, text) => {
    expect(textOf(parse(input))).toBe(text);
  });

  test('an unterminated command hides nothing', () => {
    const hidden = 'rm -rf /\n'.repeat(10);
    expect(textOf(parse(`${ESC}]0;${hidden}`))).toContain('rm -rf /');
    expect(textOf(parse(`${ESC}]0;${'x'.repeat(5_000)}\u0007`))).toContain('xxxx');
  });

  test('direction marks become visible characters', () => {
    expect(textOf(parse('a\u202eb\u2066c\u200fd'))).toBe('a\ufffdb\ufffdc\ufffdd');
    expect(textOf(parse('a\u{e0041}\u{e0042}b\u200bc'))).toBe('a\ufffdb\ufffdc');
  });
});

describe('hostile input', () => {
  test.each(xssCorpus)('%j holds no control character afterwards', (input) => {
    const text = textOf(parse(input));
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the test searches for them.
    expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
  });

  test('a line with many colour changes has a bounded number of spans', () => {
    const line = parse(
      Array.from({ length: 2_000 }, (_, i) => `${ESC}[${31 + (i % 7)}mx`).join(''),
    );
    expect(line.length).toBeLessThanOrEqual(400);
    expect(textOf(line)).toHaveLength(2_000);
  });

  test.each([
    ['unfinished commands', `${ESC}]`],
    ['unfinished sequences', `${ESC}[`],
    ['long parameters', `${ESC}[1;2;3;4;5`],
    ['device control strings', `${ESC}P1`],
    ['backspaces', 'ab\b'],
    ['carriage returns', 'a\r'],
    ['resets', `${ESC}[m`],
    ['escapes with intermediates', `${ESC}    `],
  ])('a megabyte of %s takes linear time', (_name, piece) => {
    const timeOf = (chars: number) => {
      const text = piece.repeat(Math.ceil(chars / piece.length));
      const startMs = performance.now();
      parse(text);
      return performance.now() - startMs;
    };
    timeOf(10_000);
    // Quadratic work on a megabyte would take minutes; the limit allows for slow machines.
    expect(timeOf(1_000_000)).toBeLessThan(5_000);
  });
});
