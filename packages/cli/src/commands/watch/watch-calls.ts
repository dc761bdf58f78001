import { ACTIVITIES_LIMIT_MAX, type ListedJob, type ToolCall } from '@signalbox/contract';
import type { HubSession } from '../../hub/hub-session.ts';

/** More running jobs are shown without their calls, so that each reading stays small. */
const JOBS_MAX = 20;

/** A call of the tool of a job, in a state that it has just reached. */
export interface JobCall {
  jobId: string;
  toolCall: ToolCall;
}

/** The calls of running jobs, as far as they have been read. */
export interface CallsReader {
  /** Makes the calls of a job due to be read again; null: those of all jobs. */
  expire(jobId: string | null): void;
  /** Reads what is due. */
  read(jobs: readonly ListedJob[]): Promise<void>;
  /** The call of each running job that began or ended last. */
  readonly latest: ReadonlyMap<string, ToolCall>;
  /** Returns the calls that have ended since it was called last, and forgets them. */
  takeEnded(): JobCall[];
}

interface JobState {
  attempt: number;
  /** The position behind the activities that were read. */
  after: number;
  isDue: boolean;
}

export function createCallsReader(session: HubSession, signal: AbortSignal): CallsReader {
  const { client, workspaceId } = session;
  const states = new Map<string, JobState>();
  const latest = new Map<string, ToolCall>();
  let ended: JobCall[] = [];
  let isFirst = true;

  async function readJob(jobId: string, state: JobState): Promise<void> {
    state.isDue = false;
    for (;;) {
      const { attempt, after } = state;
      const request = { workspaceId, jobId, attempt, after, limit: ACTIVITIES_LIMIT_MAX };
      const { items } = await client.jobs.activity(request, { signal });
      for (const { seq, activity } of items) {
        state.after = seq;
        const { toolCall } = activity;
        if (toolCall === undefined) continue;
        latest.set(jobId, toolCall);
        // Calls from before the view began are no news.
        if (toolCall.status !== 'running' && !isFirst) ended.push({ jobId, toolCall });
      }
      if (items.length < ACTIVITIES_LIMIT_MAX) return;
    }
  }

  return {
    latest,
    expire(jobId) {
      for (const [id, state] of states) if (jobId === null || id === jobId) state.isDue = true;
    },
    async read(jobs) {
      const running = jobs.filter(({ status }) => status === 'running').slice(0, JOBS_MAX);
      for (const { jobId, attempt } of running) {
        if (states.get(jobId)?.attempt === attempt) continue;
        states.set(jobId, { attempt, after: 0, isDue: true });
        latest.delete(jobId);
      }
      // The last calls of a job that has ended meanwhile belong to it, too.
      const due = [...states].filter(([, { isDue }]) => isDue);
      await Promise.all(due.map(([jobId, state]) => readJob(jobId, state)));
      isFirst = false;
      const ids = new Set(running.map(({ jobId }) => jobId));
      for (const jobId of states.keys()) {
        if (ids.has(jobId)) continue;
        states.delete(jobId);
        latest.delete(jobId);
      }
    },
    takeEnded() {
      const taken = ended;
      ended = [];
      return taken;
    },
  };
}
