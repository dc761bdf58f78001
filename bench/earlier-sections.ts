import { readFileSync } from 'node:fs';
import type { MeasureName } from './options.ts';
import type { Report } from './report.ts';
import type { Section } from './section.ts';

/** The report of the run before, or null where there is none. */
export function readReport(path: string): Report | null {
  try {
    // Written by this program.
    return JSON.parse(readFileSync(path, 'utf8')) as Report;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/**
 * A report of some measures, joined by what the one before says of the others: a whole run takes
 * long, and one measure of it may be taken anew. Figures of another machine are not kept.
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
    firstMeasure(a).localeCompare(firstMeasure(b)),
  );
  return { ...report, sections };
}

/** Says once where a section comes from that another run has kept. */
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
