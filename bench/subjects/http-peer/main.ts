// The hub's three calls of a cycle as a service on a job queue library, as a team would build it
// that has no hub: the same framework with the same options, the same check of tokens, the same
// schemas of requests and the same answers. It does less than a hub: it knows no limits of callers,
// no agents, repositories, priorities or dependencies, no other outcome than done, and it does not
// look for duplicate keys in JSON.
//
// Arguments: the library, the port of Redis or the URL of PostgreSQL, the workspace, and the number
// of tokens to mint. Once it listens, it prints its address and the tokens.
import { randomBytes } from 'node:crypto';
import { createIdSource, endpoints, formatToken, scopes, TOKEN_BYTES } from '@signalbox/contract';
import { openBullmqQueue } from './bullmq-queue.ts';
import { openGraphileQueue } from './graphile-queue.ts';
import { LEASE_MS, type PeerQueue, presentJob } from './peer-queue.ts';
import { bind, createPeerServer, hashToken, Refusal, TokenCheck } from './peer-server.ts';
import { openPgBossQueue } from './pg-boss-queue.ts';

const TOKEN_MS = 365 * 24 * 60 * 60 * 1_000;

const [library = '', address = '', workspaceId = '', tokenCount = '1'] = process.argv.slice(2);
const queue = await openQueue();
const tokens = await mintTokens();
const url = await listen();
process.stdout.write(`ready ${JSON.stringify({ url, tokens })}\n`);
process.once('SIGTERM', () => process.exit(0));

function openQueue(): Promise<PeerQueue> {
  switch (library) {
    case 'bullmq':
      return openBullmqQueue(Number(address));
    case 'pg-boss':
      return openPgBossQueue(address);
    case 'graphile-worker':
      return openGraphileQueue(address);
    default:
      throw new Error(`${library} must be bullmq, pg-boss or graphile-worker`);
  }
}

async function mintTokens(): Promise<string[]> {
  const minted: string[] = [];
  while (minted.length < Number(tokenCount)) {
    const token = formatToken('service', randomBytes(TOKEN_BYTES));
    const expiresAtMs = Date.now() + TOKEN_MS;
    await queue.addToken(hashToken(token), { workspaceId, scopes, expiresAtMs });
    minted.push(token);
  }
  return minted;
}

function listen(): Promise<string> {
  const ids = createIdSource(Date.now);
  const server = createPeerServer(ids);
  const tokenCheck = new TokenCheck(queue);
  const { enqueue, claimNext, complete, list } = endpoints.jobs;

  bind(server, tokenCheck, enqueue, async (input) => {
    const job = await queue.enqueue(ids('job'), input, 'service');
    return { jobId: job.jobId, job: presentJob(job, null) };
  });

  bind(server, tokenCheck, claimNext, async (input) => {
    const job = await queue.claim(input);
    if (job === null) return { jobId: null, job: null, reason: 'no_pending_jobs' };
    const leaseExpiresAtMs = (job.startedAtMs ?? 0) + LEASE_MS;
    return {
      jobId: job.jobId,
      job: presentJob(job, leaseExpiresAtMs),
      leaseExpiresAt: new Date(leaseExpiresAtMs).toISOString(),
      claimGeneration: job.attempt,
      jobToken: formatToken('job', randomBytes(TOKEN_BYTES)),
    };
  });

  bind(server, tokenCheck, complete, async (input) => {
    if (input.outcome !== 'done') {
      throw new Refusal('INVALID_REQUEST', 'This service only takes the outcome done.');
    }
    const job = await queue.complete(input);
    if (job === null) throw new Refusal('LEASE_LOST', 'This agent does not hold the job.');
    const { jobId, status } = job;
    const result = { jobId, status, outcome: 'done', idempotent: false, spawnedJobIds: [] };
    return { result, job: presentJob(job, null) };
  });

  // Only tells whether there are jobs, for the check at the end of a load.
  bind(server, tokenCheck, list, async ({ status }) => {
    const hasJobs = await queue.hasJobs(status === 'running' ? 'running' : 'pending');
    return { jobs: hasJobs ? [{ status }] : [], nextCursor: null };
  });

  return server.listen({ host: '127.0.0.1', port: 0 });
}
