import { endpoints } from '@signalbox/contract';
import type { Api } from '../http/bind.ts';
import { decodeCursor, readPage } from '../http/paging.ts';
import { type RunReadDeps, readRunGraph, readRunOverview } from './overview.ts';
import { presentRun } from './present.ts';
import { listRuns } from './store.ts';
import { type RunDeps, requireRun, updateRunById, upsertRunByRef } from './upsert.ts';

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
      (piece) => listRuns(deps.database.reader, workspaceId, input, piece),
      (row) => row.run_id,
    );
    return { runs: page.items.map(presentRun), nextCursor: page.nextCursor };
  });
}
