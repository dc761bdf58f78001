import { setTimeout as wait } from 'node:timers/promises';
import type { ChangeKind, ListedJob, ListedUncertainty, ToolCall } from '@signalbox/contract';
import type { HubSession } from '../../hub/hub-session.ts';
import { createCallsReader, type JobCall } from './watch-calls.ts';

/** The records that the view shows, as they are at one moment. */
export interface WatchData {
  /** Some running and failed jobs first, so that both are in sight; then the others. */
  jobs: readonly ListedJob[];
  questions: readonly ListedUncertainty[];
  /** Of all jobs, by status; of those in `capped` there may be more. */
  counts: Readonly<Record<ListedJob['status'], number>>;
  capped: readonly ListedJob['status'][];
  /** The call of each running job that began or ended last. */
  calls: ReadonlyMap<string, ToolCall>;
  /** The calls that have ended since the records were yielded last. */
  endedCalls: readonly JobCall[];
}

const JOBS_MAX = 100;
const QUESTIONS_MAX = 100;
/** Jobs in sight above all others. */
const RUNNING_FIRST = 6;
const FAILED_FIRST = 3;
/** A hub with many changes is read this often at most. */
const PAUSE_MS = 250;
const listKinds: readonly ChangeKind[] = ['job', 'uncertainty'];

/**
 * Yields the records now, and again after each change, as the hub's stream of changes tells it.
 * @throws {ApiError} the hub refuses. The signal's reason if it aborts.
 */
export async function* followWorkspace(
  session: HubSession,
  signal: AbortSignal,
): AsyncGenerator<WatchData> {
  const ending = new AbortController();
  const both = AbortSignal.any([signal, ending.signal]);
  let stale = Promise.withResolvers<void>();
  let areListsStale = true;
  const calls = createCallsReader(session, signal);
  const { client, workspaceId } = session;
  const listening = (async () => {
    for await (const { event, changes } of client.changes.stream(
      { workspaceId },
      { signal: both },
    )) {
      const isReset = event !== 'changes';
      if (isReset) calls.expire(null);
      for (const { kind, id } of changes) if (kind === 'jobEvents') calls.expire(id);
      if (isReset || changes.some(({ kind }) => listKinds.includes(kind))) areListsStale = true;
      if (areListsStale || changes.some(({ kind }) => kind === 'jobEvents')) stale.resolve();
    }
  })();
  // Its failure ends the race below; until then it may come at any time.
  listening.catch(() => {});
  let lists: Lists | null = null;
  try {
    for (;;) {
      // A change during the reading makes the next one due.
      stale = Promise.withResolvers();
      if (areListsStale || lists === null) {
        areListsStale = false;
        lists = await readLists(session, signal);
      }
      await calls.read(lists.jobs);
      yield { ...lists, calls: calls.latest, endedCalls: calls.takeEnded() };
      await Promise.race([stale.promise, listening]);
      await wait(PAUSE_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  } finally {
    ending.abort();
    await listening.catch(() => {});
  }
}

type Lists = Omit<WatchData, 'calls' | 'endedCalls'>;

async function readLists({ client, workspaceId }: HubSession, signal: AbortSignal): Promise<Lists> {
  const list = async (filter: { status?: ListedJob['status'] }) =>
    (
      await client.jobs.list(
        { workspaceId, view: 'summary', limit: JOBS_MAX, ...filter },
        { signal },
      )
    ).jobs;
  const [running, failed, blocked, latest, { counts, capped }, { uncertainties: questions }] =
    await Promise.all([
      list({ status: 'running' }),
      list({ status: 'failed' }),
      list({ status: 'blocked' }),
      list({}),
      client.jobs.counts({ workspaceId }, { signal }),
      client.uncertainties.inbox({ workspaceId, limit: QUESTIONS_MAX }, { signal }),
    ]);
  return { jobs: orderJobs({ running, failed, blocked, latest }), questions, counts, capped };
}

type JobLists = Record<'running' | 'failed' | 'blocked' | 'latest', readonly ListedJob[]>;

/** Each job once, where it comes first: one that changes between two reads is in two lists. */
export function orderJobs({ running, failed, blocked, latest }: JobLists): ListedJob[] {
  const ordered = [
    ...running.slice(0, RUNNING_FIRST),
    ...failed.slice(0, FAILED_FIRST),
    ...[...running, ...blocked, ...latest],
  ];
  const byId = new Map<string, ListedJob>();
  for (const job of ordered) if (!byId.has(job.jobId)) byId.set(job.jobId, job);
  return [...byId.values()];
}
