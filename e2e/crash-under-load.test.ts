import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createWorkspaceByAdmin, mintTokenByAdmin } from '@signalbox/hub';
import { findFreePort } from '@signalbox/local-postgres';
import { ApiError, type Client, createClient } from '@signalbox/sdk';
import { type ClientCycle, checkCrashHistory } from './crash-history.ts';
import { configOf } from './hub-database.ts';
import { startHubProcess } from './hub-process.ts';
import { makeTempDir } from './temp-dir.ts';

const CLIENTS = 64;
/** SIGNALBOX_TEST_KILLS asks for more than the usual number. */
const KILLS = Number(process.env.SIGNALBOX_TEST_KILLS ?? 5);
/** Jobs that are finished between two kills; the number is drawn for each. */
const JOBS_MIN = 64;
const JOBS_MAX = 320;
/** A commit takes a few milliseconds, so a random delay of this length hits each of its phases. */
const PHASE_MS = 50;
/** Enough attempts to outlast a restart many times over; each pause is at most a few seconds. */
const ATTEMPTS_MAX = 100;

interface Load {
  client: Client;
  workspaceId: string;
  repoId: string;
  /** Whether new jobs are still to be made. */
  goesOn: boolean;
  cycles: ClientCycle[];
  /** Called after each cycle. */
  onCycle: () => void;
}

/**
 * The promise that everything rests on: what the hub has acknowledged survives its death. Clients
 * repeat each call until it is answered for certain, with the key that makes the repetition safe.
 */
test('64 clients lose no acknowledged job while the hub is killed again and again', async (t) => {
  const dataDir = makeTempDir(t);
  const config = await configOf(dataDir);
  const port = await findFreePort();
  let hub = await startHubProcess({ dataDir, port });
  t.after(() => hub.kill());
  const { workspaceId } = await createWorkspaceByAdmin(config, { slug: 'load', name: 'Load' });
  const { token } = await mintTokenByAdmin(config, { workspaceSlug: 'load', name: 'load' });
  const client = createClient({ baseUrl: hub.baseUrl, token, maxAttempts: ATTEMPTS_MAX });
  const remoteUrlHash = 'ab'.repeat(32);
  const { repoId } = await client.repositories.upsert({ workspaceId, remoteUrlHash });

  const cycles: ClientCycle[] = [];
  const load: Load = { client, workspaceId, repoId, goesOn: true, cycles, onCycle: () => {} };
  const clients = Promise.all(
    Array.from({ length: CLIENTS }, (_, number) => runClient(load, number)),
  );
  for (let kills = 0; kills < KILLS; kills++) {
    // A client that fails would otherwise leave this waiting.
    await Promise.race([clients, untilMoreJobs(load, randomInt(JOBS_MIN, JOBS_MAX))]);
    await delay(randomInt(PHASE_MS));
    await hub.kill();
    hub = await startHubProcess({ dataDir, port });
  }
  await Promise.race([clients, untilMoreJobs(load, JOBS_MIN)]);
  load.goesOn = false;
  await clients;
  await drain(load);
  await hub.stop();

  const report = await checkCrashHistory(dataDir, cycles);
  describe(t, report);
  assert.ok(report.acknowledgedCompletions > JOBS_MIN * KILLS, 'the load was a load');
});

/** Resolves when the clients have finished so many more cycles. */
function untilMoreJobs(load: Load, count: number): Promise<void> {
  const target = load.cycles.length + count;
  return new Promise((resolve) => {
    load.onCycle = () => {
      if (load.cycles.length >= target) resolve();
    };
  });
}

async function runClient(load: Load, number: number): Promise<void> {
  const { client, workspaceId, repoId } = load;
  const agentId = await beat(load, number);
  for (let count = 0; load.goesOn; count++) {
    const { jobId } = await client.jobs.enqueue({
      workspaceId,
      repoId,
      kind: 'work',
      prompt: `Job ${count} of client ${number}.`,
      maxAttempts: 100,
      idempotencyKey: `${number}-${count}`,
    });
    load.cycles.push({ jobId, completed: await claimAndComplete(load, agentId) });
    load.onCycle();
  }
}

/** One job, whichever comes: another client may have taken the one that this client made. */
async function claimAndComplete(
  { client, workspaceId }: Load,
  agentId: string,
): Promise<ClientCycle['completed']> {
  const claim = await client.jobs.claimNext({ workspaceId, agentId, leaseMs: 10_000 });
  const { jobId, claimGeneration: generation } = claim;
  if (jobId === null || generation === undefined) return null;
  try {
    await client.jobs.complete({
      workspaceId,
      jobId,
      agentId,
      claimGeneration: generation,
      outcome: 'done',
      message: `Done by ${agentId}.`,
    });
    return { jobId, agentId, generation };
  } catch (error) {
    // A lease that ran out during an outage is a legitimate loss; anything else is a failure.
    const lost = ['LEASE_LOST', 'CLAIM_GENERATION_MISMATCH', 'JOB_ALREADY_FINISHED'];
    if (error instanceof ApiError && lost.includes(error.code)) return null;
    throw error;
  }
}

async function beat({ client, workspaceId }: Load, number: number): Promise<string> {
  const { agentId } = await client.agents.heartbeat({
    workspaceId,
    displayName: `client ${number}`,
    machineFingerprint: `client ${number}`,
    capabilities: { canWrite: true },
  });
  return agentId;
}

/** Does what is left, so that every acknowledged job must be done at the end. */
async function drain(load: Load): Promise<void> {
  const { client, workspaceId } = load;
  const agentId = await beat(load, CLIENTS);
  for (;;) {
    const running = await client.jobs.list({ workspaceId, status: 'running', limit: 1 });
    const pending = await client.jobs.list({ workspaceId, status: 'pending', limit: 1 });
    if (running.jobs.length + pending.jobs.length === 0) return;
    const claim = await client.jobs.claimNext({ workspaceId, agentId, waitMs: 5_000 });
    if (claim.jobId === null) continue;
    const { jobId, claimGeneration } = claim;
    await client.jobs.complete({
      workspaceId,
      jobId,
      agentId,
      outcome: 'done',
      ...(claimGeneration === undefined ? {} : { claimGeneration }),
    });
  }
}

function describe(t: TestContext, report: object): void {
  t.diagnostic(JSON.stringify(report));
}
