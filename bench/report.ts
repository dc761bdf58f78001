import { formatMegabytes } from './format.ts';
import type { Machine } from './machine.ts';
import type { Options } from './options.ts';
import type { Section, Table, Verdict } from './section.ts';

/** One run of the bench. */
export interface Report {
  /** RFC 3339 in UTC. */
  readonly at: string;
  /** The measured commit, with a plus if files differ from it. */
  readonly commit: string;
  readonly options: Pick<Options, 'quick' | 'rounds'>;
  readonly machine: Machine;
  readonly sections: readonly Section[];
  readonly seconds: number;
}

/** The page of one run: first the targets, then all figures. */
export function formatReport(report: Report): string {
  const { sections } = report;
  return [
    '# Bench\n',
    formatSummary(report),
    ...(sections.some(({ bars }) => bars.length > 0)
      ? ['![Whole cycles per second](latest.svg)\n']
      : []),
    ...sections.map(formatSection),
  ].join('\n');
}

/** The summary for RESULTS.md: the machine, and the targets with their results. */
export function formatSummary(report: Report): string {
  const verdicts = report.sections
    .flatMap((section) => section.verdicts)
    .toSorted((a, b) => a.measure.localeCompare(b.measure, 'en', { numeric: true }));
  const table = {
    head: ['', 'measured', 'target', 'figure', ''],
    rows: verdicts.map(formatVerdict),
  };
  return `${describeRun(report)}\n\n${formatTable(table)}`;
}

function formatVerdict({ measure, what, target, measured, met }: Verdict): string[] {
  return [measure, what, target, measured, met === null ? '–' : signOf(met)];
}

function signOf(met: boolean): string {
  return met ? '✓' : '✗';
}

function describeRun({ at, commit, options, machine, seconds }: Report): string {
  const { processor, cores, memoryBytes, system, node, postgres, redis } = machine;
  const rounds = options.rounds === 1 ? 'one round' : `medians of ${options.rounds} rounds`;
  const quick = options.quick ? ' **A quick run: not to be quoted.**' : '';
  return (
    `Measured ${at.slice(0, 10)} at ${commit} on ${cores} cores of ${processor}, ` +
    `${formatMegabytes(memoryBytes)} of memory, ${system}, Node ${node}, ` +
    `PostgreSQL ${postgres}, Redis ${redis}; a synced write of 4 KB takes ` +
    `${machine.syncP50Ms.toFixed(2)} ms (p99 ${machine.syncP99Ms.toFixed(2)} ms). ` +
    `Hub, peers, databases and load share these cores; ${rounds}, ` +
    `${formatDuration(seconds)} in all.${quick}`
  );
}

function formatDuration(seconds: number): string {
  return seconds < 120 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} minutes`;
}

function formatSection({ title, table, notes }: Section): string {
  const list = notes.map((note) => `- ${note}\n`).join('');
  const figures = table.rows.length === 0 ? '' : `${formatTable(table)}\n`;
  return `## ${title}\n\n${figures}${list}`;
}

/** Formats a Markdown table without padding, because the source of a generated page is not read. */
export function formatTable({ head, rows }: Table): string {
  const line = (cells: readonly string[]) => `| ${cells.map(escapeCell).join(' | ')} |\n`;
  return line(head) + line(head.map(() => '---')) + rows.map(line).join('');
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|').replace(/\s*\n\s*/g, ' ');
}
