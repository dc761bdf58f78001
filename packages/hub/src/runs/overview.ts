import type {
  AnswerOf,
  endpoints,
  JobCounts,
  ListedRun,
  RunJob,
  RunPack,
  RunUsage,
} from '@signalbox/contract';
import { timestampOf } from '../base/clock.ts';
import type { Reader } from '../db/engine.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { presentRun } from './present.ts';
import { listMilestones } from './store-milestones.ts';
import { requireRun } from './upsert.ts';

/** Reads of other modules about a run. Given in `app.ts`, since they import runs. */
export interface RunReadDeps extends Pick<HubDeps, 'database'> {
  countJobsOfRun(reader: Reader, workspaceId: string, runId: string): Promise<JobCounts>;
  sumUsageOfRun(reader: Reader, workspaceId: string, runId: string): Promise<RunUsage>;
  sumJobsOfRuns(
    reader: Reader,
    workspaceId: string,
    runIds: readonly string[],
  ): Promise<ReadonlyMap<string, Pick<ListedRun, 'jobCounts' | 'costUsd' | 'isCut'>>>;
  listPacksOfRun(reader: Reader, workspaceId: string, runId: string): Promise<RunPack[]>;
  listJobsOfRun(
    reader: Reader,
    workspaceId: string,
    runId: string,
  ): Promise<{ jobs: RunJob[]; isCut: boolean }>;
}

interface RunRef {
  workspaceId: string;
  runId: string;
}

type Overview = AnswerOf<typeof endpoints.runs.overview>;

/** A run with its milestones, sums and packs. @throws HubError RUN_NOT_FOUND */
export async function readRunOverview(
  deps: RunReadDeps,
  { workspaceId, runId }: RunRef,
): Promise<Overview> {
  const { reader } = deps.database;
  const run = await requireRun(reader, workspaceId, runId);
  const [milestones, jobCounts, usage, packs] = await Promise.all([
    listMilestones(reader, run),
    deps.countJobsOfRun(reader, workspaceId, runId),
    deps.sumUsageOfRun(reader, workspaceId, runId),
    deps.listPacksOfRun(reader, workspaceId, runId),
  ]);
  return {
    run: presentRun(run),
    milestones: milestones.map(({ milestone, status, at }) => ({
      milestone,
      status,
      at: timestampOf(at),
    })),
    jobCounts,
    usage,
    packs,
  };
}

/** The jobs of a run with their edges. @throws HubError RUN_NOT_FOUND */
export async function readRunGraph(
  deps: RunReadDeps,
  { workspaceId, runId }: RunRef,
): Promise<{ jobs: RunJob[]; isCut: boolean }> {
  const { reader } = deps.database;
  await requireRun(reader, workspaceId, runId);
  return deps.listJobsOfRun(reader, workspaceId, runId);
}
