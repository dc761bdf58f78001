import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Activity, JobEvent, ToolCall } from '@signalbox/contract';
import { normalizeUrl } from '../src/hub/hub-session.ts';
import { formatAge, formatDuration, parseDurationMs } from '../src/terminal/duration.ts';
import { type Io, stylesOf, wantsColor } from '../src/terminal/io.ts';
import { printTable } from '../src/terminal/table.ts';
import {
  cleanText,
  oneLine,
  padText,
  showControls,
  textWidth,
  truncateText,
} from '../src/terminal/text.ts';
import { callLine } from '../src/words/activity-text.ts';
import { modelTexts } from '../src/words/job-text.ts';
import { printReported } from '../src/words/landing-text.ts';
import { createTimelinePrinter } from '../src/words/timeline.ts';

test('cleaning removes terminal control characters and keeps lines', () => {
  assert.equal(cleanText('a\u001b[31mb\u001b[0m\tc\nd'), 'ab\tc\nd');
  assert.equal(cleanText('\u001b]0;title\u0007x\u0007\u009b2J'), 'x');
  assert.equal(cleanText('10%\r50%\r100%\ndone\r\n'), '100%\ndone\n');
  assert.equal(cleanText('safe\u202edne'), 'safedne');
  assert.equal(cleanText('no\u200bpe\u{e0041}'), 'nope');
  assert.equal(showControls('a\u001bb\u200b\u{e0041}'), 'a<1b>b<200b><e0041>');
  assert.equal(oneLine('  two\n lines\t'), 'two lines');
});

test('widths count columns: emoji and CJK take two, combining marks none', () => {
  assert.equal(textWidth('abc'), 3);
  assert.equal(textWidth('日本'), 4);
  assert.equal(textWidth('👩‍🚀'), 2);
  assert.equal(textWidth('e\u0301'), 1);
  assert.equal(padText('日', 4), '日  ');
});

test('a text is cut to its width, never in the middle of a character', () => {
  assert.equal(truncateText('abcdef', 6), 'abcdef');
  assert.equal(truncateText('abcdef', 4), 'abc…');
  assert.equal(truncateText('日本語', 4), '日…');
  assert.ok(textWidth(truncateText('日本語日本語', 5)) <= 5);
});

test('durations are parsed with their units only', () => {
  assert.equal(parseDurationMs('250ms'), 250);
  assert.equal(parseDurationMs('90s'), 90_000);
  assert.equal(parseDurationMs('1h30m'), 5_400_000);
  assert.equal(parseDurationMs('2d'), 172_800_000);
  for (const text of ['10', '', 'm', '1.5h', '-1m', '1 h', '1w', `${'9'.repeat(20)}d`]) {
    assert.throws(() => parseDurationMs(text), /It must be/, text);
  }
});

test('durations are formatted with their largest units', () => {
  assert.equal(formatDuration(900), '1s');
  assert.equal(formatDuration(200_000), '3m 20s');
  assert.equal(formatDuration(7_320_000), '2h 2m');
  assert.equal(formatDuration(1e9), '11d');
  assert.equal(formatAge('2026-11-02T09:00:00.000Z', Date.parse('2026-11-02T12:10:00Z')), '3h');
});

test('colours follow FORCE_COLOR, NO_COLOR, the stream and TERM, in this order', () => {
  const terminal = { isTTY: true };
  assert.equal(wantsColor({}, terminal), true);
  assert.equal(wantsColor({}, {}), false);
  assert.equal(wantsColor({ NO_COLOR: '1' }, terminal), false);
  assert.equal(wantsColor({ NO_COLOR: '' }, terminal), true);
  assert.equal(wantsColor({ NO_COLOR: '1', FORCE_COLOR: '1' }, {}), true);
  assert.equal(wantsColor({ FORCE_COLOR: '0' }, terminal), false);
  assert.equal(wantsColor({ TERM: 'dumb' }, terminal), false);
});

test('a hub URL is completed and validated', () => {
  assert.equal(normalizeUrl('signalbox.acme.dev/'), 'https://signalbox.acme.dev');
  assert.equal(normalizeUrl('127.0.0.1:4400'), 'http://127.0.0.1:4400');
  assert.equal(normalizeUrl('https://acme.dev/hub/'), 'https://acme.dev/hub');
  for (const text of ['', 'ftp://acme.dev', 'https://me:secret@acme.dev', 'http://']) {
    assert.throws(() => normalizeUrl(text), /is not a hub URL/, text);
  }
});

test('a table fits the terminal by cutting its flexible column', () => {
  const lines: string[] = [];
  // A partial Io with the members that tables use.
  const io = {
    columns: 40,
    styles: stylesOf(false),
    print: (line = '') => lines.push(line),
  } as unknown as Io;
  const rows = [
    { id: 'a1', text: 'x'.repeat(100) },
    { id: 'b22', text: 'short' },
  ];
  printTable(
    io,
    [
      { title: 'ID', text: ({ id }) => id },
      { title: 'TEXT', text: ({ text }) => text, isFlexible: true },
      { title: 'END', text: () => 'end' },
    ],
    rows,
  );
  assert.equal(lines.length, 3);
  for (const line of lines) assert.equal(line.length, 40);
  assert.ok(lines[1]?.endsWith('x…  end'));
});

test('where not all columns fit, those without content go first, then optional ones, from the last', () => {
  const print = (columns: number) => {
    const lines: string[] = [];
    // A partial Io with the members that tables use.
    const io = {
      columns,
      styles: stylesOf(false),
      print: (line = '') => lines.push(line),
    } as unknown as Io;
    printTable(
      io,
      [
        { title: 'ID', text: ({ id }) => id },
        { title: 'KIND', text: () => 'code_change', isOptional: true },
        { title: 'TEXT', text: ({ text }) => text, isFlexible: true },
        { title: 'DEADLINE', text: () => '–' },
        { title: 'AGENT', text: () => 'a'.repeat(20), isOptional: true },
      ],
      [{ id: 'a1', text: 'x'.repeat(100) }],
    );
    for (const line of lines) assert.ok(line.length <= columns, line);
    return lines[0]?.replace(/ +/g, ' ');
  };
  assert.equal(print(Infinity), 'ID KIND TEXT DEADLINE AGENT');
  assert.equal(print(81), 'ID KIND TEXT DEADLINE AGENT');
  assert.equal(print(80), 'ID KIND TEXT AGENT');
  assert.equal(print(70), 'ID KIND TEXT');
  assert.equal(print(30), 'ID TEXT');
});

test('tool output keeps its colours, loses what moves the cursor, and is wrapped behind its bar', () => {
  const { output } = printLog('\u001b[32mok\u001b[0m 1\u001b[2J\n', {
    columns: 40,
    isColored: true,
  });
  assert.equal(output, '          │ \u001b[32mok\u001b[0m 1\u001b[0m\n');
  const plain = printLog('\u001b[32mok\u001b[0m 10%\r20%\n', { columns: 40, isColored: false });
  assert.equal(plain.output, '          │ 20%\n');
  const long = printLog(`\u001b[31m${'word '.repeat(30)}\u001b[0m\n`, {
    columns: 60,
    isColored: true,
  });
  const lines = long.output.trimEnd().split('\n');
  assert.ok(lines.length > 2);
  for (const line of lines) {
    assert.ok(textWidth(line) <= 60, line);
    assert.ok(line.startsWith('          │ \u001b[31mword'), JSON.stringify(line));
  }
});

test('the timeline says how an attempt ended, in words that fit its cause', () => {
  const lines: string[] = [];
  // A partial Io with the members that timelines use.
  const io = {
    columns: 80,
    isColored: false,
    styles: stylesOf(false),
    print: (line = '') => lines.push(line.replace(/^[\d:]+ +/, '')),
  } as unknown as Io;
  const common = { at: '2026-11-02T09:00:00.000Z', agentId: 'agt_1', attempt: 1 };
  const event = (fields: Partial<JobEvent>) => ({ ...common, ...fields }) as JobEvent;
  const reason = { category: 'execution', code: 'exit_1', summary: 'It failed.' };
  createTimelinePrinter(io, new Map([['agt_1', 'build-7']])).print([
    event({
      kind: 'heartbeat',
      message: 'Ada asked to cancel the job.',
      data: { cancelRequestedBy: 'usr_1' },
    }),
    event({ kind: 'recovered', message: 'The job was canceled.', data: { cause: 'cancel' } }),
    event({
      kind: 'recovered',
      message: 'A person released the job.',
      data: { releasedBy: 'usr_1' },
    }),
    event({ kind: 'recovered', message: 'The lease expired.', data: {} }),
    event({ kind: 'canceled', message: 'Not wanted.', data: { byName: 'Ada' } }),
    event({ kind: 'failed', message: 'It failed.', data: { outcomeReason: reason } }),
  ]);
  assert.deepEqual(lines, [
    'cancel     Ada asked to cancel the job.',
    'ended      attempt 1 of build-7: The job was canceled.',
    'released   attempt 1 of build-7: A person released the job.',
    'lost       attempt 1 of build-7: The lease expired.',
    'canceled   by Ada · Not wanted.',
    'failed     It failed. · exit_1',
  ]);
});

test('a job shows what its tool reported, and what each model cost', () => {
  const lines: string[] = [];
  const io = {
    columns: 80,
    isColored: false,
    styles: stylesOf(false),
    print: (line = '') => lines.push(line),
  } as unknown as Io;
  const evidence: object = {
    reported: [{ check: 'npm test', outcome: 'passed', detail: '40 tests' }, 'text', { check: 7 }],
    attachments: [{ fileName: 'plan.md', sizeBytes: 1_200, uploadId: 'upl_1' }, null],
  };
  printReported(io, evidence);
  assert.deepEqual(lines.slice(2), [
    '  ✔ npm test · 40 tests',
    '  + plan.md · 1,200 bytes · upl_1',
  ]);
  lines.length = 0;
  const other: object = { reported: 'another form' };
  printReported(io, other);
  assert.deepEqual(lines, []);
  const models = [
    { model: 'large', inputTokens: 2_000, cachedInputTokens: 1_500, outputTokens: 10 },
    { model: 'small', inputTokens: 20 },
  ];
  assert.deepEqual(modelTexts({ usage: { models } }), [
    '2,000 tokens in (1,500 cached), 10 out, large',
    '20 tokens in, small',
  ]);
});

/** Prints tool output as `signalbox job --follow` does. */
function printLog(message: string, shape: { columns: number; isColored: boolean }) {
  const lines: string[] = [];
  // A partial Io with the members that timelines use.
  const io = {
    ...shape,
    styles: stylesOf(false),
    printOutput: (line: string) => lines.push(`${line}\n`),
  } as unknown as Io;
  // A partial event with the fields that output has.
  createTimelinePrinter(io, new Map()).print([{ kind: 'log', message } as JobEvent]);
  return { output: lines.join('') };
}

test('a call with a long title is shown in one line of 60 columns', () => {
  const call: ToolCall = {
    id: 'c',
    kind: 'execute',
    title: '',
    status: 'done',
    durationMs: 65_000,
  };
  const text = `→ npm run ${'very-'.repeat(20)}long`;
  const states: [Partial<ToolCall>, boolean, string][] = [
    [{}, true, '✔ 1m 5s'],
    [{ status: 'failed', durationMs: 10 }, true, '✖ failed'],
    [{ changes: [{ path: 'a', added: 3, removed: 1 }], durationMs: 1 }, true, '✔ +3 −1'],
    [{ status: 'running' }, false, '◐ running'],
    [{ status: 'running' }, true, '⊘ not finished'],
  ];
  for (const [fields, isEnded, state] of states) {
    const shown = { text, call: { ...call, ...fields }, isEnded, width: 60 };
    const line = callLine(stylesOf(false), shown);
    assert.ok(line.endsWith(`…  ${state}`), line);
    assert.equal(textWidth(line), 60);
  }
});

test('the timeline says how long a call took and what was used', () => {
  const printed: string[] = [];
  // A partial Io with the members that timelines use.
  const io = {
    styles: stylesOf(false),
    isColored: false,
    columns: 60,
    print: (line: string) => void printed.push(line),
    printOutput: (line: string) => void printed.push(line),
  } as unknown as Io;
  const log = (message: string, activity: Activity) =>
    ({ kind: 'log', message, data: { logSeq: 1, activity } }) as unknown as JobEvent;
  const call = { id: 'c', kind: 'execute', title: 'npm test' } as const;
  const done = { ...call, status: 'done', durationMs: 4_000 } as const;
  createTimelinePrinter(io, new Map()).print([
    log('→ npm test\n', { toolCall: { ...call, status: 'running' } }),
    log('', { toolCall: done }),
    log('', { toolCall: { ...done, id: 'other', title: 'npm run check' } }),
    log('', { usage: { inputTokens: 1_200, costUsd: 0.5, contextTokens: 1, contextTokensMax: 4 } }),
  ]);
  assert.deepEqual(
    printed.map((line) => line.trim()),
    [
      '│ → npm test',
      '│   ✔ 4s',
      '│   ✔ npm run check, 4s',
      '│   1,200 tokens in, $0.50, context 25 %',
    ],
  );
});
