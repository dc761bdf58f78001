import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import { createDatabaseClock } from '../../src/cluster/database-clock.ts';
import { mintServiceToken } from '../../src/tokens/mint.ts';
import { startHubChild } from '../support/hub-child.ts';
import {
  addAgent,
  addWorkspace,
  callHub,
  claimWaiting,
  enqueueJob,
  postHub,
  startSeveralHubs,
} from '../support/several-hubs.ts';
import { until } from '../support/until.ts';

const options = { timeout: 40_000 };
const HOUR_MS = 3_600_000;
/** How long a hub may accept a revoked token (docs/reference/protocol.md, section 2.1). */
const REVOCATION_MS_MAX = 1_000;

test(
  'hubs whose clocks are an hour off expire tokens and grant leases by the database’s clock',
  options,
  async (t) => {
    const world = await startSeveralHubs(t);
    const hub = await world.start();
    const env = { SVC_DATABASE_URL: world.databaseUrl };
    const early = await startHubChild(t, world.dataDir, { env, clockShiftMs: HOUR_MS });
    const late = await startHubChild(t, world.dataDir, { env, clockShiftMs: -HOUR_MS });
    const workspace = await addWorkspace(hub);
    const { workspaceId } = workspace;
    const agentId = await addAgent(hub, workspace, 'one');
    for (const child of [early, late]) {
      await enqueueJob(hub, workspace);
      const claim = await claimWaiting(child, workspace, agentId, {
        leaseMs: 60_000,
      });
      const lastsMs = Date.parse(claim.leaseExpiresAt ?? '') - Date.now();
      assert.ok(lastsMs > 30_000 && lastsMs <= 61_000, `the lease lasts ${lastsMs} ms`);
    }
    const { token, tokenId } = await hub.database.write(workspaceId, (tx) =>
      mintServiceToken(hub.deps, tx, { workspaceId, name: 'brief', createdBy: 'test' }),
    );
    await hub.database.write(workspaceId, (tx) =>
      tx.runSql('UPDATE tokens SET expires_at = ? WHERE token_id = ?', [tx.nowMs + 3_000, tokenId]),
    );
    const list = (child: { baseUrl: string }) =>
      postHub(child, endpoints.jobs.list.path, { workspaceId }, token);
    for (const child of [early, late]) assert.equal((await list(child)).status, 200);
    for (const child of [early, late]) {
      await until('the token expires', async () => (await list(child)).status === 401);
      assert.equal((await list(child)).answer.error, 'TOKEN_EXPIRED');
    }
  },
);

test(
  'every hub refuses a revoked token within a second, with or without a notification',
  options,
  async (t) => {
    const world = await startSeveralHubs(t);
    const revoking = await world.start();
    const others = [await world.start(), await world.start({ databasePooled: true })];
    await until('hubs know each other', () => revoking.group.others === 2);
    const { workspaceId, token } = await addWorkspace(revoking);
    const list = (hub: { baseUrl: string }) =>
      postHub(hub, endpoints.jobs.list.path, { workspaceId }, token);
    for (const hub of others) assert.equal((await list(hub)).status, 200);
    await callHub(revoking, endpoints.tokens.revoke, {}, token);
    const revokedAt = performance.now();
    for (const hub of others) {
      for (;;) {
        const sentAt = performance.now();
        const { status } = await list(hub);
        if (status === 401) break;
        assert.ok(sentAt - revokedAt < REVOCATION_MS_MAX, 'it was sent within the second');
      }
    }
  },
);

test('the estimate of the database’s clock is kept until a reading contradicts it', () => {
  const clock = createDatabaseClock();
  clock.correct(1_000_000, 100, 200);
  const offset = offsetOf(clock);
  assert.ok(offset >= 1_000_000 - 200 && offset <= 1_000_000 - 100);
  // A slow reading is less precise, so it changes nothing.
  clock.correct(1_000_500, 0, 2_000);
  assert.ok(Math.abs(offsetOf(clock) - offset) <= 1);
  // A reading that contradicts the estimate moves it, no further than necessary.
  clock.correct(2_000_000, 100, 200);
  assert.ok(offsetOf(clock) <= 2_000_000 - 199);
});

/** By how much a clock is before this process, read within one millisecond of both. */
function offsetOf({ nowMs }: { nowMs(): number }): number {
  for (;;) {
    const beganMs = Math.floor(performance.now());
    const atMs = nowMs();
    if (Math.floor(performance.now()) === beganMs) return atMs - beganMs;
  }
}
