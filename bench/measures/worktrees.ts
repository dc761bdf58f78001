import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createCommandExecutor, startAgent } from '@signalbox/agent';
import { createClient } from '@signalbox/sdk';
import { addFiles } from '../../e2e/large-clone.ts';
import { findTool } from '../../e2e/tools/install-tool.ts';
import { startPlacesBench } from '../../e2e/tools/places-bench.ts';
import type { Bench } from '../bench.ts';
import { type Figure, formatCount, formatValue } from '../figure.ts';
import { baseUrlOf, type HubWorld, withHubs } from '../subjects/hub.ts';

const AT_ONCE = 4;

/** The figures of a round, in ms but for `diskBytes`. */
interface Round {
  bareMs: number;
  firstMs: number;
  coldMs: number;
  warmMs: number;
  atOnceMs: number;
  diskBytes: number;
}

/** P16: from the claim of a job to the start of its tool, by the size of the repository. */
export async function measureWorktrees(bench: Bench): Promise<Figure[]> {
  const { files, quick } = bench.options;
  const sizes = files === undefined && !quick ? [2_000, 20_000] : [files ?? 200];
  const figures: Figure[] = [];
  for (const size of sizes) {
    const rounds: Round[] = [];
    for (let round = 1; round <= bench.options.rounds; round++) {
      const result = await runRound(bench, size);
      rounds.push(result);
      const { bareMs, firstMs, coldMs, warmMs, atOnceMs } = result;
      const [bare, first, cold, warm, four] = [bareMs, firstMs, coldMs, warmMs, atOnceMs].map(
        (each) => formatValue(each, 'ms'),
      );
      bench.say(
        `  round ${round}  ${formatCount(size)} files: git worktree add ${bare}; first job ${first}, ` +
          `cold ${cold}, warm ${warm}, four at once ${four}`,
      );
    }
    const what = `start of a job, ${formatCount(size)} files`;
    const row = { measure: 'P16', unit: 'ms' } as const;
    const valuesOf = (pick: (round: Round) => number) => rounds.map(pick);
    figures.push(
      { ...row, what: `${what}: warm`, atMost: 1_000, values: valuesOf((one) => one.warmMs) },
      {
        ...{ ...row, what: `${what}: warm, the slowest of four at once`, atMost: 1_000 },
        values: valuesOf((one) => one.atOnceMs),
      },
      {
        ...{ measure: 'P16', unit: '×', atMost: 1.2 },
        what: `${what}: cold ÷ git worktree add`,
        values: valuesOf((one) => one.coldMs / one.bareMs),
      },
      { ...row, what: `${what}: first of a repository`, values: valuesOf((one) => one.firstMs) },
      {
        ...{
          measure: 'P16',
          unit: 'MB',
          what: `disk of a warm worktree, ${formatCount(size)} files`,
        },
        values: valuesOf((one) => one.diskBytes / 1e6),
      },
    );
  }
  if (!quick) {
    for (const tool of ['claude', 'codex'] as const) {
      if (findTool(tool) === null) bench.say(`  ${tool} is not installed: npm run coding-tools`);
      else figures.push(await measureTool(bench, tool, files ?? 20_000));
    }
  }
  return figures;
}

/** The real tool, with packages from the kept folders of a set-up, and ports. */
async function measureTool(bench: Bench, tool: 'claude' | 'codex', size: number): Promise<Figure> {
  const places = await startPlacesBench(tool, size);
  const values: number[] = [];
  try {
    // The first installs the packages, and each of four leaves a worktree for a later one.
    await places.run(1);
    await places.run(AT_ONCE);
    for (let round = 1; round <= bench.options.rounds; round++) {
      const jobs = await places.run(AT_ONCE);
      const starts = jobs.map(({ startMs }) => formatValue(startMs, 'ms'));
      bench.say(`  round ${round}  ${formatCount(size)} files, ${tool}: ${starts.join(', ')}`);
      values.push(Math.max(...jobs.map(({ startMs }) => startMs)));
    }
  } finally {
    await places.close();
  }
  const what = `start of ${tool}, ${formatCount(size)} files, packages, ports: slowest of four`;
  return { measure: 'P16', unit: 'ms', atMost: 1_000, what, values };
}

function runRound(bench: Bench, size: number): Promise<Round> {
  return withHubs(bench, 'sqlite', {}, async (world) => {
    const place = bench.place.make('worktrees');
    const clone = join(place, 'clone');
    execFileSync('git', ['init', '--quiet', '--initial-branch=main', clone]);
    await addFiles(clone, size);
    // Nothing is deleted before the end: files deleted a moment ago make new ones slow on ext4.
    execFileSync('sync');
    const bareMs = timeOf(() => git(clone, 'worktree', 'add', '--quiet', join(place, 'bare')));
    const jobs = await startJobs(world, place, clone);
    try {
      const [firstMs = NaN] = await jobs.run(1);
      // One of them finds the worktree of the first job.
      const coldMs = Math.max(...(await jobs.run(2)));
      await jobs.run(AT_ONCE);
      const atOnceMs = Math.max(...(await jobs.run(AT_ONCE)));
      const [warmMs = NaN] = await jobs.run(1);
      const disk = execFileSync('du', ['-sk', join(place, 'bare')], { encoding: 'utf8' });
      const diskBytes = Number.parseInt(disk, 10) * 1024;
      return { bareMs, firstMs, coldMs, warmMs, atOnceMs, diskBytes };
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
    ...{ ...connection, workspaceId, displayName: 'bench', maxConcurrentJobs: AT_ONCE },
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
