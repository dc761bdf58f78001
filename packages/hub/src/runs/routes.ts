import { endpoints } from '@signalbox/contract';
import type { Api } from '../http/bind.ts';
import { decodeCursor, readPage } from '../http/paging.ts';
import { type RunReadDeps, readRunGraph, readRunOverview } from './overview.ts';
import { presentRun } from './present.ts';
import { listRuns } from './store.ts';
import { type RunDeps, requireRun, updateRunById, upsertRunByRef } from './upsert.ts';

/** Of a run that was deleted while its page was read. */
const noJobs = {
  jobCounts: { pending: 0, running: 0, done: 0, failed: 0, blocked: 0, canceled: 0 },
  costUsd: null,
  isCut: false,
};

export function bindRunRoutes(api: Api, deps: RunDeps & RunReadDeps): void {
  const { runs } = endpoints;
  api.bind(runs.upsertV1, (input, { principal }) => upsertRunByRef(deps, principal, input));
  api.bind(runs.upsertV2, async (input, { principal }) => {
    const row = await updateRunById(deps, principal, input);
    return { runId: row.run_id, run: presentRun(row) };
  });
  api.bind(runs.get, async ({ workspaceId, runId }) => {
    const row = await requireRun(deps.database.reader, workspaceId, runId);
    return { run: presentRun(row) };
  });
  api.bind(runs.overview, (input) => readRunOverview(deps, input));
  api.bind(runs.graph, (input) => readRunGraph(deps, input));
  api.bind(runs.list, async (input) => {
    const before = decodeCursor(input.cursor, 'run');
    const { workspaceId, limit } = input;
    const page = await readPage(
      { limit, before },
      (piece) => listRuns(deps.database.reader, input, piece),
      (row) => row.run_id,
    );
    const runIds = page.items.map((row) => row.run_id);
    const sums = await deps.sumJobsOfRuns(deps.database.reader, workspaceId, runIds);
    const runs = page.items.map((row) => {
      return { ...presentRun(row), ...(sums.get(row.run_id) ?? noJobs) };
    });
    return { runs, nextCursor: page.nextCursor };
  });
}
