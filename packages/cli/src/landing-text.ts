import type { CheckOutcome, Evidence, Verdict } from '@signalbox/contract';
import { checkOutcomes } from '@signalbox/contract';
import { formatDuration } from './duration.ts';
import type { Io, Styles } from './io.ts';
import { oneLine } from './text.ts';

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
export interface ShownCheck {
  name: string;
  outcome: CheckOutcome | null;
  exitCode: number | null;
  durationMs: number | null;
}

/** The evidence of landing. Any agent may have sent any form. */
export interface ShownEvidence {
  branch: string | null;
  baseSha: string | null;
  checks: ShownCheck[];
  gaps: string[];
  pushedTo: string | null;
  pullRequestUrl: string | null;
}

export function readEvidence(evidence: Evidence | null): ShownEvidence {
  const { branch, baseSha, checks, gaps, pushedTo, pullRequestUrl } = evidence ?? {};
  return {
    branch: textOf(branch),
    baseSha: textOf(baseSha),
    checks: listOf(checks).map(readCheck),
    gaps: listOf(gaps).filter((gap) => typeof gap === 'string'),
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

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null);
const numberOf = (value: unknown) =>
  typeof value === 'number' && Number.isFinite(value) ? value : null;

/** Prints the checks and what is missing, a line each. */
export function printProof({ styles, print }: Io, { checks, gaps }: ShownEvidence): void {
  if (checks.length === 0 && gaps.length === 0) return;
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
}
