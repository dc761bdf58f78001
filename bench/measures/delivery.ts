import { type Contestant, describeAbsence, runContest, type Standing } from '../contest.ts';
import { formatCores, formatMs } from '../format.ts';
import { runLoad } from '../load-process.ts';
import type { Bench, Section, Verdict } from '../section.ts';
import { findMedian } from '../statistics.ts';
import { registerAgents, startHubWorld, withHubs } from '../subjects/hub.ts';
import { type EngineName, engineTitles, findAbsence, withStore } from '../subjects/store.ts';

const RATE_PER_SECOND = 500;
/** Number of waiting agents: enough for the rate, few enough that each gets jobs. */
const AGENTS = 64;
const P99_MS_MAX = 10;
const BETWEEN_HUBS_P99_MS_MAX = 25;

/** P4: from the answer to an enqueue to the answer to a waiting claim. */
export async function measureDelivery(bench: Bench): Promise<Section> {
  const contestants = [
    delivery(bench, 'sqlite', 1),
    delivery(bench, 'postgres', 1),
    delivery(bench, 'postgres', 2),
  ];
  const standings = await runContest(bench, contestants);
  return {
    title: `Delivery at ${RATE_PER_SECOND} jobs/s to ${AGENTS} agents that wait`,
    table: {
      head: ['who', 'p50', 'p99', 'worst p99 of a round', 'from enqueue sent, p99', 'cores used'],
      rows: standings.map(describe),
    },
    notes: [
      'From the answer to an enqueue to the answer to the claim; a claim answered before counts ' +
        'as 0. With two hubs, jobs are enqueued at one and claimed at the other.',
      'Jobs come by the clock, however long answers take.',
    ],
    verdicts: standings.map(judge),
    bars: [],
    raw: standings,
  };
}

function delivery(bench: Bench, engine: EngineName, hubCount: number): Contestant {
  const span = bench.options.quick
    ? { warmUpMs: 700, measureMs: 2_000 }
    : { warmUpMs: 3_000, measureMs: 10_000 };
  return {
    id: `${engine}-${hubCount}`,
    title: `${hubCount === 1 ? 'one hub' : 'from hub to hub'} on ${engineTitles[engine]}`,
    absentBecause: findAbsence(bench, engine),
    run: () =>
      withStore(bench, engine, async (store, meters) => {
        const started = await startHubWorld(store, { hubCount, tokenCount: 8 });
        return withHubs(started, async (world) => {
          const agents = await registerAgents(world, AGENTS);
          const { workspaceId, repoId, targets } = world;
          const [enqueueTarget] = targets;
          const claimTarget = targets.at(-1);
          if (!enqueueTarget || !claimTarget) throw new Error('a world must have a hub');
          return await runLoad(
            {
              ...{ kind: 'delivery', workspaceId, repoId, agents, enqueueTarget, claimTarget },
              ...{ ratePerSecond: RATE_PER_SECOND, ...span },
            },
            { ...world.meters, ...meters },
          );
        });
      }),
  };
}

function describe(standing: Standing): string[] {
  const found = summarize(standing);
  if (found === null) return [standing.title, '–', '–', '–', '–', describeAbsence(standing)];
  const { p50Ms, p99Ms, worstMs, wholeWayMs } = found;
  return [
    standing.title,
    ...[p50Ms, p99Ms, worstMs, wholeWayMs].map(formatMs),
    formatCores(standing.rounds),
  ];
}

function summarize({ perSecond, rounds }: Standing) {
  if (perSecond === null) return null;
  const latencies = rounds.flatMap(({ latency }) => latency.delivery ?? []);
  const wholeWays = rounds.flatMap(({ latency }) => latency.wholeWay ?? []);
  const p99s = latencies.map(({ p99Ms }) => p99Ms);
  return {
    p50Ms: findMedian(latencies.map(({ p50Ms }) => p50Ms)),
    p99Ms: findMedian(p99s),
    worstMs: Math.max(...p99s),
    wholeWayMs: findMedian(wholeWays.map(({ p99Ms }) => p99Ms)),
  };
}

function judge(standing: Standing): Verdict {
  const { id, title } = standing;
  const found = summarize(standing);
  const limitMs = id.endsWith('-2') ? BETWEEN_HUBS_P99_MS_MAX : P99_MS_MAX;
  const rule = {
    measure: 'P4',
    what: `delivery, ${title}, p99`,
    target: `≤ ${limitMs} ms`,
  } as const;
  if (found === null) return { ...rule, measured: 'not measured', met: null };
  return { ...rule, measured: formatMs(found.p99Ms), met: found.p99Ms <= limitMs };
}
