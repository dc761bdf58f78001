import type { CheckOutcome, Evidence, Verdict } from '@signalbox/contract';
import { checkOutcomes } from '@signalbox/contract';
import { formatDuration } from '../terminal/duration.ts';
import type { Io, Styles } from '../terminal/io.ts';
import { oneLine } from '../terminal/text.ts';

/** Verdicts as text: as short as a status, and clear without colour. */
export const verdictTexts: Readonly<Record<Verdict, string>> = {
  verified: 'verified',
  gaps: 'has gaps',
  unverified: 'not verified',
};

const verdictColors: Readonly<Record<Verdict, keyof Styles>> = {
  verified: 'green',
  gaps: 'yellow',
  unverified: 'dim',
};

export function colorVerdict(styles: Styles, verdict: Verdict | null, text: string): string {
  return verdict === null ? text : styles[verdictColors[verdict]](text);
}

const outcomeTexts: Readonly<Record<CheckOutcome, string>> = {
  passed: 'passed',
  failed: 'failed',
  timed_out: 'reached its time limit',
  refused: 'could not be started',
  stopped: 'was stopped',
};

/** A check as the evidence tells it. */
interface ShownCheck {
  name: string;
  outcome: CheckOutcome | null;
  exitCode: number | null;
  durationMs: number | null;
}

/** Something that a review says is wrong. */
interface ShownFinding {
  /** The file, with its line if it is known. */
  place: string;
  severity: string;
  message: string;
}

/** The evidence of landing. Any agent may have sent any form. */
export interface ShownEvidence {
  branch: string | null;
  baseSha: string | null;
  /** Null: of a first round, or not known. */
  roundBaseSha: string | null;
  checks: ShownCheck[];
  gaps: string[];
  findings: ShownFinding[];
  pushedTo: string | null;
  pullRequestUrl: string | null;
}

export function readEvidence(evidence: Evidence | null): ShownEvidence {
  const { branch, baseSha, roundBaseSha, checks, gaps, findings, pushedTo, pullRequestUrl } =
    evidence ?? {};
  return {
    branch: textOf(branch),
    baseSha: textOf(baseSha),
    roundBaseSha: textOf(roundBaseSha),
    checks: listOf(checks).map(readCheck),
    gaps: listOf(gaps).filter((gap) => typeof gap === 'string'),
    findings: listOf(findings).map(readFinding),
    pushedTo: textOf(pushedTo),
    pullRequestUrl: textOf(pullRequestUrl),
  };
}

function readCheck(check: unknown): ShownCheck {
  const { name, command, outcome, exitCode, durationMs } = (check ?? {}) as Record<string, unknown>;
  return {
    name: textOf(name) ?? textOf(command) ?? 'a check without a name',
    outcome: checkOutcomes.find((known) => known === outcome) ?? null,
    exitCode: numberOf(exitCode),
    durationMs: numberOf(durationMs),
  };
}

function readFinding(finding: unknown): ShownFinding {
  const { file, line, severity, message } = (finding ?? {}) as Record<string, unknown>;
  const place = [textOf(file) ?? 'no file', numberOf(line)].filter((part) => part !== null);
  return {
    place: place.join(':'),
    severity: textOf(severity) ?? 'finding',
    message: textOf(message) ?? '',
  };
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null);
const numberOf = (value: unknown) =>
  typeof value === 'number' && Number.isFinite(value) ? value : null;

const reportedMarks = { passed: '✔', failed: '✖', skipped: '–' } as const;

/** Prints what the tool itself has reported, and the files it has attached, a line each. */
export function printReported({ styles, print }: Io, evidence: Evidence | null): void {
  const { reported, attachments } = (evidence ?? {}) as Record<string, unknown>;
  const lines = [...listOf(reported).map(reportedLine), ...listOf(attachments).map(attachedLine)];
  const known = lines.filter((line) => line !== null);
  if (known.length === 0) return;
  print();
  print(styles.dim('  The tool says:'));
  for (const line of known) print(`  ${line}`);
}

function reportedLine(value: unknown): string | null {
  const { check, outcome, detail, link } = (value ?? {}) as Record<string, unknown>;
  const name = textOf(check);
  if (name === null) return null;
  const mark = Object.entries(reportedMarks).find(([known]) => known === outcome)?.[1] ?? '?';
  const more = [textOf(detail), textOf(link)].filter((part) => part !== null).map(oneLine);
  return [`${mark} ${oneLine(name)}`, ...more].join(' · ');
}

function attachedLine(value: unknown): string | null {
  const { fileName, sizeBytes, uploadId } = (value ?? {}) as Record<string, unknown>;
  const name = textOf(fileName);
  if (name === null) return null;
  const size = numberOf(sizeBytes);
  const more = [size === null ? null : `${size.toLocaleString('en')} bytes`, textOf(uploadId)];
  const shown = more.filter((part) => part !== null).map(oneLine);
  return [`+ ${oneLine(name)}`, ...shown].join(' · ');
}

/** Prints the checks, what is missing, and the findings of a review, a line each. */
export function printProof({ styles, print }: Io, evidence: ShownEvidence): void {
  const { checks, gaps, findings } = evidence;
  if (checks.length + gaps.length + findings.length === 0) return;
  print();
  for (const { name, outcome, exitCode, durationMs } of checks) {
    const isGood = outcome === 'passed' || (outcome === null && exitCode === 0);
    const mark = isGood ? styles.green('✔') : styles.yellow('✖');
    const end = outcome === null ? `exit ${exitCode ?? 'unknown'}` : outcomeTexts[outcome];
    const code = outcome === 'failed' && exitCode !== null ? `, exit ${exitCode}` : '';
    const took = durationMs === null ? '' : ` in ${formatDuration(durationMs)}`;
    print(`  ${mark} ${oneLine(name)}  ${styles.dim(`${end}${code}${took}`)}`);
  }
  // The lines of the checks say some of them already.
  const others = gaps.filter((gap) => !checks.some(({ name }) => gap.startsWith(`Check ${name} `)));
  for (const gap of others) print(`  ${styles.yellow('!')} ${oneLine(gap)}`);
  for (const { place, severity, message } of findings) {
    const word = severity === 'blocker' ? styles.red(severity) : styles.yellow(oneLine(severity));
    print(`  ${word}  ${oneLine(place)}  ${oneLine(message)}`);
  }
}
