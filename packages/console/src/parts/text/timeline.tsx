import type { JobEvent, JobEventKind } from '@signalbox/contract';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { classNames } from '../../class-names.ts';
import { eventWords } from '../../format/job-words.ts';
import { plainText } from '../../format/text.ts';
import { formatAbsolute, formatClock } from '../../format/time.ts';
import {
  foldEvents,
  isLate,
  type TimelineAttempt,
  type TimelineEntry,
} from '../../format/timeline.ts';
import { Icon, type IconName } from '../page/icon.tsx';
import { ScrollBox } from '../page/scroll-box.tsx';
import { LinkedText } from './linked-text.tsx';
import { RelativeTime } from './relative-time.tsx';

const eventLooks: Readonly<Record<JobEventKind, { icon: IconName; tone: string }>> = {
  enqueued: { icon: 'plus', tone: 'text-muted' },
  claimed: { icon: 'circle-play', tone: 'text-running' },
  heartbeat: { icon: 'activity', tone: 'text-muted' },
  log: { icon: 'square-terminal', tone: 'text-muted' },
  completed: { icon: 'circle-check', tone: 'text-done' },
  failed: { icon: 'circle-x', tone: 'text-failed' },
  blocked: { icon: 'circle-pause', tone: 'text-blocked' },
  canceled: { icon: 'ban', tone: 'text-canceled' },
  recovered: { icon: 'rotate-ccw', tone: 'text-warning' },
};

interface TimelineProps {
  events: readonly JobEvent[];
  /** Whether to show heartbeats and output too, and not only what changed the job. */
  isFull: boolean;
  nameOfAgent: (agentId: string) => string;
}

/** The timeline of a job by attempt, oldest first. */
export function Timeline({ events, isFull, nameOfAgent }: TimelineProps) {
  const attempts = useMemo(() => foldEvents(events), [events]);
  return (
    <div className="grid gap-6">
      {attempts.map((attempt, index) => (
        <Attempt
          // Late evidence can give an attempt a second group, so the index is part of the key.
          // biome-ignore lint/suspicious/noArrayIndexKey: groups are only appended.
          key={`${attempt.attempt}-${index}`}
          attempt={attempt}
          isFull={isFull}
          nameOfAgent={nameOfAgent}
        />
      ))}
    </div>
  );
}

interface AttemptProps {
  attempt: TimelineAttempt;
  isFull: boolean;
  nameOfAgent: (agentId: string) => string;
}

function Attempt({ attempt, isFull, nameOfAgent }: AttemptProps) {
  const entries = isFull ? attempt.entries : attempt.entries.filter(isChange);
  return (
    <section className="grid min-w-0 gap-3">
      {attempt.attempt > 0 && (
        <h3 className="flex flex-wrap items-baseline gap-x-2 text-sm font-semibold">
          Attempt {attempt.attempt}
          {attempt.agentId && (
            <span className="font-normal text-muted">by {nameOfAgent(attempt.agentId)}</span>
          )}
        </h3>
      )}
      <ol className="grid min-w-0 gap-3">
        {entries.map((entry) => (
          <Entry
            key={entry.type === 'event' ? entry.event.eventId : entry.id}
            entry={entry}
            attempt={attempt.attempt}
          />
        ))}
      </ol>
    </section>
  );
}

/** Whether an entry changed the job; progress and output do not. */
function isChange(entry: TimelineEntry): boolean {
  if (entry.type !== 'event') return false;
  return entry.event.kind !== 'heartbeat' || isDecision(entry.event);
}

function Entry({ entry, attempt }: { entry: TimelineEntry; attempt: number }) {
  if (entry.type === 'event') return <EventEntry event={entry.event} />;
  if (entry.type === 'heartbeats') {
    return (
      <Row icon="activity" tone="text-muted" at={entry.lastAt}>
        <span className="text-muted">
          {entry.count === 1 ? '1 heartbeat' : `${entry.count} heartbeats`}, the last{' '}
          <RelativeTime at={entry.lastAt} />
        </span>
      </Row>
    );
  }
  return (
    <Row icon="square-terminal" tone="text-muted" at={entry.firstAt}>
      <Link
        to="."
        search={{ tab: 'log', attempt }}
        className="text-accent underline underline-offset-2"
      >
        Output of attempt {attempt}
      </Link>
    </Row>
  );
}

function EventEntry({ event }: { event: JobEvent }) {
  const { icon, tone } = isDecision(event) ? decisionLook : eventLooks[event.kind];
  const isResult = endings.has(event.kind);
  return (
    <Row
      icon={icon}
      tone={tone}
      at={event.at}
      title={event.kind === 'heartbeat' && !isDecision(event) ? undefined : titleOf(event)}
    >
      {event.message &&
        (isResult ? (
          <Folded word="Message" text={event.message} />
        ) : (
          <ScrollBox className="max-h-80 text-sm">
            <LinkedText text={event.message} />
          </ScrollBox>
        ))}
      <EventData event={event} />
    </Row>
  );
}

/** Kinds whose message is shown on the overview, where the latest one belongs. */
const endings: ReadonlySet<JobEventKind> = new Set(['completed', 'failed', 'blocked']);

const decisionLook = { icon: 'circle-question-mark', tone: 'text-attention' } as const;

/** Whether a person, or the deadline, has answered a question of the job. */
function isDecision({ data }: JobEvent): boolean {
  return data?.decision !== undefined;
}

/** The kind in words, with the code of a failure: `Failed (exit_1)`. */
function titleOf(event: JobEvent): string {
  if (isLate(event)) return 'Late result';
  if (isDecision(event) && event.message !== null) return 'Decided';
  const reason = event.data?.outcomeReason as { code?: unknown } | null | undefined;
  const code = typeof reason?.code === 'string' ? ` (${plainText(reason.code)})` : '';
  if (event.kind === 'enqueued' && event.data?.retry === true) {
    return event.data.previousPrompt === undefined ? 'Retried' : 'Retried with another prompt';
  }
  return `${eventWords[event.kind]}${code}`;
}

function Folded({ word, text }: { word: string; text: string }) {
  return (
    <details className="text-xs text-muted">
      <summary className="w-fit cursor-pointer rounded-sm py-1 hover:text-ink">{word}</summary>
      <ScrollBox className="mt-1 max-h-80 rounded-md border bg-well p-2 text-sm text-ink">
        <LinkedText text={text} />
      </ScrollBox>
    </details>
  );
}

/** The complete data of an event, folded. */
function EventData({ event }: { event: JobEvent }) {
  const { previousPrompt, ...data } = event.data ?? {};
  if (typeof previousPrompt === 'string') {
    return (
      <>
        <Folded word="Previous prompt" text={previousPrompt} />
        <EventData event={{ ...event, data }} />
      </>
    );
  }
  if (Object.keys(data).length === 0) return null;
  return (
    <details className="text-xs text-muted">
      <summary className="w-fit cursor-pointer rounded-sm py-1 hover:text-ink">Details</summary>
      <ScrollBox className="mt-1 max-h-60 rounded-md border bg-well p-2 font-mono">
        <LinkedText text={JSON.stringify(data, null, 2)} />
      </ScrollBox>
    </details>
  );
}

interface RowProps {
  icon: IconName;
  tone: string;
  at: string;
  title?: string | undefined;
  children?: ReactNode;
}

function Row({ icon, tone, at, title, children }: RowProps) {
  return (
    <li className="grid min-w-0 grid-cols-[1.25rem_minmax(0,1fr)] gap-x-2">
      <Icon name={icon} className={classNames('mt-0.5', tone)} />
      <div className="grid min-w-0 gap-1.5">
        <div className="flex min-w-0 items-baseline justify-between gap-3 text-sm">
          {title ? (
            <span className="font-medium">{title}</span>
          ) : (
            <div className="min-w-0">{children}</div>
          )}
          <time
            dateTime={at}
            title={formatAbsolute(at)}
            className="shrink-0 text-xs text-faint tabular-nums"
          >
            {formatClock(at)}
          </time>
        </div>
        {title && children}
      </div>
    </li>
  );
}
