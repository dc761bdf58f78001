// The queue of the service on graphile-worker, which has no call to claim a job: its own loop takes
// jobs and passes each to a function. That function hands the job to a waiting claim and ends when
// an agent completes the job, upon which graphile-worker deletes it. It does not tell when that is
// on disk, so the event of the completion counts: a job that has one is not run again.
import { Logger, run } from 'graphile-worker';
import type { Pool } from 'pg';
import type { JobDraft, PeerJob, PeerQueue, TimelineEvent } from './peer-queue.ts';
import { insertEvent, insertToken, openTables, selectToken } from './postgres-tables.ts';

/** Jobs that can be held or ready at the same time: one for each connection of the load. */
const CONCURRENCY = 64;
/** How long a claim waits for the loop to take a job that may exist. */
const CLAIM_MS_MAX = 1_000;

interface Payload {
  readonly jobId: string;
  readonly draft: JobDraft;
  readonly enqueuedAtMs: number;
}

/** A job that the loop has taken. */
interface Taken {
  readonly payload: Payload;
  readonly attempt: number;
  /** Settles the loop's function: resolved, the job is deleted; rejected, it is tried again. */
  readonly ended: PromiseWithResolvers<void>;
}

interface Held extends Taken {
  readonly agentId: string;
  readonly startedAtMs: number;
  readonly lease: NodeJS.Timeout;
}

/** Passes jobs that the loop has taken to claims, in order. */
class Handover {
  readonly #ready: Taken[] = [];
  readonly #claims: ((taken: Taken) => void)[] = [];

  offer(taken: Taken): void {
    const claim = this.#claims.shift();
    if (claim === undefined) this.#ready.push(taken);
    else claim(taken);
  }

  /** Null if no job comes for a while. */
  take(): Promise<Taken | null> {
    const first = this.#ready.shift();
    if (first !== undefined) return Promise.resolve(first);
    const { promise, resolve } = Promise.withResolvers<Taken | null>();
    const claim = (taken: Taken) => {
      clearTimeout(limit);
      resolve(taken);
    };
    const limit = setTimeout(() => {
      this.#claims.splice(this.#claims.indexOf(claim), 1);
      resolve(null);
    }, CLAIM_MS_MAX);
    this.#claims.push(claim);
    return promise;
  }

  hasJobs(): boolean {
    return this.#ready.length > 0;
  }
}

export async function openGraphileQueue(connectionString: string): Promise<PeerQueue> {
  const pool = await openTables(connectionString);
  const handover = await startLoop(pool);
  const held = new Map<string, Held>();

  return {
    addToken: (tokenHash, token) => insertToken(pool, tokenHash, token),
    findToken: (tokenHash) => selectToken(pool, tokenHash),
    async enqueue(jobId, draft, createdBy) {
      const enqueuedAtMs = Date.now();
      const payload: Payload = { jobId, draft, enqueuedAtMs };
      // One statement, so one commit, for the job and its event.
      await pool.query({
        name: 'enqueue',
        text: `INSERT INTO job_events (job_id, kind, at, attempt, data)
               SELECT $1, 'enqueued', $2, 0, $3
               FROM graphile_worker.add_job('work', $4::json, max_attempts => $5::int)`,
        values: [
          ...[jobId, enqueuedAtMs, JSON.stringify({ by: createdBy })],
          ...[JSON.stringify(payload), draft.maxAttempts],
        ],
      });
      const times = { enqueuedAtMs, startedAtMs: null, finishedAtMs: null };
      return { jobId, draft, status: 'pending', attempt: 0, agentId: null, ...times };
    },
    async claim({ agentId, leaseMs }) {
      const taken = await handover.take();
      if (taken === null) return null;
      const { payload, ended } = taken;
      const { jobId } = payload;
      const startedAtMs = Date.now();
      await record(pool, taken, { kind: 'claimed', atMs: startedAtMs, agentId, data: { leaseMs } });
      const lease = setTimeout(() => {
        held.delete(jobId);
        ended.reject(new Error('the lease has expired'));
      }, leaseMs);
      const own = { ...taken, agentId, startedAtMs, lease };
      held.set(jobId, own);
      return read(own, 'running', null);
    },
    async complete({ jobId, agentId, claimGeneration, outcome }) {
      const own = held.get(jobId);
      if (own?.agentId !== agentId || own.attempt !== claimGeneration) return null;
      held.delete(jobId);
      clearTimeout(own.lease);
      const atMs = Date.now();
      await record(pool, own, { kind: 'completed', atMs, agentId, data: { outcome } });
      own.ended.resolve();
      return read(own, 'done', atMs);
    },
    async hasJobs(status) {
      if (status === 'running') return held.size > 0;
      const text = 'SELECT 1 FROM graphile_worker.jobs WHERE locked_at IS NULL LIMIT 1';
      return handover.hasJobs() || (await pool.query(text)).rows.length > 0;
    },
  };
}

function read(
  { payload, attempt, agentId, startedAtMs }: Held,
  status: PeerJob['status'],
  finishedAtMs: number | null,
): PeerJob {
  return { ...payload, status, attempt, agentId, startedAtMs, finishedAtMs };
}

/** Starts graphile-worker's loop, which offers the jobs that it takes. */
async function startLoop(pool: Pool): Promise<Handover> {
  const handover = new Handover();
  await run({
    pgPool: pool,
    concurrency: CONCURRENCY,
    noHandleSignals: true,
    logger: new Logger(() => () => undefined),
    crontab: '',
    taskList: {
      async work(payload, { job }) {
        // enqueue wrote it.
        const taken = { payload: payload as Payload, attempt: job.attempts };
        if (taken.attempt > 1 && (await isCompleted(pool, taken.payload.jobId))) return;
        const ended = Promise.withResolvers<void>();
        handover.offer({ ...taken, ended });
        await ended.promise;
      },
    },
  });
  return handover;
}

async function isCompleted(pool: Pool, jobId: string): Promise<boolean> {
  const text = "SELECT 1 FROM job_events WHERE job_id = $1 AND kind = 'completed'";
  return (await pool.query(text, [jobId])).rows.length > 0;
}

/** Writes the event of a step. If that fails, the job is tried again. */
async function record(
  pool: Pool,
  { payload, attempt, ended }: Taken,
  event: Omit<TimelineEvent, 'attempt'>,
): Promise<void> {
  try {
    await insertEvent(pool, payload.jobId, { ...event, attempt });
  } catch (error) {
    ended.reject(error);
    throw error;
  }
}
