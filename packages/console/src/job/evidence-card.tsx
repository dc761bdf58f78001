import type { CheckOutcome, Job } from '@signalbox/contract';
import { Link } from '@tanstack/react-router';
import type { KnownEvidence, ShownCheck } from '../format/evidence.ts';
import { readEvidence } from '../format/evidence.ts';
import { checkoutCommandOf } from '../format/job-actions.ts';
import { plainText } from '../format/text.ts';
import { formatDuration } from '../format/time.ts';
import { Command, CopyButton } from '../parts/form/copy-button.tsx';
import { Icon, type IconName } from '../parts/page/icon.tsx';
import { LinkedText } from '../parts/text/linked-text.tsx';
import { ChangedFiles } from './changed-files.tsx';
import { Attachments, Denied, ReportedChecks, Secrets } from './evidence-reports.tsx';

/** Files that the card shows; the tab has all. */
const CARD_FILES = 12;
const SHA_CHARS = 12;

const verdictLooks: Readonly<
  Record<
    NonNullable<KnownEvidence['verdict']>,
    { icon: IconName; tone: string; word: string; meaning: string }
  >
> = {
  verified: {
    icon: 'circle-check',
    tone: 'text-done',
    word: 'Verified',
    meaning: 'All checks passed, and the clone of the agent has the commit.',
  },
  gaps: {
    icon: 'triangle-alert',
    tone: 'text-warning',
    word: 'Has gaps',
    meaning: 'A part of the proof is missing.',
  },
  unverified: {
    icon: 'triangle-alert',
    tone: 'text-muted',
    word: 'Not verified',
    meaning: 'No checks are configured for this repository, so nothing proves the commit.',
  },
};

/** The proof of the outcome: verdict, checks, branch and files. */
export function EvidenceCard({ job }: { job: Job }) {
  if (job.evidence === null) return null;
  const evidence = readEvidence(job.evidence);
  const { verdict, checks, files, filesOmitted } = evidence;
  // The list of checks says these already.
  const gaps = evidence.gaps.filter(
    (gap) => !checks.some(({ name }) => gap.startsWith(`Check ${name} `)),
  );
  const look = verdict && verdictLooks[verdict];
  if (job.changed !== false && isEmpty(evidence)) return null;
  return (
    <section
      aria-labelledby="evidence"
      className="grid min-w-0 gap-3 rounded-lg border bg-surface p-4 text-sm sm:p-5"
    >
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h2 id="evidence" className="font-semibold">
          Evidence
        </h2>
        {look && (
          <span className={`inline-flex items-center gap-1.5 font-medium ${look.tone}`}>
            <Icon name={look.icon} />
            {look.word}
          </span>
        )}
      </div>
      {job.changed === false && (
        <p className="flex items-center gap-1.5 rounded-md bg-warning-soft px-3 py-2 text-warning">
          <Icon name="triangle-alert" className="shrink-0" />
          No changes: there is no commit and no changed file.
        </p>
      )}
      {look && <p className="text-muted">{look.meaning}</p>}
      <Secrets files={evidence.secretsIn} />
      <Denied commands={evidence.denied} />
      {evidence.isolation !== undefined && (
        <p className="text-muted">Isolation: {plainText(evidence.isolation)}</p>
      )}
      {checks.length > 0 && <Checks checks={checks} />}
      {gaps.length > 0 && <Gaps gaps={gaps} />}
      <ReportedChecks checks={evidence.reported} />
      <Place evidence={evidence} />
      <Attachments workspaceId={job.workspaceId} jobId={job.jobId} files={evidence.attachments} />
      {files.length > 0 && (
        <div className="grid gap-2">
          <h3 className="flex flex-wrap items-baseline justify-between gap-2 text-muted">
            {files.length + filesOmitted} changed{' '}
            {files.length + filesOmitted === 1 ? 'file' : 'files'}
            {files.length > CARD_FILES && (
              <Link
                to="."
                search={{ tab: 'changes' }}
                className="text-accent underline underline-offset-2"
              >
                All files
              </Link>
            )}
          </h3>
          <ChangedFiles files={files.slice(0, CARD_FILES)} filesOmitted={0} shown={CARD_FILES} />
        </div>
      )}
    </section>
  );
}

/** Whether the card has nothing to show. */
function isEmpty(evidence: KnownEvidence): boolean {
  const { verdict, commitSha, branch } = evidence;
  const { checks, files, secretsIn, denied, reported, attachments } = evidence;
  return (
    [verdict, commitSha, branch].every((value) => value === undefined) &&
    [checks, files, secretsIn, denied, reported, attachments].every(({ length }) => length === 0)
  );
}

/** Branch and commit, and the command that checks the work out. */
export function Place({ evidence }: { evidence: KnownEvidence }) {
  const { branch, commitSha, pushedTo, pullRequestUrl } = evidence;
  if (branch === undefined && commitSha === undefined) return null;
  return (
    <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-2">
      {branch !== undefined && <Command text={checkoutCommandOf(plainText(branch))} />}
      {commitSha !== undefined && (
        <p className="flex items-center gap-1">
          <span className="text-muted">Commit</span>
          <code className="font-mono text-xs" title={plainText(commitSha)}>
            {plainText(commitSha.slice(0, SHA_CHARS))}
          </code>
          <CopyButton text={commitSha} what="commit" />
          {pushedTo !== undefined && (
            <span className="text-muted">pushed to {plainText(pushedTo)}</span>
          )}
        </p>
      )}
      {pullRequestUrl !== undefined && (
        <p className="min-w-0 wrap-anywhere">
          <LinkedText text={pullRequestUrl} />
        </p>
      )}
    </div>
  );
}

/** The proofs that are missing, in sentences of the agent. */
function Gaps({ gaps }: { gaps: readonly string[] }) {
  return (
    <ul className="grid min-w-0 gap-1 rounded-md bg-warning-soft px-3 py-2 text-warning">
      {gaps.map((gap, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two gaps may have one text.
        <li key={at} className="wrap-anywhere">
          {plainText(gap)}
        </li>
      ))}
    </ul>
  );
}

const checkEnds: Readonly<Record<CheckOutcome, string>> = {
  passed: 'passed',
  failed: 'failed',
  timed_out: 'timed out',
  refused: 'not started',
  stopped: 'stopped',
};

function endOf({ outcome, exitCode }: ShownCheck): string {
  if (outcome === 'failed' && exitCode !== undefined) return `exit ${exitCode}`;
  if (outcome !== undefined) return checkEnds[outcome];
  return exitCode === undefined ? 'no exit code' : `exit ${exitCode}`;
}

function Checks({ checks }: { checks: readonly ShownCheck[] }) {
  return (
    <ul className="grid min-w-0">
      {checks.map((check, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two checks may have one name.
        <CheckRow key={at} check={check} />
      ))}
    </ul>
  );
}

/** A check that did not pass shows the end of its output on request. */
function CheckRow({ check }: { check: ShownCheck }) {
  const { name, outcome, exitCode, durationMs, output } = check;
  const isGood = outcome === undefined ? exitCode === 0 : outcome === 'passed';
  return (
    <li className="min-w-0">
      <div className="flex min-h-row-dense min-w-0 items-center gap-2">
        <Icon
          name={isGood ? 'circle-check' : 'circle-x'}
          className={isGood ? 'shrink-0 text-done' : 'shrink-0 text-failed'}
        />
        <span className="min-w-0 font-mono text-xs wrap-anywhere">{plainText(name)}</span>
        <span className="ml-auto shrink-0 text-xs text-muted tabular-nums">
          {endOf(check)}
          {durationMs !== undefined && ` · ${formatDuration(durationMs)}`}
        </span>
      </div>
      {!isGood && output !== undefined && (
        <details className="mb-2 ml-6 min-w-0 text-xs">
          <summary className="cursor-pointer py-1 text-muted pointer-coarse:py-3.5">
            End of the output
          </summary>
          <pre className="max-h-60 overflow-auto rounded-md bg-well p-2 font-mono whitespace-pre-wrap wrap-anywhere">
            {plainText(output)}
          </pre>
        </details>
      )}
    </li>
  );
}
