import { type Figure, formatValue } from './figure.ts';
import type { Machine } from './machine.ts';
import type { MeasureName } from './options.ts';
import { findMedian } from './statistics.ts';

/** One run of the bench, and in RESULTS.md the latest figures of all runs on a machine. */
export interface Report {
  readonly machine: Machine;
  readonly isQuick: boolean;
  readonly figures: readonly DatedFigure[];
}

export interface DatedFigure extends Figure {
  /** Day and commit of the run, with a plus if files differed from the commit. */
  readonly run: string;
}

/**
 * Adds the figures of earlier runs, for the measures that this run did not take: a complete run
 * takes long. Figures of another machine are dropped.
 */
export function keepEarlier(
  report: Report,
  before: Report | null,
  taken: ReadonlySet<MeasureName>,
): Report {
  if (before === null || before.machine.processor !== report.machine.processor) return report;
  const kept = before.figures.filter(({ measure }) => !taken.has(measure));
  return { ...report, figures: [...kept, ...report.figures].toSorted(byMeasure) };
}

function byMeasure(a: Figure, b: Figure): number {
  return a.measure.localeCompare(b.measure, 'en', { numeric: true });
}

/** The figures as a page: the machine, and each figure with its target. */
export function formatReport({ machine, isQuick, figures }: Report): string {
  const { processor, cores, memoryBytes, system, node, postgres, redis, syncP50Ms } = machine;
  const rows = figures.map(formatFigure);
  const head = ['', 'measured', 'target', 'figure', 'rounds', 'run', ''];
  return [
    `${cores} cores of ${processor}, ${Math.round(memoryBytes / 1e6)} MB of memory, ${system}, ` +
      `Node ${node}, PostgreSQL ${postgres}, Redis ${redis}; a synced write of 4 KB takes ` +
      `${syncP50Ms.toFixed(2)} ms. Hub, peers, databases and load share these cores.` +
      (isQuick ? ' **A quick run: not to be quoted.**' : ''),
    '',
    ...[head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`),
  ].join('\n');
}

function formatFigure({
  measure,
  what,
  unit,
  atLeast,
  atMost,
  values,
  run,
}: DatedFigure): string[] {
  const bound = atLeast ?? atMost;
  const sign = atLeast === undefined ? '≤' : '≥';
  const target = bound === undefined ? '' : `${sign} ${formatValue(bound, unit)}`;
  if (typeof values === 'string') {
    return [measure, what, target, escapeCell(values), '', run, '–'];
  }
  const median = findMedian(values);
  const isMet = median >= (atLeast ?? -Infinity) && median <= (atMost ?? Infinity);
  const range = [Math.min(...values), Math.max(...values)].map((each) => formatValue(each, unit));
  const rounds = values.length === 1 ? '1' : `${values.length}: ${range.join(' to ')}`;
  const mark = isMet ? '✓' : '✗';
  return [
    measure,
    what,
    target,
    formatValue(median, unit),
    rounds,
    run,
    bound === undefined ? '' : mark,
  ];
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|').replace(/\s*\n\s*/g, ' ');
}

/** The bench writes the text between these marks in RESULTS.md. */
const marks = ['<!-- bench -->', '<!-- /bench -->'] as const;

/** Returns the page with the block replaced. @throws Error if the page has no such marks. */
export function replaceBlock(page: string, block: string): string {
  const [begin, end] = marks.map((mark) => page.indexOf(mark)) as [number, number];
  if (begin === -1 || end < begin) throw new Error(`The page has no ${marks.join(' … ')}.`);
  return `${page.slice(0, begin + marks[0].length)}\n${block.trim()}\n${page.slice(end)}`;
}
