import type { CheckOutcome, Evidence, Verdict } from '@signalbox/contract';
import { branchOf } from './job-actions.ts';

export interface ShownCheck {
  name: string;
  /** Absent from the evidence of other agents, which then is judged by its exit code. */
  outcome: CheckOutcome | undefined;
  exitCode: number | undefined;
  /** The end of its output. */
  output: string | undefined;
  durationMs: number | undefined;
}

export interface ChangedFile {
  path: string;
  added: number | undefined;
  deleted: number | undefined;
}

/** The evidence of an outcome, as far as the console knows its fields. */
export interface KnownEvidence {
  commitSha: string | undefined;
  branch: string | undefined;
  verdict: Verdict | undefined;
  checks: ShownCheck[];
  /** The proofs that are missing, one sentence each. */
  gaps: string[];
  pushedTo: string | undefined;
  pullRequestUrl: string | undefined;
  files: ChangedFile[];
  /** Files that the agent left out of its list. */
  filesOmitted: number;
}

const verdicts: readonly Verdict[] = ['verified', 'gaps', 'unverified'];
const outcomes: readonly CheckOutcome[] = ['passed', 'failed', 'timed_out', 'refused', 'stopped'];

type Fields = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null;
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const numberOf = (value: unknown) =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;
const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);

/**
 * Reads evidence. Its further fields are the agent's and have any form: what has another form than
 * is known here is left to the tab that shows everything.
 */
export function readEvidence(evidence: Evidence): KnownEvidence {
  const fields: Fields = evidence;
  return {
    commitSha: textOf(fields.commitSha),
    branch: branchOf(evidence),
    verdict: verdicts.find((verdict) => verdict === fields.verdict),
    checks: listOf(fields.checks).filter(isObject).map(readCheck),
    gaps: listOf(fields.gaps).filter((gap) => typeof gap === 'string'),
    pushedTo: textOf(fields.pushedTo),
    pullRequestUrl: webUrlOf(fields.pullRequestUrl),
    files: readFiles(evidence.changedFiles ?? [], listOf(fields.files).filter(isObject)),
    filesOmitted: numberOf(fields.changedFilesOmitted) ?? 0,
  };
}

/** Agents may send any text, and a page must not link to a script. */
function webUrlOf(value: unknown): string | undefined {
  const url = URL.parse(textOf(value) ?? '');
  return url !== null && /^https?:$/.test(url.protocol) ? url.href : undefined;
}

function readCheck(check: Fields): ShownCheck {
  return {
    name: textOf(check.name) ?? textOf(check.command) ?? 'A check without a name',
    outcome: outcomes.find((outcome) => outcome === check.outcome),
    exitCode: numberOf(check.exitCode),
    output: textOf(check.output),
    durationMs: numberOf(check.durationMs),
  };
}

/** All changed files, with their counts where the agent sent them. */
function readFiles(paths: readonly string[], counted: readonly Fields[]): ChangedFile[] {
  const counts = new Map(counted.map((file) => [textOf(file.path), file]));
  const known = new Set(paths);
  const others = [...counts.keys()].filter((path) => path !== undefined && !known.has(path));
  return [...paths, ...(others as string[])].map((path) => ({
    path,
    added: numberOf(counts.get(path)?.added),
    deleted: numberOf(counts.get(path)?.deleted),
  }));
}
