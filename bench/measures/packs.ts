import { endpoints } from '@signalbox/contract';
import { createClient } from '@signalbox/sdk';
import { describeAbsence, runContest, type Standing } from '../contest.ts';
import { describeError, formatCores, formatCount, formatMs } from '../format.ts';
import { type Meters, runLoad } from '../load-process.ts';
import type { Bench, Section, Verdict } from '../section.ts';
import { findMedian } from '../statistics.ts';
import {
  baseUrlOf,
  type HubWorld,
  ServerFailure,
  startHubWorld,
  withHubs,
} from '../subjects/hub.ts';
import { type EngineName, engineTitles, findAbsence, withStore } from '../subjects/store.ts';
import { writeItemText, writeWords } from '../words.ts';

const engines: readonly EngineName[] = ['sqlite', 'postgres'];
/** Number of runs with different goals, so that consecutive builds search different words. */
const RUNS = 200;
const LOADERS = 16;

/** P9: building a context pack for a run with very many items. */
export async function measurePacks(bench: Bench): Promise<Section> {
  const itemCount = bench.options.quick ? 2_000 : 100_000;
  const standings: Standing[] = [];
  for (const engine of engines) standings.push(await measureEngine(bench, engine, itemCount));
  return {
    title: `Context packs over ${formatCount(itemCount)} items`,
    table: {
      head: ['hub on', 'builds/s', 'p50', 'p99', 'cores used'],
      rows: standings.map(describe),
    },
    notes: [
      `One connection, ${RUNS} runs in turn, each with a goal of its own; items of about 120 words ` +
        'from a vocabulary of 20,000, of which few are frequent and most are rare.',
    ],
    verdicts: standings.map((standing) => judge(standing, itemCount)),
    bars: [],
    raw: standings,
  };
}

async function measureEngine(
  bench: Bench,
  engine: EngineName,
  itemCount: number,
): Promise<Standing> {
  const title = engineTitles[engine];
  const absentBecause = findAbsence(bench, engine);
  const base = { id: engine, title, rounds: [], failure: null, perSecond: null };
  if (absentBecause !== null) return { ...base, absentBecause };
  const measured = withStore(bench, engine, async (store, meters) => {
    return withHubs(await startHubWorld(store, { tokenCount: 1 }), async (world) => {
      bench.say(`  ${title}: ${formatCount(itemCount)} items`);
      const runIds = await fill(world, itemCount);
      const run = () => build(bench, world, runIds, meters);
      const [standing] = await runContest(bench, [{ id: engine, title, absentBecause: null, run }]);
      return standing ?? { ...base, absentBecause: null };
    });
  });
  return measured.catch((error: unknown) => {
    if (error instanceof ServerFailure) bench.say(error.serverLog);
    return { ...base, absentBecause: null, failure: describeError(error) };
  });
}

/** Creates items and runs through the API, as in real use. */
async function fill(world: HubWorld, itemCount: number): Promise<string[]> {
  const { workspaceId, repoId, tokens, targets } = world;
  const client = createClient({ baseUrl: baseUrlOf(targets[0]), token: tokens[0] ?? '' });
  let next = 0;
  const load = async () => {
    while (next < itemCount) {
      const number = next++;
      await client.contextItems.upsert({
        ...{ workspaceId, kind: 'note', source: 'bench', sourceRef: `item ${number}` },
        ...{ title: writeWords(number, 8), text: writeItemText(number) },
      });
    }
  };
  await Promise.all(Array.from({ length: LOADERS }, load));
  const runIds: string[] = [];
  for (let number = 0; number < RUNS; number++) {
    const { runId } = await client.runs.upsertV1({
      ...{ workspaceId, repoId, runRef: `run-${number}`, status: 'in_progress' },
      goal: writeWords(1_000_000 + number, 12),
    });
    runIds.push(runId);
  }
  return runIds;
}

function build(bench: Bench, world: HubWorld, runIds: readonly string[], meters: Meters) {
  const { workspaceId, targets, tokens } = world;
  const { path } = endpoints.contextPacks.buildRunV1;
  return runLoad(
    {
      ...{ kind: 'post', targets, path, token: tokens[0] ?? '', connections: 1 },
      bodies: runIds.map((runId) => JSON.stringify({ workspaceId, runId })),
      ...(bench.options.quick
        ? { warmUpMs: 300, measureMs: 1_000 }
        : { warmUpMs: 3_000, measureMs: 10_000 }),
    },
    { ...world.meters, ...meters },
  );
}

function summarize({ perSecond, rounds }: Standing) {
  if (perSecond === null) return null;
  const latencies = rounds.flatMap(({ latency }) => latency.request ?? []);
  return {
    perSecond: perSecond.median,
    p50Ms: findMedian(latencies.map(({ p50Ms }) => p50Ms)),
    p99Ms: findMedian(latencies.map(({ p99Ms }) => p99Ms)),
  };
}

function describe(standing: Standing): string[] {
  const found = summarize(standing);
  if (found === null) return [standing.title, '–', '–', '–', describeAbsence(standing)];
  const { perSecond, p50Ms, p99Ms } = found;
  const cores = formatCores(standing.rounds);
  return [standing.title, formatCount(perSecond), formatMs(p50Ms), formatMs(p99Ms), cores];
}

function judge(standing: Standing, itemCount: number): Verdict {
  const found = summarize(standing);
  const what = `pack over ${formatCount(itemCount)} items, p99, ${standing.title}`;
  const rule = { measure: 'P9', what, target: '≤ 25 ms' } as const;
  if (found === null) return { ...rule, measured: 'not measured', met: null };
  return { ...rule, measured: formatMs(found.p99Ms), met: found.p99Ms <= 25 };
}
