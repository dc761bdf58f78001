import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createCommandExecutor, startAgent } from '@signalbox/agent';
import { createClient } from '@signalbox/sdk';
import { addFiles } from '../../e2e/large-clone.ts';
import type { Bench } from '../bench.ts';
import { type Figure, formatCount, formatValue } from '../figure.ts';
import { baseUrlOf, type HubWorld, withHubs } from '../subjects/hub.ts';

const CONCURRENT_JOBS = 2;

/** P16: from the claim of a job to the start of its tool. */
export async function measureWorktrees(bench: Bench): Promise<Figure[]> {
  const files = bench.options.quick ? 200 : 20_000;
  const rounds: Awaited<ReturnType<typeof runRound>>[] = [];
  for (let round = 1; round <= bench.options.rounds; round++) {
    const result = await runRound(bench, files);
    rounds.push(result);
    const { bareMs, firstMs, coldMs, warmMs } = result;
    const [bare, first, cold, warm] = [bareMs, firstMs, coldMs, warmMs].map((each) =>
      formatValue(each, 'ms'),
    );
    bench.say(
      `  round ${round}  git worktree add ${bare}; first job ${first}, cold ${cold}, warm ${warm}`,
    );
  }
  const row = { measure: 'P16' } as const;
  const what = `start of a job, ${formatCount(files)} files`;
  const warm = rounds.map(({ warmMs }) => warmMs);
  const cold = rounds.map(({ coldMs, bareMs }) => coldMs / bareMs);
  return [
    { ...row, what: `${what}: warm`, unit: 'ms', atMost: 1_000, values: warm },
    { ...row, what: `${what}: cold ÷ git worktree add`, unit: '×', atMost: 1.2, values: cold },
  ];
}

function runRound(bench: Bench, files: number) {
  return withHubs(bench, 'sqlite', {}, async (world) => {
    const place = bench.place.make('worktrees');
    const clone = join(place, 'clone');
    execFileSync('git', ['init', '--quiet', '--initial-branch=main', clone]);
    await addFiles(clone, files);
    // Nothing is deleted before the end: files deleted a moment ago make new ones slow on ext4.
    execFileSync('sync');
    const bareMs = timeOf(() => git(clone, 'worktree', 'add', '--quiet', join(place, 'bare')));
    const jobs = await startJobs(world, place, clone);
    try {
      const [firstMs = NaN] = await jobs.run(1);
      // One of them finds the worktree of the first job.
      const coldMs = Math.max(...(await jobs.run(CONCURRENT_JOBS)));
      const [warmMs = NaN] = await jobs.run(1);
      return { bareMs, firstMs, coldMs, warmMs };
    } finally {
      await jobs.stop();
      bench.place.remove(place);
    }
  });
}

function timeOf(act: () => unknown): number {
  const beganMs = performance.now();
  act();
  return performance.now() - beganMs;
}

function git(clone: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd: clone, encoding: 'utf8' });
}

/** An agent whose tool notes when it was started, and changes a file. */
async function startJobs(world: HubWorld, place: string, clone: string) {
  const { workspaceId, repoId } = world;
  const connection = { baseUrl: baseUrlOf(world.targets[0]), token: world.tokens[0] ?? '' };
  const claimedMs = new Map<string, number>();
  const waiting = new Map<string, () => void>();
  const noteOf = (jobId: string) => join(place, `started-${jobId}`);
  const agent = await startAgent({
    ...connection,
    workspaceId,
    displayName: 'bench',
    maxConcurrentJobs: CONCURRENT_JOBS,
    repositories: [{ repoId, path: clone }],
    stateDir: join(place, 'state'),
    executor: createCommandExecutor({
      command: `date +%s%N > "${place}/started-$SIGNALBOX_JOB_ID"; date >> note.txt`,
    }),
    onEvent(event) {
      if (event.type === 'job-claimed') claimedMs.set(event.job.jobId, Date.now());
      if (event.type === 'result-accepted') waiting.get(event.jobId)?.();
    },
  });
  const client = createClient(connection);
  /** Runs jobs at the same time; returns how long each waited for its tool. */
  async function run(count: number): Promise<number[]> {
    const jobIds = await Promise.all(
      Array.from({ length: count }, async () => {
        const { promise, resolve } = Promise.withResolvers<void>();
        const prompt = 'Change it.';
        const { jobId } = await client.jobs.enqueue({ workspaceId, repoId, kind: 'work', prompt });
        waiting.set(jobId, resolve);
        const { job } = await client.jobs.get({ workspaceId, jobId });
        if (job.status !== 'done') await promise;
        return jobId;
      }),
    );
    // Their worktrees are kept once nothing holds them.
    while (agent.heldJobIds().length > 0) await wait(20);
    return jobIds.map((jobId) => {
      const startedMs = Number(readFileSync(noteOf(jobId), 'utf8')) / 1e6;
      return startedMs - (claimedMs.get(jobId) ?? Number.NaN);
    });
  }
  return { run, stop: () => agent.stop() };
}
