import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWorkspaceByAdmin, mintTokenByAdmin } from '@signalbox/hub';
import { type Client, createClient } from '@signalbox/sdk';
import { configOf } from './hub-database.ts';
import { startHubProcess } from './hub-process.ts';
import { createKeepAliveClient, type Fate } from './keep-alive-client.ts';
import { makeTempDir } from './temp-dir.ts';

const CLIENTS = 32;
const WAITING_CLAIMS = 10;
/** Enqueues answered before the signal comes, so that it meets clients in full flow. */
const ENQUEUED_BEFORE = 500;
/** The hub's own limit, and what slow cores need to end a process. */
const STOP_MS_MAX = 30_000;

test('SIGTERM under load cuts off no request and loses no acknowledged job', async (t) => {
  const dataDir = makeTempDir(t);
  const config = await configOf(dataDir);
  const hub = await startHubProcess({ dataDir });
  const { workspaceId } = await createWorkspaceByAdmin(config, { slug: 'load', name: 'Load' });
  const { token } = await mintTokenByAdmin(config, { workspaceSlug: 'load', name: 'load' });
  const client = createClient({ baseUrl: hub.baseUrl, token });
  const busy = await client.repositories.upsert({ workspaceId, remoteUrlHash: 'a1'.repeat(32) });
  const quiet = await client.repositories.upsert({ workspaceId, remoteUrlHash: 'b2'.repeat(32) });

  const answered = new Map<string, string>();
  const unanswered: string[] = [];
  const bad: Fate[] = [];
  const flowing = Promise.withResolvers<void>();

  function judge(fate: Fate): boolean {
    if (fate.kind === 'answered' && fate.status === 200) return true;
    // While it stops a hub may say so in a complete answer; that is one way of refusing.
    const isHonest =
      fate.kind === 'refused' || (fate.kind === 'answered' && fate.answer.error === 'UNAVAILABLE');
    if (!isHonest && fate.kind !== 'dropped') bad.push(fate);
    return false;
  }

  async function enqueueUntilEnd(number: number): Promise<void> {
    const connection = createKeepAliveClient(hub.baseUrl, token);
    for (let count = 0; ; count++) {
      const idempotencyKey = `client-${number}-${count}`;
      const draft = { workspaceId, repoId: busy.repoId, kind: 'work', prompt: 'x', idempotencyKey };
      const fate = await connection.post('jobs/enqueue', draft);
      if (!judge(fate)) {
        if (fate.kind === 'dropped') unanswered.push(idempotencyKey);
        break;
      }
      if (fate.kind === 'answered') answered.set(idempotencyKey, String(fate.answer.jobId));
      if (answered.size === ENQUEUED_BEFORE) flowing.resolve();
    }
    connection.close();
  }

  async function registerAgent(number: number): Promise<string> {
    const { agentId } = await client.agents.heartbeat({
      workspaceId,
      displayName: `agent ${number}`,
      machineFingerprint: `machine-${number}`,
      capabilities: { canWrite: true, reposAllowed: [quiet.repoId] },
    });
    return agentId;
  }

  async function waitForJob(agentId: string): Promise<Fate> {
    const connection = createKeepAliveClient(hub.baseUrl, token);
    const claim = connection.post('jobs/claim-next', { workspaceId, agentId, waitMs: 60_000 });
    return claim.finally(() => connection.close());
  }

  const agentIds = await Promise.all(
    Array.from({ length: WAITING_CLAIMS }, (_, n) => registerAgent(n)),
  );
  // Sent before the first of many enqueues, the claims are waiting long before the signal.
  const claims = Promise.all(agentIds.map(waitForJob));
  const clients = Promise.all(Array.from({ length: CLIENTS }, (_, n) => enqueueUntilEnd(n)));
  await flowing.promise;
  const stoppedAtMs = performance.now();
  assert.deepEqual(await hub.stop(), { code: 0, signal: null }, hub.process.stderr);
  const stopMs = performance.now() - stoppedAtMs;
  assert.ok(stopMs < STOP_MS_MAX, `${stopMs} ms`);
  await clients;

  assert.deepEqual(bad, [], 'no answer was cut off or strange');
  for (const fate of await claims) {
    assert.equal(fate.kind, 'answered');
    assert.deepEqual([fate.status, fate.answer.jobId], [200, null]);
  }

  const restarted = await startHubProcess({ dataDir });
  const again = createClient({ baseUrl: restarted.baseUrl, token });
  const kept = await listJobIds(again, workspaceId);
  const missing = [...answered.values()].filter((jobId) => !kept.has(jobId));
  assert.deepEqual(missing, [], `of ${answered.size} answered jobs`);
  // A request that the hub had read would have made its job: these it never saw.
  assert.equal(
    kept.size,
    answered.size,
    `jobs that no client was answered about; dropped: ${unanswered}`,
  );
  assert.deepEqual(await restarted.stop(), { code: 0, signal: null });
});

async function listJobIds(client: Client, workspaceId: string): Promise<Set<string>> {
  const jobIds = new Set<string>();
  let cursor: string | undefined;
  do {
    const page = await client.jobs.list({
      workspaceId,
      limit: 200,
      ...(cursor === undefined ? {} : { cursor }),
    });
    for (const { jobId } of page.jobs) jobIds.add(jobId);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return jobIds;
}
