import type { Evidence } from '@signalbox/contract';
import { type KnownEvidence, readEvidence } from '../format/evidence.ts';
import type { ReviewFile } from './review-files.ts';
import { type LineRange, lineKey, linesOf } from './review-threads.ts';

/** The words of a check or a review on a line. */
export interface LineNote {
  source: string;
  text: string;
  /** The line in sight that it is about. Absent: its line is not in sight, or was not found. */
  range?: LineRange;
  /** Of another job. */
  review?: {
    jobId: string;
    /** Where it is if not on a line in sight, in words. */
    place: string | null;
    /** The line is another one in the commit that is shown. */
    isOutdated: boolean;
  };
}

/** A job that has reviewed the work, with its evidence. */
export interface WorkReview {
  jobId: string;
  evidence: Evidence;
}

export interface PlacedFindings {
  /** By `lineKey`. */
  byLine: ReadonlyMap<string, LineNote[]>;
  /** By the id of a file. */
  byFile: ReadonlyMap<string, LineNote[]>;
  /** Of files that are not in the patch. */
  elsewhere: LineNote[];
}

/**
 * Puts the findings of other jobs on lines of the result. One of this commit is on its line; one of
 * another commit only if this line has the same text, as git had it for the review. The others are
 * at their file: nothing is guessed.
 *
 * @param shownSha the commit of the result.
 */
export function placeFindings(
  reviews: readonly WorkReview[],
  shownSha: string | undefined,
  files: readonly ReviewFile[],
): PlacedFindings {
  const byLine = new Map<string, LineNote[]>();
  const byFile = new Map<string, LineNote[]>();
  const elsewhere: LineNote[] = [];
  const addTo = (map: Map<string, LineNote[]>, key: string, note: LineNote) =>
    map.set(key, [...(map.get(key) ?? []), note]);
  for (const { jobId, evidence } of reviews) {
    const isSame = shownSha !== undefined && evidence.reviewedSha === shownSha;
    for (const finding of readFindings(evidence)) {
      const { file, line, severity, message } = finding;
      const words = { source: `Finding, ${severity}`, text: message };
      const shown = files.find(({ path }) => path === file);
      const range = rangeInSight(finding, isSame, files);
      if (range !== null) {
        const note = { ...words, range, review: { jobId, place: null, isOutdated: false } };
        addTo(byLine, lineKey(file, 'result', range.startLine), note);
        continue;
      }
      const place = line === undefined ? null : `line ${line}`;
      const review = { jobId, place, isOutdated: !isSame && line !== undefined };
      if (shown !== undefined) addTo(byFile, shown.id, { ...words, review });
      else {
        const named = place === null ? file : `${file}, ${place}`;
        elsewhere.push({ ...words, review: { ...review, place: named } });
      }
    }
  }
  return { byLine, byFile, elsewhere };
}

/** The line of a finding, if the patch shows it and it is known to be the same. */
function rangeInSight(
  { file, line, text }: ReadFinding,
  isSame: boolean,
  files: readonly ReviewFile[],
): LineRange | null {
  if (line === undefined) return null;
  const range: LineRange = { path: file, side: 'result', startLine: line, endLine: line };
  const shown = linesOf(files, range);
  return shown !== null && (isSame || shown === text) ? range : null;
}

/** Such as `src/a.ts:12:5: unused variable` or `src/a.ts(12,5): error TS2345`. */
const placed = /([\w./@+-]+\.\w+)(?::(\d+)(?::\d+)?|\((\d+)(?:,\d+)?\))[:\s-]*(.*)/g;

/**
 * The failed checks and the findings of a job that name a file and a line, by `lineKey` of the
 * result. The paths of a check may begin at a folder of the clone, so the changed file that ends
 * with such a path counts; if several do, none.
 */
export function notesByLine(evidence: Evidence, paths: readonly string[]): Map<string, LineNote[]> {
  const notes = new Map<string, LineNote[]>();
  const add = (path: string, line: number, note: LineNote) => {
    const matches = paths.filter((each) => each === path || each.endsWith(`/${path}`));
    const [only] = matches;
    if (only === undefined || matches.length > 1) return;
    const key = lineKey(only, 'result', line);
    const range = { path: only, side: 'result' as const, startLine: line, endLine: line };
    notes.set(key, [...(notes.get(key) ?? []), { ...note, range }]);
  };
  for (const check of readEvidence(evidence).checks.filter(hasFailed)) {
    for (const [, path = '', colon, paren, text = ''] of (check.output ?? '').matchAll(placed)) {
      const note = { source: `Check ${check.name}`, text: text || 'failed here' };
      add(path.replace(/^\.\//, ''), Number(colon ?? paren), note);
    }
  }
  for (const { file, line, severity, message } of readFindings(evidence)) {
    if (line !== undefined) add(file, line, { source: `Finding, ${severity}`, text: message });
  }
  return notes;
}

function hasFailed({ outcome, exitCode }: KnownEvidence['checks'][number]): boolean {
  return outcome === undefined ? (exitCode ?? 0) !== 0 : outcome === 'failed';
}

type ReadFinding = ReturnType<typeof readFindings>[number];

/** Evidence is stored in any form. */
function readFindings({ findings }: Evidence) {
  if (!Array.isArray(findings)) return [];
  return findings.flatMap((each: unknown) => {
    const { file, line, severity, message, text } = Object(each) as Record<string, unknown>;
    if (typeof file !== 'string') return [];
    const path = file.replace(/^\.\//, '');
    const number = Number.isInteger(line) && Number(line) > 0 ? Number(line) : undefined;
    return [
      {
        file: path,
        line: number,
        severity: String(severity),
        message: String(message),
        text: typeof text === 'string' ? text : undefined,
      },
    ];
  });
}
