import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench } from '../bench.ts';
import type { Figure } from '../figure.ts';
import { runLoad } from '../load-process.ts';
import type { EngineName } from '../options.ts';
import { describeError } from '../project.ts';
import { registerAgents, withHubs } from '../subjects/hub.ts';
import { ask } from '../subjects/postgres.ts';
import { type HubStore, titleOf } from '../subjects/store.ts';

const CONNECTIONS = 32;

/** P13: what a finished job with its three events takes on the disk. */
export async function measureDisk(bench: Bench): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [engine, atMost] of [
    ['sqlite', 1_400],
    ['postgres', 2_400],
  ] as const) {
    const what = `bytes of a finished job on the disk, ${titleOf(engine)}`;
    const values = await measureEngine(bench, engine).then((bytes) => [bytes], describeError);
    figures.push({ measure: 'P13', what, unit: '', atMost, values });
  }
  return figures;
}

function measureEngine(bench: Bench, engine: EngineName): Promise<number> {
  return withHubs(bench, engine, { tokenCount: CONNECTIONS }, async (world, store) => {
    const agents = await registerAgents(world, CONNECTIONS);
    const beforeBytes = await readDatabaseBytes(store);
    const { workspaceId, repoId, targets } = world;
    const queue = { workspaceId, repoId, targets, agents, hasBacklog: false };
    const span = { warmUpMs: 0, measureMs: bench.options.quick ? 4_000 : 15_000 };
    const { totals } = await runLoad({ kind: 'cycles', ...queue, ...span }, {});
    // A hub on SQLite copies its log into the file when it stops.
    await world.stop();
    return ((await readDatabaseBytes(store)) - beforeBytes) / (totals.completed ?? 0);
  });
}

async function readDatabaseBytes({ dataDir, databaseUrl }: HubStore): Promise<number> {
  if (databaseUrl === null) return statSync(join(dataDir, 'signalbox.db')).size;
  return Number(await ask(databaseUrl, 'SELECT pg_database_size(current_database())'));
}
