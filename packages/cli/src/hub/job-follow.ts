import { setTimeout as wait } from 'node:timers/promises';
import { JOB_EVENTS_LIMIT_MAX, type Job, type JobEvent } from '@signalbox/contract';
import { ApiError, UnreachableError } from '@signalbox/sdk';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { readAgentNames } from '../find/names.ts';
import { formatDuration } from '../terminal/duration.ts';
import type { Io } from '../terminal/io.ts';
import { printMarkdown } from '../terminal/markdown-text.ts';
import { changeText, colorStatus, isAtRest, reasonText, statusText } from '../words/job-text.ts';
import { createTimelinePrinter, type TimelinePrinter } from '../words/timeline.ts';
import type { HubSession } from './hub-session.ts';

/** Poll interval of the timeline: short while events arrive, longer while nothing happens. */
const PAUSE_MS_MIN = 250;
const PAUSE_MS_MAX = 2_000;
/** Longer than an upgrade of the hub takes. */
const OUTAGE_MS_MAX = 5 * 60_000;

export interface FollowOptions {
  /** How long to wait for the end of the job; absent: no limit. */
  timeoutMs?: number | undefined;
  /** Skip events up to this number. */
  after?: number;
}

/**
 * Follows the timeline of a job until the job is done, failed, blocked or canceled, and returns the
 * job. With `--json`: a line `{event}` for each event, then `{job}`.
 * @throws {CliError} WAIT_TIMEOUT.
 */
export async function followJob(
  io: Io,
  session: HubSession,
  jobId: string,
  options: FollowOptions = {},
): Promise<Job> {
  const deadlineMs = performance.now() + (options.timeoutMs ?? Infinity);
  const names = io.json ? new Map<string, string>() : await readAgentNames(session);
  const printer = io.json ? jsonPrinter(io) : createTimelinePrinter(io, names);
  const look = createLook(session, jobId, options.after ?? 0);
  let pauseMs = PAUSE_MS_MIN;
  let waited: string | null = null;
  for (;;) {
    const { events, job, waits } = await outlastOutage(io, look);
    printer.print(events);
    if (waits !== null && waits !== waited) printer.note('waits', waits);
    waited = waits;
    if (job !== null && isAtRest(job.status)) {
      printer.end();
      sayEnd(io, job);
      return job;
    }
    pauseMs = events.length > 0 ? PAUSE_MS_MIN : Math.min(PAUSE_MS_MAX, pauseMs * 1.5);
    if (performance.now() + pauseMs > deadlineMs) throw timedOut(jobId, options.timeoutMs ?? 0);
    await wait(pauseMs, undefined, { signal: io.signal }).catch(() => io.signal.throwIfAborted());
  }
}

interface Seen {
  events: JobEvent[];
  /** Null while more events may have to be read first. */
  job: Job | null;
  /** The reason why a pending job waits. */
  waits: string | null;
}

function createLook(
  { client, workspaceId }: HubSession,
  jobId: string,
  from: number,
): () => Promise<Seen> {
  let after = from;
  return async () => {
    // Read the job before its events, so that the events read next include its last one.
    const { job, waitingFor } = await client.jobs.get({ workspaceId, jobId });
    const limit = JOB_EVENTS_LIMIT_MAX;
    const answer = await client.jobEvents.listForJob({ workspaceId, jobId, after, limit });
    after = answer.nextAfter;
    const waits = job.status === 'pending' ? (waitingFor?.message ?? null) : null;
    return { events: answer.events, job: answer.events.length < limit ? job : null, waits };
  };
}

/** Retries while the hub is unavailable, up to a limit, and notes it once. */
async function outlastOutage(io: Io, look: () => Promise<Seen>): Promise<Seen> {
  const beganMs = performance.now();
  for (let isNoted = false; ; ) {
    try {
      return await look();
    } catch (error) {
      const isUnavailable =
        error instanceof UnreachableError || (error instanceof ApiError && error.status >= 500);
      if (!isUnavailable || performance.now() - beganMs > OUTAGE_MS_MAX) throw error;
      if (!isNoted && !io.json) io.note('The hub does not respond; retrying …');
      isNoted = true;
      await wait(PAUSE_MS_MAX, undefined, { signal: io.signal }).catch(() =>
        io.signal.throwIfAborted(),
      );
    }
  }
}

function jsonPrinter(io: Io): TimelinePrinter {
  return {
    print: (events) => {
      for (const event of events) io.printJson({ event });
    },
    note() {},
    end() {},
  };
}

function sayEnd(io: Io, job: Job): void {
  if (io.json) {
    io.printJson({ job });
    return;
  }
  const { status, startedAt, finishedAt } = job;
  const took =
    startedAt === null || finishedAt === null
      ? ''
      : ` in ${formatDuration(Date.parse(finishedAt) - Date.parse(startedAt))}`;
  const parts = [
    job.message,
    changeText(job),
    status === 'done' ? null : reasonText(job.outcomeReason),
  ];
  io.print();
  io.print(colorStatus(io.styles, status, `${statusText(status)}${took}`));
  for (const part of new Set(parts)) if (part) printMarkdown(io, part);
  if (status === 'blocked') io.note('The job continues after a person has answered.');
}

function timedOut(jobId: string, timeoutMs: number): CliError {
  return new CliError(
    exitCodes.failed,
    'WAIT_TIMEOUT',
    `The job did not end within ${formatDuration(timeoutMs)}. It continues in the background.`,
    { fix: `signalbox job ${jobId} --follow` },
  );
}
