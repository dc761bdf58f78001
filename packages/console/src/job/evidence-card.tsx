import type { Job } from '@signalbox/contract';
import { Link } from '@tanstack/react-router';
import type { EvidenceCheck, KnownEvidence } from '../format/evidence.ts';
import { readEvidence } from '../format/evidence.ts';
import { checkoutCommandOf } from '../format/job-actions.ts';
import { plainText } from '../format/text.ts';
import { formatDuration } from '../format/time.ts';
import { Command, CopyButton } from '../parts/copy-button.tsx';
import { Icon, type IconName } from '../parts/icon.tsx';
import { ChangedFiles } from './changed-files.tsx';

/** Files that the card shows; the tab has all. */
const CARD_FILES = 12;
const SHA_CHARS = 12;

const verdictLooks: Readonly<
  Record<NonNullable<KnownEvidence['verdict']>, { icon: IconName; tone: string; word: string }>
> = {
  verified: { icon: 'circle-check', tone: 'text-done', word: 'Verified' },
  gaps: { icon: 'triangle-alert', tone: 'text-warning', word: 'Verified with gaps' },
  unverified: { icon: 'triangle-alert', tone: 'text-warning', word: 'Not verified' },
};

/** The proof of the outcome: verdict, checks, branch and files. */
export function EvidenceCard({ job }: { job: Job }) {
  if (job.evidence === null) return null;
  const evidence = readEvidence(job.evidence);
  const { verdict, checks, files, filesOmitted } = evidence;
  const look = verdict && verdictLooks[verdict];
  const isEmpty =
    job.changed !== false && !look && checks.length === 0 && files.length === 0 && !evidence.branch;
  if (isEmpty && evidence.commitSha === undefined) return null;
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
      {checks.length > 0 && <Checks checks={checks} />}
      <Place evidence={evidence} />
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

/** Branch and commit, and the command that checks the work out. */
export function Place({ evidence: { branch, commitSha } }: { evidence: KnownEvidence }) {
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
        </p>
      )}
    </div>
  );
}

function Checks({ checks }: { checks: readonly EvidenceCheck[] }) {
  return (
    <ul className="grid min-w-0">
      {checks.map(({ name, exitCode, durationMs }, at) => (
        <li
          // biome-ignore lint/suspicious/noArrayIndexKey: two checks may have one name.
          key={at}
          className="flex min-h-row-dense min-w-0 items-center gap-2"
        >
          <Icon
            name={exitCode === 0 ? 'circle-check' : 'circle-x'}
            className={exitCode === 0 ? 'shrink-0 text-done' : 'shrink-0 text-failed'}
          />
          <span className="min-w-0 font-mono text-xs wrap-anywhere">{plainText(name)}</span>
          <span className="ml-auto shrink-0 text-xs text-muted tabular-nums">
            {exitCode === undefined ? 'no exit code' : `exit ${exitCode}`}
            {durationMs !== undefined && ` · ${formatDuration(durationMs)}`}
          </span>
        </li>
      ))}
    </ul>
  );
}
