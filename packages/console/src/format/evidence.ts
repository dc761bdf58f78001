import {
  type CheckOutcome,
  describeIsolation,
  type Evidence,
  readIsolation,
  type Verdict,
} from '@signalbox/contract';
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

/** A check that the tool says it ran; the agent has not verified it. */
export interface ReportedCheck {
  name: string;
  outcome: 'passed' | 'failed' | 'skipped' | undefined;
  detail: string | undefined;
  link: string | undefined;
}

/** A file that the tool has uploaded to the hub. */
export interface AttachedFile {
  uploadId: string;
  fileName: string;
  sizeBytes: number | undefined;
}

export interface ChangedFile {
  path: string;
  added: number | undefined;
  deleted: number | undefined;
}

/** The commit that a work began with, and where that is from. */
interface ShownBase {
  commitSha: string | undefined;
  branch: string | undefined;
  jobs: { jobId: string; commitSha: string | undefined }[];
}

/** The evidence of an outcome, as far as the console knows its fields. */
export interface KnownEvidence {
  commitSha: string | undefined;
  branch: string | undefined;
  verdict: Verdict | undefined;
  checks: ShownCheck[];
  /** The proofs that are missing, one sentence each. */
  gaps: string[];
  /** Absent: the agent did not tell. */
  buildsOn: ShownBase | undefined;
  pushedTo: string | undefined;
  pullRequestUrl: string | undefined;
  files: ChangedFile[];
  /** Files that the agent left out of its list. */
  filesOmitted: number;
  /** The changed files that contain a secret of the agent. */
  secretsIn: string[];
  /** The commands that the tool was not allowed to run. */
  denied: string[];
  /** How the tool was kept from the machine, in a line. */
  isolation: string | undefined;
  reported: ReportedCheck[];
  attachments: AttachedFile[];
}

const verdicts: readonly Verdict[] = ['verified', 'gaps', 'unverified'];
const outcomes: readonly CheckOutcome[] = ['passed', 'failed', 'timed_out', 'refused', 'stopped'];
const reportedOutcomes = ['passed', 'failed', 'skipped'] as const;

type Fields = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null;
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const numberOf = (value: unknown) =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;
const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);
const textsOf = (value: unknown) => listOf(value).filter((each) => typeof each === 'string');

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
    gaps: textsOf(fields.gaps),
    buildsOn: isObject(fields.buildsOn) ? readBase(fields.buildsOn) : undefined,
    pushedTo: textOf(fields.pushedTo),
    pullRequestUrl: webUrlOf(fields.pullRequestUrl),
    files: readFiles(evidence.changedFiles ?? [], listOf(fields.files).filter(isObject)),
    filesOmitted: numberOf(fields.changedFilesOmitted) ?? 0,
    secretsIn: textsOf(fields.secretsIn),
    denied: isObject(fields.executor) ? textsOf(fields.executor.denied) : [],
    isolation: isolationOf(evidence),
    reported: listOf(fields.reported).filter(isObject).map(readReported),
    attachments: listOf(fields.attachments).filter(isObject).flatMap(readAttached),
  };
}

function readBase({ commitSha, branch, jobs }: Fields): ShownBase {
  const parts = listOf(jobs).filter(isObject);
  return {
    commitSha: textOf(commitSha),
    branch: textOf(branch),
    jobs: parts.flatMap((part) => {
      const jobId = textOf(part.jobId);
      return jobId === undefined ? [] : [{ jobId, commitSha: textOf(part.commitSha) }];
    }),
  };
}

function isolationOf(evidence: Evidence): string | undefined {
  const told = readIsolation(evidence);
  return told === null ? undefined : describeIsolation(told);
}

function readReported(fields: Fields): ReportedCheck {
  return {
    name: textOf(fields.check) ?? 'A check without a name',
    outcome: reportedOutcomes.find((outcome) => outcome === fields.outcome),
    detail: textOf(fields.detail),
    link: webUrlOf(fields.link),
  };
}

/** Without an id, the hub has no file to download. */
function readAttached(fields: Fields): AttachedFile[] {
  const uploadId = textOf(fields.uploadId);
  if (uploadId === undefined) return [];
  const fileName = textOf(fields.fileName) ?? uploadId;
  return [{ uploadId, fileName, sizeBytes: numberOf(fields.sizeBytes) }];
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
