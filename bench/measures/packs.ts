import { endpoints } from '@signalbox/contract';
import { createClient } from '@signalbox/sdk';
import type { Bench } from '../bench.ts';
import { type Contestant, runContest } from '../contest.ts';
import { type Figure, formatCount, p99Of, valuesOf } from '../figure.ts';
import { runLoad } from '../load-process.ts';
import type { EngineName } from '../options.ts';
import { baseUrlOf, type HubWorld, withHubs } from '../subjects/hub.ts';
import { engines, titleOf } from '../subjects/store.ts';
import { writeWords } from '../words.ts';

/** Number of runs with different goals, so that consecutive builds search different words. */
const RUNS = 200;
const LOADERS = 16;

/** P9: building a context pack for a run with very many items, by one caller. */
export async function measurePacks(bench: Bench): Promise<Figure[]> {
  const { quick } = bench.options;
  const itemCount = quick ? 2_000 : 100_000;
  const span = quick ? { warmUpMs: 300, measureMs: 1_000 } : { warmUpMs: 3_000, measureMs: 10_000 };
  const hub = (engine: EngineName): Contestant => ({
    title: titleOf(engine),
    run: () =>
      withHubs(bench, engine, {}, async (world) => {
        const { workspaceId, targets, tokens, meters } = world;
        const runIds = await fill(world, itemCount);
        const { path } = endpoints.contextPacks.buildRunV1;
        const bodies = runIds.map((runId) => JSON.stringify({ workspaceId, runId }));
        const post = { targets, path, token: tokens[0] ?? '', connections: 1, bodies };
        return await runLoad({ kind: 'post', ...post, ...span }, meters);
      }),
  });
  // Filling the hub takes minutes, so there is one round.
  const standings = await runContest(
    bench,
    { sqlite: hub('sqlite'), postgres: hub('postgres') },
    1,
  );
  return engines.map((engine) => ({
    measure: 'P9',
    what: `pack over ${formatCount(itemCount)} items, p99, ${titleOf(engine)}`,
    unit: 'ms',
    atMost: 25,
    values: valuesOf(standings[engine], p99Of('request')),
  }));
}

/** Creates items and runs through the API, as in real use. */
async function fill(world: HubWorld, itemCount: number): Promise<string[]> {
  const { workspaceId, repoId, tokens, targets } = world;
  const client = createClient({ baseUrl: baseUrlOf(targets[0]), token: tokens[0] ?? '' });
  let next = 0;
  const load = async () => {
    while (next < itemCount) {
      const number = next++;
      const item = { kind: 'note', source: 'bench', sourceRef: `item ${number}` } as const;
      const text = { title: writeWords(number, 8), text: writeWords(number, 120) };
      await client.contextItems.upsert({ workspaceId, ...item, ...text });
    }
  };
  await Promise.all(Array.from({ length: LOADERS }, load));
  const runIds: string[] = [];
  for (let number = 0; number < RUNS; number++) {
    const run = { runRef: `run-${number}`, goal: writeWords(1_000_000 + number, 12) };
    const { runId } = await client.runs.upsertV1({
      workspaceId,
      repoId,
      status: 'planned',
      ...run,
    });
    runIds.push(runId);
  }
  return runIds;
}
