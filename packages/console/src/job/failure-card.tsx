import type { Job, OutcomeReason } from '@signalbox/contract';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { logTailQuery } from '../api/log-queries.ts';
import { findFailureLine } from '../format/log.ts';
import { plainText } from '../format/text.ts';
import { Button } from '../parts/form/button.tsx';
import { Icon } from '../parts/page/icon.tsx';
import { LinkedText } from '../parts/text/linked-text.tsx';
import { LogLines } from './log-lines.tsx';

/** Lines of the message that are shown at first, and of the log. */
const MESSAGE_LINES = 12;
const LOG_LINES = 10;

/** Why an attempt failed: its message, once, and the end of its log. */
export function FailureCard({ job }: { job: Job }) {
  const reason = reasonOf(job.outcomeReason);
  const message = job.message ?? reason.summary ?? '';
  // A summary that the message repeats is shown once.
  const summary =
    reason.summary !== undefined && !message.includes(reason.summary) && reason.summary;
  return (
    <section
      aria-labelledby="failure"
      className="grid min-w-0 gap-3 rounded-lg border border-l-3 border-l-failed bg-surface p-4 sm:p-5"
    >
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h2 id="failure" className="flex items-center gap-2 text-sm font-semibold text-failed">
          <Icon name="circle-x" />
          The attempt failed
        </h2>
        {reason.tag !== '' && (
          <span className="rounded bg-well px-1.5 py-0.5 font-mono text-xs text-muted">
            {plainText(reason.tag)}
          </span>
        )}
      </div>
      {message !== '' && <Message text={message} />}
      {summary && (
        <p className="text-sm wrap-anywhere text-muted">
          <LinkedText text={summary} />
        </p>
      )}
      {reason.isRetryable && job.attempt >= job.maxAttempts && (
        <p className="text-sm">
          The job may run again, but it has used all its attempts. A retry allows one more.
        </p>
      )}
      <LogEnd job={job} />
    </section>
  );
}

interface FailureReason {
  tag: string;
  summary: string | undefined;
  /** Whether the agent would have the job tried again. */
  isRetryable: boolean;
}

function reasonOf(reason: OutcomeReason | null): FailureReason {
  if (reason === null) return { tag: '', summary: undefined, isRetryable: false };
  if (typeof reason === 'string') return { tag: '', summary: reason, isRetryable: false };
  const { category, code, summary, retryable = false } = reason;
  const tag = [category, code].filter(Boolean).join(' · ');
  return { tag, summary, isRetryable: retryable };
}

function Message({ text }: { text: string }) {
  const lines = text.trimEnd().split('\n');
  const [isWhole, setWhole] = useState(false);
  const isLong = lines.length > MESSAGE_LINES;
  const shown = isWhole || !isLong ? lines : lines.slice(0, MESSAGE_LINES);
  return (
    <div className="grid min-w-0 justify-items-start gap-2">
      <p className="max-w-full font-mono text-[0.78125rem] leading-[1.125rem] wrap-anywhere whitespace-pre-wrap">
        <LinkedText text={shown.join('\n')} />
      </p>
      {isLong && (
        <Button look="quiet" className="-ml-3" onClick={() => setWhole(!isWhole)}>
          {isWhole ? `Show the first ${MESSAGE_LINES} lines` : `Show all ${lines.length} lines`}
        </Button>
      )}
    </div>
  );
}

/** The last lines of the log, and the way to the line that failed. */
function LogEnd({ job }: { job: Job }) {
  const { workspaceId, jobId, attempt } = job;
  const { data } = useQuery({
    ...logTailQuery({ workspaceId, jobId, attempt: Math.max(1, attempt) }),
    enabled: attempt > 0,
  });
  const lines = data?.lines.slice(-LOG_LINES) ?? [];
  const failureLine = findFailureLine(data?.lines ?? [], job.message);
  if (lines.length === 0) return null;
  return (
    <div className="grid min-w-0 gap-1.5">
      <h3 className="text-xs text-muted">The end of the log</h3>
      <LogLines lines={lines} />
      {failureLine !== undefined && (
        <Link
          to="."
          search={{ tab: 'log', attempt }}
          hash={`L${failureLine}`}
          className="justify-self-start py-1 text-sm text-accent underline underline-offset-2"
        >
          Open the log at line {failureLine.toLocaleString('en')}
        </Link>
      )}
    </div>
  );
}
