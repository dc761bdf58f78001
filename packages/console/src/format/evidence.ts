import type { Evidence } from '@signalbox/contract';
import { branchOf } from './job-actions.ts';

export interface EvidenceCheck {
  name: string;
  exitCode: number | undefined;
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
  verdict: 'verified' | 'gaps' | 'unverified' | undefined;
  checks: EvidenceCheck[];
  files: ChangedFile[];
  /** Files that the agent left out of its list. */
  filesOmitted: number;
}

const verdicts = ['verified', 'gaps', 'unverified'] as const;

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
    files: readFiles(evidence.changedFiles ?? [], listOf(fields.files).filter(isObject)),
    filesOmitted: numberOf(fields.changedFilesOmitted) ?? 0,
  };
}

function readCheck(check: Fields): EvidenceCheck {
  return {
    name: textOf(check.name) ?? textOf(check.command) ?? 'A check without a name',
    exitCode: numberOf(check.exitCode),
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
