import { type Contestant, describeAbsence, runContest, type Standing } from '../contest.ts';
import { formatCores, formatCount, formatMegabytes, formatMs } from '../format.ts';
import type { LoadResult } from '../load-process.ts';
import { runLoad } from '../load-process.ts';
import type { Bench, Section, Verdict } from '../section.ts';
import { findMedian } from '../statistics.ts';
import { startHubWorld, withHubs } from '../subjects/hub.ts';
import { type EngineName, engineTitles, findAbsence, withStore } from '../subjects/store.ts';

const JOBS_PER_SECOND = 20;

/** P6: very many online agents, each waiting in a long poll. */
export async function measureCrowd(bench: Bench): Promise<Section> {
  const agentCount = bench.options.quick ? 1_000 : 10_000;
  const { brief } = bench.options;
  const rounds = brief ? 1 : Math.min(bench.options.rounds, 2);
  const contestants = [crowd(bench, 'sqlite', agentCount)];
  if (!brief) contestants.push(crowd(bench, 'postgres', agentCount));
  const standings = await runContest(
    { ...bench, options: { ...bench.options, rounds } },
    contestants,
  );
  return {
    title: `${formatCount(agentCount)} agents that wait, a heartbeat of each every 15 s`,
    table: {
      head: ['hub on', 'memory', 'delivery p50 / p99', 'heartbeat p99', 'cores used'],
      rows: standings.map(describe),
    },
    notes: [
      `${JOBS_PER_SECOND} jobs/s; each claim waits 25 s, as our agents do. Memory is the larger of ` +
        'both ends of the measured time.',
    ],
    verdicts: judge(standings[0], agentCount),
    bars: [],
    raw: standings,
  };
}

function crowd(bench: Bench, engine: EngineName, agentCount: number): Contestant {
  const span = bench.options.quick
    ? { warmUpMs: 1_000, measureMs: 4_000 }
    : { warmUpMs: 30_000, measureMs: 60_000 };
  return {
    id: engine,
    title: engineTitles[engine],
    absentBecause: findAbsence(bench, engine),
    run: () =>
      withStore(bench, engine, async (store, meters) => {
        const started = await startHubWorld(store, { tokenCount: bench.options.quick ? 4 : 64 });
        return withHubs(started, async (world) => {
          const { workspaceId, repoId, tokens, targets } = world;
          const [target] = targets;
          if (target === undefined) throw new Error('a world must have a hub');
          return await runLoad(
            {
              ...{ kind: 'crowd', workspaceId, repoId, tokens, target, agentCount },
              ...{ jobsPerSecond: JOBS_PER_SECOND, ...span },
            },
            { ...world.meters, ...meters },
          );
        });
      }),
  };
}

function summarize({ perSecond, rounds }: Standing) {
  if (perSecond === null) return null;
  const middleOf = (pick: (result: LoadResult) => number | null | undefined) => {
    const values = rounds.flatMap((result) => pick(result) ?? []);
    return values.length === 0 ? null : findMedian(values);
  };
  return {
    residentBytes: middleOf(({ residentBytes }) => residentBytes.hub),
    hubCores: middleOf(({ cores }) => cores.hub),
    p50Ms: middleOf(({ latency }) => latency.delivery?.p50Ms),
    p99Ms: middleOf(({ latency }) => latency.delivery?.p99Ms),
    heartbeatMs: middleOf(({ latency }) => latency.heartbeat?.p99Ms),
  };
}

function describe(standing: Standing): string[] {
  const found = summarize(standing);
  if (found === null) return [standing.title, '–', '–', '–', describeAbsence(standing)];
  return [
    standing.title,
    formatOr(found.residentBytes, formatMegabytes),
    `${formatOr(found.p50Ms, formatMs)} / ${formatOr(found.p99Ms, formatMs)}`,
    formatOr(found.heartbeatMs, formatMs),
    formatCores(standing.rounds),
  ];
}

function formatOr(value: number | null, format: (value: number) => string): string {
  return value === null ? 'not measured' : format(value);
}

function judge(standing: Standing | undefined, agentCount: number): Verdict[] {
  const found = standing === undefined ? null : summarize(standing);
  const who = `${formatCount(agentCount)} agents waiting`;
  const rows = [
    ['memory', '≤ 450 MB', found?.residentBytes, 450_000_000, formatMegabytes],
    ['processor', '≤ 0.4 core', found?.hubCores, 0.4, (cores: number) => cores.toFixed(2)],
    ['delivery p99', '≤ 10 ms', found?.p99Ms, 10, formatMs],
  ] as const;
  return rows.map(([name, target, value, limit, format]) => ({
    ...{ measure: 'P6', what: `${who}: ${name}`, target },
    measured: formatOr(value ?? null, format),
    met: value === null || value === undefined ? null : value <= limit,
  }));
}
