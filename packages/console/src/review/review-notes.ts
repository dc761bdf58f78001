import type { Evidence } from '@signalbox/contract';
import { type KnownEvidence, readEvidence } from '../format/evidence.ts';
import { lineKey } from './review-threads.ts';

/** The words of a check or a review on a line. */
export interface LineNote {
  source: string;
  text: string;
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
    notes.set(key, [...(notes.get(key) ?? []), note]);
  };
  for (const check of readEvidence(evidence).checks.filter(hasFailed)) {
    for (const [, path = '', colon, paren, text = ''] of (check.output ?? '').matchAll(placed)) {
      const note = { source: `Check ${check.name}`, text: text || 'failed here' };
      add(path.replace(/^\.\//, ''), Number(colon ?? paren), note);
    }
  }
  for (const { file, line, severity, message } of findingsOf(evidence)) {
    add(file, line, { source: `Finding, ${severity}`, text: message });
  }
  return notes;
}

function hasFailed({ outcome, exitCode }: KnownEvidence['checks'][number]): boolean {
  return outcome === undefined ? (exitCode ?? 0) !== 0 : outcome === 'failed';
}

/** Evidence is stored in any form. */
function findingsOf({ findings }: Evidence) {
  if (!Array.isArray(findings)) return [];
  return findings.flatMap((each: unknown) => {
    const { file, line, severity, message } = Object(each) as Record<string, unknown>;
    if (typeof file !== 'string' || typeof line !== 'number') return [];
    return [{ file, line, severity: String(severity), message: String(message) }];
  });
}
