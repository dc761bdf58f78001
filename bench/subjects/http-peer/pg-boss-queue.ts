// The queue of the service on pg-boss, whose calls take part in a transaction: each step of a job
// commits together with its event.
import type { PoolClient } from 'pg';
import { type JobWithMetadata, PgBoss } from 'pg-boss';
import { type JobDraft, LEASE_MS, type PeerJob, type PeerQueue } from './peer-queue.ts';
import { insertEvent, insertToken, openTables, selectToken, transact } from './postgres-tables.ts';

const QUEUE = 'jobs';
/** For the library's own upkeep; the calls of the service use the service's connections. */
const BOSS_POOL_SIZE = 2;

interface Data {
  readonly draft: JobDraft;
}

export async function openPgBossQueue(connectionString: string): Promise<PeerQueue> {
  const pool = await openTables(connectionString);
  const boss = new PgBoss({ connectionString, max: BOSS_POOL_SIZE });
  boss.on('error', (error) => process.stderr.write(`${error.message}\n`));
  await boss.start();
  // deleteAfterSeconds: 0 keeps finished jobs, as the hub does.
  await boss.createQueue(QUEUE, { expireInSeconds: LEASE_MS / 1_000, deleteAfterSeconds: 0 });

  return {
    addToken: (tokenHash, token) => insertToken(pool, tokenHash, token),
    findToken: (tokenHash) => selectToken(pool, tokenHash),
    enqueue: (jobId, draft, createdBy) =>
      transact(pool, async (client) => {
        const atMs = Date.now();
        const options = { id: uuidOf(jobId), retryLimit: draft.maxAttempts - 1 };
        await boss.send(QUEUE, { draft } satisfies Data, { ...options, db: on(client) });
        const event = { kind: 'enqueued', attempt: 0, agentId: null } as const;
        await insertEvent(client, jobId, { ...event, atMs, data: { by: createdBy } });
        const times = { enqueuedAtMs: atMs, startedAtMs: null, finishedAtMs: null };
        return { jobId, draft, status: 'pending', attempt: 0, agentId: null, ...times };
      }),
    claim: ({ agentId, leaseMs }) =>
      transact(pool, async (client) => {
        const [job] = await boss.fetch<Data>(QUEUE, { includeMetadata: true, db: on(client) });
        if (job === undefined) return null;
        const claimed = read(job, 'running', agentId, null);
        const event = { kind: 'claimed', attempt: claimed.attempt, agentId } as const;
        await insertEvent(client, claimed.jobId, { ...event, atMs: Date.now(), data: { leaseMs } });
        return claimed;
      }),
    complete: ({ jobId, agentId, claimGeneration = 1, outcome }) =>
      transact(pool, async (client) => {
        const id = uuidOf(jobId);
        const [job] = await boss.findJobs<Data>(QUEUE, { id, db: on(client) });
        if (job === undefined) return null;
        // The count of retries names the attempt: pg-boss leaves any other attempt alone.
        const attempt = { id, retryCount: claimGeneration - 1 };
        const result = { outcome, agentId };
        const answer = await boss.complete(QUEUE, attempt, result, { db: on(client) });
        // pg-boss returns this count, but its types do not have it.
        const { affected } = answer as { affected?: number };
        if (affected !== 1) return null;
        const atMs = Date.now();
        const event = { kind: 'completed', attempt: claimGeneration, agentId } as const;
        await insertEvent(client, jobId, { ...event, atMs, data: { outcome } });
        return read(job, 'done', agentId, atMs);
      }),
    async hasJobs(status) {
      const state = status === 'pending' ? "state < 'active'" : "state = 'active'";
      const { rows } = await pool.query(`SELECT 1 FROM pgboss.job WHERE ${state} LIMIT 1`);
      return rows.length > 0;
    },
  };
}

function on(client: PoolClient) {
  return { executeSql: (text: string, values?: unknown[]) => client.query(text, values) };
}

function read(
  job: JobWithMetadata<Data>,
  status: PeerJob['status'],
  agentId: string,
  finishedAtMs: number | null,
): PeerJob {
  return {
    jobId: jobIdOf(job.id),
    draft: job.data.draft,
    status,
    agentId,
    finishedAtMs,
    attempt: job.retryCount + 1,
    enqueuedAtMs: job.createdOn.getTime(),
    startedAtMs: job.startedOn.getTime(),
  };
}

const ID_CHARS = 20;
const ID_RADIX = 32;
const UUID_DIGITS = 32;

/** Ids of pg-boss are UUIDs: the number in the id of a job, in the form of one. */
function uuidOf(jobId: string): string {
  let number = 0n;
  for (const digit of jobId.slice('job_'.length)) {
    number = number * BigInt(ID_RADIX) + BigInt(Number.parseInt(digit, ID_RADIX));
  }
  const digits = number.toString(16).padStart(UUID_DIGITS, '0');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

function jobIdOf(uuid: string): string {
  const number = BigInt(`0x${uuid.replaceAll('-', '')}`);
  return `job_${number.toString(ID_RADIX).padStart(ID_CHARS, '0')}`;
}
