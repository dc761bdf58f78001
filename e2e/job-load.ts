import assert from 'node:assert/strict';
import type { createClient } from '@signalbox/sdk';

const AGENTS = 12;
const PRODUCERS = 4;
/** Jobs done between one step of a scenario and the next. */
const JOBS_BETWEEN = 60;

export interface JobLoad {
  /**
   * Does a step of a scenario while jobs are done, and waits until more are. Fails with the load.
   */
  during<T>(step: () => Promise<T>): Promise<T>;
  /** Ends the load when all its jobs are done, and checks that each was done once. */
  end(): Promise<void>;
}

/** Has programs enqueue jobs, and agents claim and complete them. No lease may be lost. */
export async function startJobLoad(
  client: ReturnType<typeof createClient>,
  workspaceId: string,
): Promise<JobLoad> {
  const { repoId } = await client.repositories.upsert({
    workspaceId,
    remoteUrlHash: 'c3'.repeat(32),
  });
  const enqueued = new Set<string>();
  const done: string[] = [];
  let isOver = false;
  const progress = { wanted: 0, reached: Promise.withResolvers<void>() };

  async function produce(): Promise<void> {
    while (!isOver) {
      if (enqueued.size - done.length > AGENTS * 2) {
        await new Promise((resolve) => setImmediate(resolve));
        continue;
      }
      const job = { workspaceId, repoId, kind: 'work', prompt: 'x' } as const;
      const { jobId } = await client.jobs.enqueue(job);
      enqueued.add(jobId);
    }
  }

  async function work(number: number): Promise<void> {
    const { agentId } = await client.agents.heartbeat({
      workspaceId,
      displayName: `agent ${number}`,
      machineFingerprint: `agent ${number}`,
      capabilities: { canWrite: true },
    });
    while (!isOver || done.length < enqueued.size) {
      const claim = await client.jobs.claimNext({ workspaceId, agentId, waitMs: 1_000 });
      if (claim.jobId === null) continue;
      const { result } = await client.jobs.complete({
        workspaceId,
        jobId: claim.jobId,
        agentId,
        outcome: 'done',
        claimGeneration: claim.claimGeneration ?? 0,
      });
      assert.equal(result.status, 'done');
      assert.equal(claim.claimGeneration, 1, 'no lease was lost on the way');
      done.push(claim.jobId);
      if (done.length >= progress.wanted) progress.reached.resolve();
    }
  }

  const clients = Promise.all([
    ...Array.from({ length: AGENTS }, (_none, at) => work(at)),
    ...Array.from({ length: PRODUCERS }, produce),
  ]);
  // A client that fails must end the scenario, not leave it waiting for progress.
  const orFail = async <T>(step: Promise<T>) => (await Promise.race([step, clients])) as T;
  const untilMoreAreDone = () => {
    progress.wanted = done.length + JOBS_BETWEEN;
    progress.reached = Promise.withResolvers();
    return orFail(progress.reached.promise);
  };
  await untilMoreAreDone();
  return {
    async during(step) {
      const result = await orFail(step());
      await untilMoreAreDone();
      return result;
    },
    async end() {
      isOver = true;
      await clients;
      assert.deepEqual(done.toSorted(), [...enqueued].toSorted(), 'each job was done, once');
    },
  };
}
