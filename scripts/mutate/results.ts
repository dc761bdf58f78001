import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Mutant } from './mutants.ts';

/** A mutant, and the test that found it. */
export interface Verdict extends Mutant {
  readonly outcome: 'killed' | 'survived';
  /** The test file that failed, and which of its tests did. */
  readonly killer: string | undefined;
  readonly failure: string | undefined;
}

/** The results so far, kept in a file so that a later run can continue. */
export interface Results {
  /** How long each test file takes without a fault, in milliseconds, by `durationKey`. */
  readonly durationsMs: Record<string, number>;
  readonly verdicts: Verdict[];
}

/** Empty if the file does not exist. `withoutSurvivors` leaves out the faults that survived. */
export function readResults(path: string, withoutSurvivors = false): Results {
  if (!existsSync(path)) return { durationsMs: {}, verdicts: [] };
  const results = JSON.parse(readFileSync(path, 'utf8')) as Results;
  if (!withoutSurvivors) return results;
  return { ...results, verdicts: results.verdicts.filter(({ outcome }) => outcome === 'killed') };
}

/** An interrupted run leaves the file whole. */
export function writeResults(path: string, results: Results): void {
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.draft`;
  writeFileSync(draft, `${JSON.stringify(results, null, 1)}\n`);
  renameSync(draft, path);
}

export function describeVerdict({ outcome, killer, failure, ...mutant }: Verdict): string {
  const short = (text: string) => JSON.stringify(text.replace(/\s+/g, ' ').slice(0, 60));
  const { file, line, operator, original, replacement } = mutant;
  const what = `${file}:${line} ${operator}: ${short(original)} → ${short(replacement)}`;
  return outcome === 'killed'
    ? `killed    ${what}\n            ${killer ?? 'the process'}: ${failure}`
    : `SURVIVED  ${what}`;
}
