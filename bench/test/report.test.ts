import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { drawChart } from '../chart.ts';
import { keepEarlier } from '../earlier-sections.ts';
import { parseOptions } from '../options.ts';
import { formatReport, formatSummary, formatTable, type Report } from '../report.ts';
import { readBlock, replaceBlock } from '../summary-block.ts';

const latestPath = join(import.meta.dirname, '../results/latest.json');

const report: Report = {
  at: '2026-11-02T09:00:00.000Z',
  commit: 'abc1234',
  options: { quick: false, rounds: 5 },
  machine: {
    ...{ processor: 'Some processor', cores: 2, memoryBytes: 8e9, system: 'Linux 6.1' },
    ...{ node: '26.10.0', postgres: '18.4', redis: 'absent', syncP50Ms: 0.2, syncP99Ms: 1 },
  },
  seconds: 1_800,
  sections: [
    {
      title: 'Throughput',
      table: { head: ['who', 'cycles/s'], rows: [['hub', '9,000']] },
      notes: ['A note.'],
      verdicts: [
        { measure: 'P1', what: 'hub ÷ peer', target: '≥ 1.5×', measured: '1.60×', met: true },
        { measure: 'P2', what: 'hub ÷ limit', target: '≥ 0.5×', measured: '0.30×', met: false },
        {
          measure: 'P3',
          what: 'PostgreSQL',
          target: '≥ 0.8×',
          measured: 'not measured',
          met: null,
        },
      ],
      bars: [],
      raw: null,
    },
  ],
};

test('the summary shows for every target whether it was met, missed or not measured', () => {
  const rows = formatSummary(report)
    .split('\n')
    .filter((line) => line.startsWith('| P'));
  assert.deepEqual(rows, [
    '| P1 | hub ÷ peer | ≥ 1.5× | 1.60× | ✓ |',
    '| P2 | hub ÷ limit | ≥ 0.5× | 0.30× | ✗ |',
    '| P3 | PostgreSQL | ≥ 0.8× | not measured | – |',
  ]);
});

test('a run of some measures keeps the previous results of the others', () => {
  const growth: Report['sections'][number] = {
    ...{ title: 'Growth', table: { head: [], rows: [] }, notes: [], bars: [], raw: null },
    verdicts: [{ measure: 'P5', what: 'growth', target: '≤ 1.2×', measured: '1.10×', met: true }],
  };
  const later = { ...report, commit: 'def5678', sections: [growth] };
  const joined = keepEarlier(later, report, new Set(['P5', 'P8']));
  assert.deepEqual(
    joined.sections.map(({ title, notes }) => [title, notes.length]),
    [
      ['Throughput', 2],
      ['Growth', 0],
    ],
  );
  assert.match(joined.sections[0]?.notes[1] ?? '', /2026-11-02 09:00 at abc1234, 5 rounds/);
  const again = keepEarlier(later, joined, new Set(['P5']));
  assert.deepEqual(again.sections[0]?.notes, joined.sections[0]?.notes);
  assert.equal(again.sections.length, 2);
  const elsewhere = { ...report, machine: { ...report.machine, processor: 'Another' } };
  assert.equal(keepEarlier(later, elsewhere, new Set(['P5'])).sections.length, 1);
  assert.equal(keepEarlier(later, null, new Set(['P5'])).sections.length, 1);
});

test('the page contains the summary, every table and the machine', () => {
  const page = formatReport(report);
  assert.ok(page.includes(formatSummary(report)));
  assert.match(page, /\| hub \| 9,000 \|/);
  assert.match(page, /2 cores of Some processor/);
  assert.doesNotMatch(page, /quick run/i);
});

test('a quick run is marked as such', () => {
  const quick = { ...report, options: { quick: true, rounds: 1 } };
  assert.match(formatSummary(quick), /quick run: not to be quoted/);
});

test('a cell cannot break its table', () => {
  const table = formatTable({ head: ['a'], rows: [['one | two\nthree']] });
  assert.equal(table.split('\n')[2], '| one \\| two three |');
});

test('only the block of a page is replaced', () => {
  const page = 'before\n<!-- bench -->\nold\n<!-- /bench -->\nafter\n';
  const replaced = replaceBlock(page, 'new');
  assert.equal(replaced, 'before\n<!-- bench -->\nnew\n<!-- /bench -->\nafter\n');
  assert.equal(readBlock(replaced), 'new');
  assert.throws(() => readBlock('no marks'), /has no <!-- bench -->/);
});

test('the chart draws a bar in proportion to its figure and escapes its label', () => {
  const bars = [
    { label: 'a < b', value: 50, min: 40, max: 100, tone: 'hub' as const },
    { label: 'c', value: 25, min: 25, max: 25, tone: 'peer' as const },
  ];
  const svg = drawChart('Title', bars);
  const widths = [...svg.matchAll(/<rect class="\w+" .*? width="([\d.]+)"/g)].map(([, width]) =>
    Number(width),
  );
  assert.equal(widths.length, 2);
  assert.equal(widths[0], (widths[1] ?? 0) * 2);
  assert.match(svg, /a &lt; b/);
});

test('options select measures, and unknown ones are rejected', () => {
  assert.deepEqual([...parseOptions(['--only', 'P1,p4']).only], ['P1', 'P4']);
  assert.deepEqual([...parseOptions(['fleet', 'disk']).only], ['P11', 'P13']);
  assert.equal(parseOptions(['fleet']).isQuoted, false);
  assert.equal(parseOptions([]).only.size, 13);
  assert.equal(parseOptions([]).rounds, 5);
  assert.equal(parseOptions(['--quick']).rounds, 1);
  assert.equal(parseOptions(['--brief']).isQuoted, false);
  assert.equal(parseOptions(['--brief', '--only', 'P1', '--write-summary']).isQuoted, true);
  assert.deepEqual([...parseOptions(['browser']).only], ['P10']);
  assert.throws(() => parseOptions(['--only', 'P16']), /P16 is not a measure/);
  assert.throws(() => parseOptions(['--rounds', '0']), /from 1 to 99/);
  assert.equal(parseOptions([]).agents, null);
  assert.equal(parseOptions(['fleet', '--agents', '200']).agents, 200);
  assert.equal(parseOptions(['fleet', '--engine', 'postgres']).engine, 'postgres');
  assert.throws(() => parseOptions(['--engine', 'mysql']), /--engine must be sqlite or postgres/);
  assert.throws(() => parseOptions(['--agents', '0.5']), /--agents must be an integer/);
});

test('the table of RESULTS.md is the one written by the latest run', () => {
  const table = readFileSync(join(import.meta.dirname, '../RESULTS.md'), 'utf8');
  const written = existsSync(latestPath)
    ? formatSummary(JSON.parse(readFileSync(latestPath, 'utf8')) as Report)
    : 'Not measured yet: `npm run bench -- --write-summary`.';
  assert.equal(readBlock(table), written.trim());
  if (!existsSync(latestPath)) return;
  const results = readFileSync(latestPath.replace(/json$/, 'md'), 'utf8');
  assert.ok(results.includes(written), 'latest.md contains the same summary');
});
