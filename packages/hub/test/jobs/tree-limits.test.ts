import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import { DEPTH_MAX, RUN_JOBS_MAX, TREE_JOBS_MAX } from '../../src/jobs/tree-limits.ts';
import { startQueueWorld } from '../support/queue-world.ts';

const { jobs, runs } = endpoints;
const child = { kind: 'work' as const, prompt: 'Continue.' };

test('children are a bounded number of generations deep', async (t) => {
  const h = await startQueueWorld(t);
  const { workspaceId, agentId } = h;
  const { jobId: first } = await h.enqueue();
  for (let depth = 1; depth <= DEPTH_MAX; depth++) {
    const { jobId } = await h.claim();
    await h.complete(jobId ?? '', { children: [child] });
  }
  const { jobId } = await h.claim();
  const completion = { workspaceId, agentId, jobId: jobId ?? '', outcome: 'done' as const };
  const deeper = { ...completion, children: [child] };
  const { message } = await h.refuse(jobs.complete, deeper, 'LIMIT_REACHED');
  assert.match(message, /generations deep/);
  await h.call(jobs.complete, completion);
  const rows = await h.hub.database.reader.allSql<{ root_job_id: string | null; depth: number }>(
    'SELECT root_job_id, depth FROM jobs WHERE workspace_id = ? ORDER BY depth',
    [workspaceId],
  );
  assert.deepEqual(rows.at(-1), { root_job_id: first, depth: DEPTH_MAX });
});

test('a tree of jobs and a run have a bounded number of jobs', async (t) => {
  const h = await startQueueWorld(t);
  const { workspaceId, repoId } = h;
  const run = { workspaceId, repoId, runRef: 'r', status: 'planned' };
  const { runId } = await h.call(runs.upsertV1, run);
  const { jobId } = await h.enqueue({ runId });
  const job = { workspaceId, repoId, kind: 'work' as const, prompt: 'x' };
  /** Copies the row of the job, as if it had as many relatives. */
  const copy = (count: number, column: 'root_job_id' | 'run_id', value: string) =>
    h.hub.database.write(workspaceId, async (tx) => {
      const row = await tx.firstSql<Record<string, string | number | null>>(
        'SELECT * FROM jobs WHERE workspace_id = ? AND job_id = ?',
        [workspaceId, jobId],
      );
      const { run_id: _run, job_key: _key, ...rest } = row ?? {};
      for (let n = 0; n < count; n++) {
        const values = { ...rest, job_id: `${jobId}${column}${n}`, [column]: value };
        const names = Object.keys(values);
        await tx.runSql(
          `INSERT INTO jobs (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
          Object.values(values),
        );
      }
    });
  await h.enqueue({ parentJobId: jobId });
  await copy(TREE_JOBS_MAX - 1, 'root_job_id', jobId);
  const below = await h.refuse(jobs.enqueue, { ...job, parentJobId: jobId }, 'LIMIT_REACHED');
  assert.match(below.message, /jobs below it/);
  await copy(RUN_JOBS_MAX - 1, 'run_id', runId);
  const inRun = await h.refuse(jobs.enqueue, { ...job, runId }, 'LIMIT_REACHED');
  assert.match(inRun.message, /A run has at most/);
  // A result is never refused for the round that its messages would become.
  assert.equal((await h.claim()).jobId, jobId);
  await h.call(jobs.continue, { workspaceId, jobId, message: 'More.' });
  await h.complete(jobId);
  const { job: done, messages } = await h.get(jobId);
  assert.equal(done.status, 'done');
  assert.deepEqual(
    messages?.map(({ state }) => state),
    ['queued'],
  );
  const { jobId: other } = await h.enqueue();
  await h.enqueue({ parentJobId: other });
});
