import { endpoints } from '@signalbox/contract';
import { type Contestant, runContest, type Standing } from '../contest.ts';
import { describeError, formatCount, formatMs, formatRatio } from '../format.ts';
import { type Meters, runLoad } from '../load-process.ts';
import type { Bench, Section, Verdict } from '../section.ts';
import type { SeedCounts } from '../seed/seed-jobs.ts';
import { type SeededWorld, startSeededWorld } from '../seed/seeded-world.ts';
import { findMedian } from '../statistics.ts';
import { withHubs } from '../subjects/hub.ts';
import { type EngineName, engineTitles, findAbsence, withStore } from '../subjects/store.ts';

const engines: readonly EngineName[] = ['sqlite', 'postgres'];
/** Connections of the concurrent load; the other load has a single connection. */
const CONNECTIONS = 64;
const SMALL: SeedCounts = { pending: 1_000, finished: 0, events: 0 };

/** P5 and P8: the times of a claim and a page with very much data, compared to little. */
export async function measureGrowth(bench: Bench): Promise<Section> {
  const large = bench.options.quick
    ? { pending: 20_000, finished: 40_000, events: 20_000 }
    : { pending: 1_000_000, finished: 5_000_000, events: 1_000_000 };
  const standings: Standing[] = [];
  const verdicts: Verdict[] = [];
  const rows: string[][] = [];
  for (const engine of engines) {
    const absence = findAbsence(bench, engine);
    if (absence !== null) {
      rows.push([engineTitles[engine], `absent: ${absence}`, '–', '–']);
      continue;
    }
    const own = await measureEngine(bench, engine, large).catch((error: unknown) => {
      rows.push([engineTitles[engine], `failed: ${describeError(error)}`, '–', '–']);
      return [];
    });
    standings.push(...own);
    rows.push(...own.map((standing) => describe(engine, standing)));
    verdicts.push(...judge(bench, engine, own, large));
  }
  const { pending, finished, events } = large;
  return {
    title: 'Growth',
    table: { head: ['hub on', 'what', 'p50', 'p99'], rows },
    notes: [
      `Large: ${formatCount(pending)} pending and ${formatCount(finished)} finished jobs, and one ` +
        `job with ${formatCount(events)} events. Small: ${formatCount(SMALL.pending)} pending.`,
      'Seen by the client over HTTP; a claim includes its commit. All that is seeded are copies ' +
        'of rows that the hub itself wrote.',
    ],
    verdicts,
    bars: [],
    raw: standings,
  };
}

async function measureEngine(
  bench: Bench,
  engine: EngineName,
  counts: SeedCounts,
): Promise<Standing[]> {
  return withStore(bench, engine, (smallStore, meters) =>
    withStore(bench, engine, async (largeStore) => {
      bench.say(`  ${engineTitles[engine]}: seeding`);
      const smallWorld = await startSeededWorld(smallStore, SMALL, CONNECTIONS, () => undefined);
      return withHubs(smallWorld, async (small) => {
        const largeWorld = await startSeededWorld(largeStore, counts, CONNECTIONS, bench.say);
        return withHubs(largeWorld, (large) =>
          runContest(bench, listContestants(bench, { small, large }, meters)),
        );
      });
    }),
  );
}

type Worlds = Readonly<Record<'small' | 'large', SeededWorld>>;

function listContestants(bench: Bench, worlds: Worlds, meters: Meters): Contestant[] {
  const claims = [1, CONNECTIONS].flatMap((connections) =>
    (['small', 'large'] as const).map((size) =>
      claim(bench, size, worlds[size], meters, connections),
    ),
  );
  return [
    ...(bench.options.only.has('P5') ? claims : []),
    ...(bench.options.only.has('P8') ? listReads(bench, worlds.large, meters) : []),
  ];
}

function claim(
  bench: Bench,
  size: 'small' | 'large',
  world: SeededWorld,
  meters: Meters,
  connections: number,
): Contestant {
  const { targets, workspaceId, repoId, agents } = world;
  return {
    id: `claim-${size}-${connections}`,
    title: `claim, ${size}, ${connections === 1 ? 'alone' : `${connections} connections`}`,
    absentBecause: null,
    run: () =>
      runLoad(
        {
          ...{ kind: 'cycles', targets, workspaceId, repoId, hasBacklog: true },
          agents: agents.slice(0, connections),
          ...spanOf(bench),
        },
        { ...world.meters, ...meters },
      ),
  };
}

function listReads(bench: Bench, world: SeededWorld, meters: Meters): Contestant[] {
  const { workspaceId, loggedJobId, targets, tokens } = world;
  const { jobs, jobEvents } = endpoints;
  const read = (id: string, title: string, path: string, body: object): Contestant => ({
    ...{ id, title, absentBecause: null },
    run: () =>
      runLoad(
        {
          ...{ kind: 'post', targets, path, token: tokens[0] ?? '', connections: 1 },
          bodies: [JSON.stringify({ workspaceId, ...body })],
          ...spanOf(bench),
        },
        { ...world.meters, ...meters },
      ),
  });
  const tail = { jobId: loggedJobId, limit: 100 };
  const ofDone = { status: 'done', limit: 50 };
  const done = read('page-status', 'page of 50 done jobs', jobs.list.path, ofDone);
  return [
    read('tail', 'last 100 events of the long timeline', jobEvents.listForJob.path, tail),
    read('page', 'page of 50 jobs', jobs.list.path, { limit: 50 }),
    ...(bench.options.brief ? [] : [done]),
  ];
}

function spanOf({ options }: Bench) {
  return options.quick ? { warmUpMs: 300, measureMs: 700 } : { warmUpMs: 2_000, measureMs: 5_000 };
}

function latencyOf({ id, perSecond, rounds }: Standing) {
  if (perSecond === null) return null;
  const name = id.startsWith('claim') ? 'claim' : 'request';
  const latencies = rounds.flatMap(({ latency }) => latency[name] ?? []);
  return {
    p50Ms: findMedian(latencies.map(({ p50Ms }) => p50Ms)),
    p99Ms: findMedian(latencies.map(({ p99Ms }) => p99Ms)),
  };
}

function describe(engine: EngineName, standing: Standing): string[] {
  const latency = latencyOf(standing);
  const { title, failure } = standing;
  if (latency === null) return [engineTitles[engine], title, `failed: ${failure}`, '–'];
  const { p50Ms, p99Ms } = latency;
  return [engineTitles[engine], title, `${p50Ms.toFixed(2)} ms`, `${p99Ms.toFixed(2)} ms`];
}

function judge(
  { options }: Bench,
  engine: EngineName,
  standings: readonly Standing[],
  counts: SeedCounts,
): Verdict[] {
  const middleOf = (id: string) => {
    const standing = standings.find((one) => one.id === id);
    return standing === undefined ? null : (latencyOf(standing)?.p50Ms ?? null);
  };
  const on = engineTitles[engine];
  const growth = [1, CONNECTIONS].map((connections): Verdict => {
    const [small, large] = [
      middleOf(`claim-small-${connections}`),
      middleOf(`claim-large-${connections}`),
    ];
    const ratio = small === null || large === null ? null : large / small;
    const how = connections === 1 ? 'alone' : `${connections} connections`;
    return {
      ...{ measure: 'P5', what: `claim, large ÷ small, ${how}, ${on}`, target: '≤ 1.2×' },
      measured: ratio === null ? 'not measured' : formatRatio(ratio),
      met: ratio === null ? null : ratio <= 1.2,
    };
  });
  const reads = [
    ['tail', `tail of ${formatCount(counts.events)} events`],
    ['page', `page of ${formatCount(counts.pending + counts.finished)} jobs`],
  ].map(([id = '', what]): Verdict => {
    const valueMs = middleOf(id);
    return {
      ...{ measure: 'P8', what: `${what}, ${on}`, target: '≤ 1 ms' },
      measured: valueMs === null ? 'not measured' : formatMs(valueMs),
      met: valueMs === null ? null : valueMs <= 1,
    };
  });
  return [...growth, ...reads].filter(({ measure }) => options.only.has(measure));
}
