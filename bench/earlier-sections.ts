import { readFileSync } from 'node:fs';
import type { MeasureName } from './options.ts';
import type { Report } from './report.ts';
import type { Section } from './section.ts';

/** Reads the report of the previous run; null if there was no such run. */
export function readReport(path: string): Report | null {
  try {
    // This program has written the file.
    return JSON.parse(readFileSync(path, 'utf8')) as Report;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/**
 * Adds the sections of the previous report for the measures that this run did not take: a complete
 * run takes long, and this allows repeating a single measure. Figures of another machine are
 * dropped.
 */
export function keepEarlier(
  report: Report,
  before: Report | null,
  taken: ReadonlySet<MeasureName>,
): Report {
  if (before === null || before.options.quick) return report;
  if (before.machine.processor !== report.machine.processor) return report;
  const kept = before.sections
    .filter(({ verdicts }) => !verdicts.some(({ measure }) => taken.has(measure)))
    .map((section) => noteOrigin(section, before));
  const sections = [...report.sections, ...kept].toSorted((a, b) =>
    firstMeasure(a).localeCompare(firstMeasure(b), 'en', { numeric: true }),
  );
  return { ...report, sections };
}

/** Adds a note about the origin of a section from an earlier run, once. */
function noteOrigin(section: Section, { at, commit, options }: Report): Section {
  if (section.notes.some((note) => note.startsWith(originMark))) return section;
  const rounds = options.rounds === 1 ? 'one round' : `${options.rounds} rounds`;
  const note = `${originMark} ${at.slice(0, 16).replace('T', ' ')} at ${commit}, ${rounds}.`;
  return { ...section, notes: [...section.notes, note] };
}

const originMark = 'Measured apart,';

function firstMeasure({ verdicts, title }: Section): string {
  return verdicts[0]?.measure ?? title;
}
