import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import type { JobEvent } from '@signalbox/contract';
import { createIo, type Io, type ProcessStreams } from '../src/terminal/io.ts';
import { alignTables } from '../src/terminal/markdown-table.ts';
import { gistOf, printMarkdown } from '../src/terminal/markdown-text.ts';
import { printFields } from '../src/terminal/table.ts';
import { cleanStyledLine, cleanText, textWidth, truncateText } from '../src/terminal/text.ts';
import { printText } from '../src/words/question-text.ts';
import { createTimelinePrinter } from '../src/words/timeline.ts';

/** An Io of a terminal or a pipe, and all that it has written. */
function openIo({ columns, isColored = false }: { columns?: number; isColored?: boolean }) {
  const written: string[] = [];
  const stream = () => {
    const sink = new PassThrough().setEncoding('utf8');
    sink.on('data', (text: string) => void written.push(text));
    return Object.assign(sink, columns === undefined ? {} : { isTTY: true, columns });
  };
  const env = { FORCE_COLOR: isColored ? '1' : '0' };
  // The members of a process that an Io uses.
  const streams = { env, stdin: stream(), stdout: stream(), stderr: stream() };
  const io = createIo(new AbortController().signal, false, streams as unknown as ProcessStreams);
  return { io, output: () => written.join('') };
}

const hostile = 'a\u001b]52;c;WA==\u0007\u001b[2J\u009b1A\u202eb\u200b\r\nforged\tc\b\u001b[8md';

test('a line that a command prints is one line, without control or invisible characters', () => {
  const { io, output } = openIo({ columns: 80 });
  io.print(hostile);
  io.printOutput(hostile);
  io.note(hostile);
  io.draw([{ sequence: '\u001b[J' }, hostile]);
  assert.equal(output(), `${'ab forged\tcd\n'.repeat(3)}\u001b[Jab forged\tcd`);
});

test('a line keeps the styles of this program, and output of a tool its colours', () => {
  const { io, output } = openIo({ columns: 80, isColored: true });
  io.print(`${io.styles.bold('x')}\u001b[41my${hostile}`);
  io.printOutput('\u001b[41mx\u001b[38;5;8my\u001b[1;8mz');
  assert.equal(
    output(),
    '\u001b[1mx\u001b[22myab forged\tcd\u001b[0m\n\u001b[41mx\u001b[38;5;8myz\u001b[0m\n',
  );
});

test('JSON and texts for programs are escaped or cleaned on a terminal, and unchanged in a pipe', () => {
  const value = { text: `${hostile}\u{e0041}` };
  const onTerminal = openIo({ columns: 80 });
  onTerminal.io.printJson(value);
  const json = onTerminal.output();
  assert.match(json, /^[\n\x20-\x7e]+$/);
  assert.ok(json.includes('\\u202eb\\u200b') && json.includes('\\udb40\\udc41'), json);
  assert.deepEqual(JSON.parse(json), value);
  const inPipe = openIo({});
  inPipe.io.printJson(value);
  inPipe.io.printText(hostile);
  assert.equal(inPipe.output(), `${JSON.stringify(value)}\n${hostile}\n`);
  const other = openIo({ columns: 80 });
  other.io.printText(`x\n${hostile}`);
  assert.equal(other.output(), 'x\nab\nforged\tcd\n');
});

test('commands write to a terminal through one file only', () => {
  const directory = join(import.meta.dirname, '../src');
  const writes = /\.write\(|\bconsole\.(log|error|warn|info)|from '@clack\/prompts'/;
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && writes.test(readFileSync(join(directory, file), 'utf8')),
  );
  // The dialogs of prompts.ts are drawn by their library, from texts that it cleans.
  assert.deepEqual(files.toSorted(), ['terminal/io.ts', 'terminal/prompts.ts']);
});

/** Work that grows with the square of this takes minutes; such a test reaches its time limit. */
const LONG = 300_000;
const longLines: readonly (readonly [name: string, line: string])[] = [
  ['one word', 'x'.repeat(LONG)],
  ['words', 'word '.repeat(LONG / 5)],
  ['wide characters', '日本 '.repeat(LONG / 3)],
  ['line starts', '\r'.repeat(LONG)],
  ['line starts and a character', `${'\r'.repeat(LONG)}x`],
  ['colours', '\u001b[31mred \u001b[0m'.repeat(LONG / 13)],
  ['beginnings of sequences', '\u001b]'.repeat(LONG / 2)],
  ['marks of headings', `# ${'# '.repeat(LONG / 2)}x`],
  ['marks of strong text', '**x'.repeat(LONG / 3)],
  ['cells', '|x'.repeat(LONG / 2)],
  ['a table', `|x|y|\n|-|-|\n${'|x|y|\n'.repeat(LONG / 6)}`],
  ['a rule of a table', `|x\n${'|-'.repeat(LONG / 2)}x`],
];

for (const [name, line] of longLines) {
  test(`the work for a long line grows with its length: ${name}`, () => {
    const { io, output } = openIo({ columns: 100, isColored: true });
    printText(io, line);
    printMarkdown(io, line);
    printLog(io, [`${line}\n`]);
    for (const shown of output().split('\n')) assert.ok(shown.length < 100 * 20);
    assert.ok(textWidth(truncateText(cleanText(line), 60)) <= 60);
    cleanStyledLine(line);
    gistOf(line);
  });
}

test('a long line that arrives in many parts is put together once', () => {
  const { io, output } = openIo({ columns: 100 });
  const parts = Array<string>(LONG / 100).fill('x'.repeat(100));
  printLog(io, [...parts, '\nend']);
  const lines = output().trimEnd().split('\n');
  assert.equal(lines.join('').replaceAll(/[^x]/g, '').length, LONG);
  assert.match(lines.at(-1) ?? '', /│ end$/);
});

function printLog(io: Io, messages: readonly string[]): void {
  const printer = createTimelinePrinter(io, new Map());
  // Partial events with the fields that output has.
  for (const message of messages) printer.print([{ kind: 'log', message } as JobEvent]);
  printer.end();
}

const table = [
  '| File | What was changed in it | Lines |',
  '|:-----|------------------------|------:|',
  '| `src/日本語/ファイル.ts` | Reads **all** `a \\| b` of the list 👍 | 1,204 |',
  '| a.ts | | 7 |',
  '| b.ts | a row | 8 | that is too long |',
].join('\n');

for (const columns of [60, 80, 120, 200]) {
  test(`a table fits ${columns} columns, with wide characters in their places`, () => {
    const { io, output } = openIo({ columns, isColored: true });
    printMarkdown(io, table);
    const lines = stripVTControlCharacters(output()).trimEnd().split('\n');
    for (const line of lines) assert.ok(textWidth(line) <= columns, line);
    const rule = lines.find((line) => line.includes('─')) ?? '';
    const begin = rule.lastIndexOf(' ') + 1;
    // A figure ends where its column does.
    for (const figure of ['Lines', '1,204', '7']) {
      const line = lines.find((each) => each.endsWith(figure)) ?? '';
      assert.equal(textWidth(line), rule.length, lines.join('\n'));
      assert.ok(textWidth(line.slice(0, -figure.length)) >= begin);
    }
    const words = lines.join(' ').replaceAll(/\s+/g, ' ');
    for (const word of ['src/日本語', 'the', 'list', '👍', '8 | that'])
      assert.ok(words.includes(word));
    assert.ok(!words.includes('**'), words);
  });
}

test('fields wrap at words under their values; an address stays whole', () => {
  const { io, output } = openIo({ columns: 40 });
  const url = `https://git.acme.test/${'x'.repeat(40)}`;
  printFields(io, [
    ['Result', 'Which of the two regions may the service use?'],
    ['Pull request', url],
  ]);
  assert.equal(
    output(),
    [
      'Result        Which of the two regions',
      '              may the service use?',
      `Pull request  ${url}`,
      '',
    ].join('\n'),
  );
});

test('what is no table stays, and so does one that does not fit or is code', () => {
  const wide = ['|a|b|c|d|e|f|g|h|', '|-|-|-|-|-|-|-|-|', `|${'word word|'.repeat(8)}`];
  for (const lines of [['a | b', 'c | d'], ['```', '|a|b|', '|-|-|', '```'], wide]) {
    assert.deepEqual(alignTables(lines, 30), lines);
  }
  assert.deepEqual(alignTables(['a|b', '-|-', '1|2', '', 'x'], 30), [
    ...['a  b', '─  ─', '1  2', '', 'x'],
  ]);
});

test('a table as large as a question may be is read in one go', () => {
  const spaces = ' '.repeat(60_000);
  const broken = ['a|b', `-|-${spaces}x`, `${spaces}|-|-${spaces}x`];
  assert.deepEqual(alignTables(broken, 80), broken);
  const columns = [
    '|a'.repeat(30_000),
    '|-'.repeat(30_000),
    `|${'word '.repeat(16)}`.repeat(1_400),
  ];
  assert.deepEqual(alignTables(columns, 80), columns);
});

test('a result in Markdown is shown by its lines, and by one line that says most', () => {
  const text = '## Done\n\nI changed **the files**\nof the API:\n\n| file | lines |\n|---|---|\n';
  const { io, output } = openIo({ columns: 60 });
  printMarkdown(io, text);
  assert.equal(
    output(),
    '  Done\n\n  I changed the files\n  of the API:\n\n  file  lines\n  ────  ─────\n',
  );
  assert.equal(gistOf(text), 'I changed the files of the API:');
  assert.equal(gistOf('Fixed `a*b`.'), 'Fixed `a*b`.');
  assert.equal(gistOf('# Done\n\n- one\n- two'), 'Done');
  assert.equal(gistOf('- one\n- two'), '- one - two');
  assert.equal(gistOf(''), '');
});
