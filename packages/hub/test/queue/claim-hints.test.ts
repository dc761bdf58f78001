import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { unpackHints } from '../../src/cluster/hint-payload.ts';
import { createHintReceiver } from '../../src/cluster/hint-receiver.ts';
import { HintSender } from '../../src/cluster/hint-sender.ts';
import { createClaimHintHandler, hintOfWake } from '../../src/queue/claim-hints.ts';
import { ClaimWaiters } from '../../src/queue/claim-waiters.ts';
import { Queue } from '../../src/queue/queue.ts';
import { readEntry } from '../../src/queue/store.ts';
import { startQueueWorld } from '../support/queue-world.ts';

const WAIT_MS = 60_000;

/** Claims that wait on one hub, and the wakes of another hub, which reach them as payloads. */
async function setupHubs(t: TestContext) {
  const h = await startQueueWorld(t);
  const { database } = h.hub;
  const [queue, here] = [new Queue(() => undefined), new ClaimWaiters(h.clock)];
  const handler = createClaimHintHandler({ database, queue, waiters: here });
  const fail = (error: unknown) => assert.fail(String(error));
  const receiver = createHintReceiver([handler], () => true, fail);
  const sender = new HintSender({
    hubId: 'hub_a',
    hasOthers: () => true,
    send: async (payloads) => {
      for (const payload of payloads) receiver.receive(unpackHints(payload));
    },
  });
  const elsewhere = new ClaimWaiters(h.clock, (workspaceId, wake) =>
    sender.notify(workspaceId, hintOfWake(wake)),
  );
  const never = new AbortController().signal;
  const repoIds = new Set([h.repoId]);
  const demand = { queue: 'jobs', repoIds, capabilities: { canWrite: true } } as const;
  const { workspaceId } = h;
  /** Parks the claim of an agent that takes jobs of one kind. */
  const park = (agentId: string, kind = 'work') => {
    const suits = (laneId: string) => queue.laneSuits(laneId, { ...demand, kinds: [kind] });
    return here.wait({ workspaceId, agentId, suits }, here.version(), WAIT_MS, never);
  };
  const laneOf = async (jobId: string) =>
    (await readEntry(database.reader, workspaceId, jobId))?.lane_id ?? '';
  return { ...h, here, elsewhere, park, laneOf };
}

test('each kind of wake reaches the claims of another hub that it is for', async (t) => {
  const h = await setupHubs(t);
  const { workspaceId, here, elsewhere } = h;
  void h.park('reviewer', 'pr_review');
  const worker = h.park('worker');
  const laneId = await h.laneOf((await h.enqueue()).jobId);
  elsewhere.wakeNext(workspaceId, laneId);
  assert.deepEqual(await worker, { laneId });
  assert.equal(here.count, 1);
  const again = h.park('worker');
  elsewhere.wakeAgent(workspaceId, 'worker');
  assert.deepEqual(await again, { laneId: null });
  assert.equal(here.count, 1);
  const all = [h.park('worker'), h.park('other')];
  elsewhere.wakeWorkspace(workspaceId);
  assert.deepEqual(await Promise.all(all), [{ laneId: null }, { laneId: null }]);
  assert.equal(here.count, 0);
});
