// The queue of the service on BullMQ. Redis syncs each write before it acknowledges it. BullMQ's
// scripts take no further commands, so an event is a command of its own. That of an enqueue is sent
// together with the job; the others follow the change that they record.
import { Job, Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import type { JobDraft, PeerJob, PeerQueue, TimelineEvent, TokenRecord } from './peer-queue.ts';
import { LEASE_MS } from './peer-queue.ts';

const QUEUE = 'jobs';
const TOKENS = 'tokens';

interface Result {
  readonly outcome: string;
}

export async function openBullmqQueue(port: number): Promise<PeerQueue> {
  const connection = { host: '127.0.0.1', port };
  const queue = new Queue<JobDraft, Result>(QUEUE, { connection });
  const claims = new Worker<JobDraft, Result>(QUEUE, null, {
    connection,
    autorun: false,
    lockDuration: LEASE_MS,
  });
  await Promise.all([queue.waitUntilReady(), claims.waitUntilReady()]);
  // Puts jobs whose lock has expired back into the queue.
  await claims.startStalledCheckTimer();
  const redis = new Redis(connection);

  const record = (jobId: string, event: TimelineEvent) =>
    redis.rpush(`timeline:${jobId}`, JSON.stringify(event));

  return {
    async addToken(tokenHash, token) {
      await redis.hset(TOKENS, { [tokenHash]: JSON.stringify(token) });
    },
    async findToken(tokenHash) {
      const text = await redis.hget(TOKENS, tokenHash);
      // addToken wrote it.
      return text === null ? null : (JSON.parse(text) as TokenRecord);
    },
    async enqueue(jobId, draft, createdBy) {
      const options = { jobId, attempts: draft.maxAttempts, delay: draft.delayMs };
      const event = {
        kind: 'enqueued',
        attempt: 0,
        agentId: null,
        data: { by: createdBy },
      } as const;
      const [job] = await Promise.all([
        queue.add('work', draft, options),
        record(jobId, { ...event, atMs: Date.now() }),
      ]);
      return read(job, 'pending', null);
    },
    async claim({ agentId, leaseMs }) {
      const job = await claims.getNextJob(agentId, { block: false });
      if (job === undefined) return null;
      const claimed = read(job, 'running', agentId);
      const { jobId, attempt } = claimed;
      await record(jobId, {
        kind: 'claimed',
        atMs: Date.now(),
        attempt,
        agentId,
        data: { leaseMs },
      });
      return claimed;
    },
    async complete({ jobId, agentId, claimGeneration, outcome }) {
      const job = await Job.fromId<JobDraft, Result>(queue, jobId);
      if (job === undefined || job.attemptsStarted !== claimGeneration) return null;
      // Refused by BullMQ unless the agent holds the lock of the job.
      await job.moveToCompleted({ outcome }, agentId, false);
      const done = read(job, 'done', agentId);
      const { attempt } = done;
      await record(jobId, {
        kind: 'completed',
        atMs: Date.now(),
        attempt,
        agentId,
        data: { outcome },
      });
      return done;
    },
    async hasJobs(status) {
      const count = status === 'pending' ? queue.getWaitingCount() : queue.getActiveCount();
      return (await count) > 0;
    },
  };
}

function read(
  job: Job<JobDraft, Result>,
  status: PeerJob['status'],
  agentId: string | null,
): PeerJob {
  return {
    jobId: job.id ?? '',
    draft: job.data,
    status,
    attempt: job.attemptsStarted,
    agentId,
    enqueuedAtMs: job.timestamp,
    startedAtMs: job.processedOn ?? null,
    finishedAtMs: job.finishedOn ?? null,
  };
}
