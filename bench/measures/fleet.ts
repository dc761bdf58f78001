import { join } from 'node:path';
import { type Contestant, describeAbsence, runContest, type Standing } from '../contest.ts';
import { formatCoresEach, formatCount, formatMs, formatRatio } from '../format.ts';
import type { FleetLoad } from '../load/fleet-load.ts';
import { type LoadResult, runLoad } from '../load-process.ts';
import { readResidentBytes } from '../processor-use.ts';
import type { Bench, Section, Verdict } from '../section.ts';
import { findMedian } from '../statistics.ts';
import { Asker } from '../subjects/asking.ts';
import { type HubWorld, startHubWorld, withHubs } from '../subjects/hub.ts';
import type { HubSeen } from '../subjects/hub-probe.ts';
import { type EngineName, engineTitles, findAbsence, withStore } from '../subjects/store.ts';

/** Fleets of the default run: each is measured only if the one before met the target. */
const FLEETS = [500, 1_000, 2_000, 4_000, 7_000, 10_000];
const BRIEF_FLEETS = [1_000, 3_000, 10_000];
const QUICK_FLEETS = [100];
const AGENTS_TARGET = 10_000;
const P99_MS_MAX = 100;
/** Less than this share of the output that was wanted means that the hub could not keep up. */
const RATE_SHARE_MIN = 0.98;
const BYTES_PER_AGENT_MAX = 60_000;
const WATCHERS = 20;
const OUTPUT_INTERVAL_MS = 2_000;
const TOKENS = 64;

interface Rung {
  readonly engine: EngineName;
  readonly agentCount: number;
  readonly standing: Standing;
}

/** P11: agents that each hold a job, stream its output, renew, finish and claim again. */
export async function measureFleet(bench: Bench): Promise<Section> {
  const rungs: Rung[] = [];
  for (const engine of enginesOf(bench)) {
    for (const agentCount of fleetsOf(bench)) {
      const [standing, other] = await measureRung(bench, engine, agentCount);
      if (standing === undefined) break;
      rungs.push({ engine, agentCount, standing });
      if (other !== undefined) rungs.push({ engine, agentCount, standing: other });
      if (!meetsTarget(standing)) break;
    }
  }
  return {
    title: 'A working fleet',
    table: {
      head: [
        ...['hub on', 'agents', 'output reached / wanted', 'p50 / p99 of all calls'],
        ...['p99 of output / renewal / heartbeat / claim / watcher', 'cores used, per call'],
        ...['statements per call', 'event loop p99 / longest', 'written per second', 'memory'],
      ],
      rows: rungs.map(describe),
    },
    notes: [
      `Each agent holds a job, appends 1 KB of output every ${OUTPUT_INTERVAL_MS / 1_000} s, ` +
        'renews its lease and sends a heartbeat every 15 s. 1 % of the agents a minute complete ' +
        `their job, enqueue another and claim. ${WATCHERS} browsers follow jobs as the console ` +
        'does. Any refusal fails the row. Times count from when a call was due, so a hub that ' +
        'falls behind shows in them.',
      'Written: bytes that the hub, or PostgreSQL, sent to the disk, checkpoints included. Memory ' +
        'is what an agent adds to the hub’s resident memory.',
      ...comparePairs(rungs),
    ],
    verdicts: judge(rungs),
    bars: [],
    raw: rungs,
  };
}

function enginesOf({ options: { engine, brief } }: Bench): readonly EngineName[] {
  if (engine !== null) return [engine];
  return brief ? ['sqlite'] : ['sqlite', 'postgres'];
}

function fleetsOf({ options }: Bench): readonly number[] {
  if (options.agents !== null) return [options.agents];
  if (options.quick) return QUICK_FLEETS;
  return options.brief ? BRIEF_FLEETS : FLEETS;
}

function measureRung(bench: Bench, engine: EngineName, agentCount: number): Promise<Standing[]> {
  const { against, rounds } = bench.options;
  const contestants = [fleet(bench, engine, agentCount)];
  if (against !== null) contestants.push(fleet(bench, engine, agentCount, against));
  // Without a pair, the fleets of rising size take the place of rounds.
  const options = { ...bench.options, rounds: against === null ? 1 : rounds };
  return runContest({ ...bench, options }, contestants);
}

function fleet(
  bench: Bench,
  engine: EngineName,
  agentCount: number,
  checkout?: string,
): Contestant {
  const title = `${engineTitles[engine]}${checkout === undefined ? '' : ', the other checkout'}`;
  const nodeFlags = ['--import', join(import.meta.dirname, '../subjects/hub-probe.ts')];
  return {
    id: `${checkout === undefined ? '' : 'other '}${engine} ${agentCount}`,
    title,
    absentBecause: findAbsence(bench, engine),
    run: () =>
      withStore(bench, engine, async (store, meters) => {
        const how = { tokenCount: TOKENS, nodeFlags, hasChannel: true, checkout };
        const started = await startHubWorld(store, how);
        const usesReports = bench.options.usesReports && checkout === undefined;
        return withHubs(started, (world) =>
          runFleet(bench, world, { agentCount, usesReports }, meters),
        );
      }),
  };
}

async function runFleet(
  { options }: Bench,
  world: HubWorld,
  { agentCount, usesReports }: Pick<FleetLoad, 'agentCount' | 'usesReports'>,
  meters: Readonly<Record<string, number>>,
): Promise<LoadResult> {
  const { workspaceId, repoId, tokens } = world;
  const [target] = world.targets;
  const [hub] = world.hubs;
  if (target === undefined || hub === undefined) throw new Error('a world must have a hub');
  const seconds = options.seconds ?? (options.quick ? 5 : 30);
  const load: FleetLoad = {
    ...{ kind: 'fleet', workspaceId, repoId, tokens, target, agentCount, usesReports },
    ...{ watcherCount: Math.min(WATCHERS, agentCount), watchesOneJob: false },
    outputIntervalMs: OUTPUT_INTERVAL_MS,
    // A whole round of output and renewals, so that the hub has optimized its code.
    ...{ warmUpMs: options.quick ? 3_000 : 20_000, measureMs: seconds * 1_000 },
  };
  const bytesBefore = readResidentBytes(hub.pid) ?? 0;
  const probe = new Asker(hub);
  const seen: Promise<HubSeen>[] = [];
  const result = await runLoad(load, { ...world.meters, ...meters }, () => {
    seen.push(probe.ask<HubSeen>('collect'));
  });
  const measured = await seen[1];
  if (measured === undefined) throw new Error('the hub was not asked at the end');
  const bytesPerAgent = ((result.residentBytes.hub ?? 0) - bytesBefore) / agentCount;
  return { ...result, totals: { ...result.totals, ...measured, bytesPerAgent } };
}

/** The median of a value over the rounds; null if it was not measured. */
function middleOf(
  { rounds }: Standing,
  pick: (result: LoadResult) => number | null | undefined,
): number | null {
  const values = rounds.flatMap((result) => pick(result) ?? []);
  return values.length === 0 ? null : findMedian(values);
}

const p99Of = (standing: Standing) => middleOf(standing, ({ latency }) => latency.all?.p99Ms);
const reachedOf = (standing: Standing) =>
  middleOf(standing, ({ totals }) => (totals.outputs ?? 0) / (totals.outputsWanted ?? 1));

function meetsTarget(standing: Standing): boolean {
  if (standing.perSecond === null) return false;
  const [p99Ms, reached] = [p99Of(standing), reachedOf(standing)];
  return p99Ms !== null && p99Ms <= P99_MS_MAX && reached !== null && reached >= RATE_SHARE_MIN;
}

function describe({ engine, agentCount, standing }: Rung): string[] {
  const { title, rounds, perSecond } = standing;
  if (perSecond === null) {
    return [title, formatCount(agentCount), describeAbsence(standing), ...Array(7).fill('–')];
  }
  const total = (name: string) => middleOf(standing, ({ totals }) => totals[name]);
  const perSecondOf = (name: string) =>
    middleOf(standing, ({ totals, seconds }) => (totals[name] ?? 0) / seconds);
  const p99 = (call: string) =>
    formatOr(
      middleOf(standing, (r) => r.latency[call]?.p99Ms),
      formatMs,
    );
  const written = engine === 'sqlite' ? 'hub' : 'postgres';
  const statements = total('statements');
  const calls = middleOf(standing, ({ count }) => count) ?? 1;
  return [
    title,
    formatCount(agentCount),
    `${formatOr(perSecondOf('outputs'), formatCount)} / ` +
      `${formatOr(perSecondOf('outputsWanted'), formatCount)} per second`,
    `${formatOr(
      middleOf(standing, (r) => r.latency.all?.p50Ms),
      formatMs,
    )} / ${p99('all')}`,
    ['output', 'renew', 'heartbeat', 'claim', 'watch'].map(p99).join(' / '),
    formatCoresEach(rounds),
    engine === 'sqlite' ? formatOr(statements, (value) => (value / calls).toFixed(1)) : '–',
    `${formatOr(total('loopP99Ms'), formatMs)} / ${formatOr(total('loopMaxMs'), formatMs)}`,
    formatOr(
      middleOf(standing, (r) => r.writtenPerSecond[written]),
      (bytes) => `${(bytes / 1_000_000).toFixed(1)} MB`,
    ),
    formatOr(total('bytesPerAgent'), formatKilobytes),
  ];
}

function formatKilobytes(bytes: number): string {
  return `${Math.round(bytes / 1_000)} KB`;
}

function formatOr(value: number | null, format: (value: number) => string): string {
  return value === null ? 'not measured' : format(value);
}

/** The processor time of a call on this hub ÷ on the other one, round by round. */
function comparePairs(rungs: readonly Rung[]): string[] {
  const costOf = ({ cores, perSecond }: LoadResult) => (cores.hub ?? Number.NaN) / perSecond;
  return rungs.flatMap(({ engine, agentCount, standing }, at) => {
    const other = rungs[at + 1]?.standing;
    if (other === undefined || other.id !== `other ${standing.id}`) return [];
    const ratios = standing.rounds.flatMap((round, number) => {
      const pair = other.rounds[number];
      return pair === undefined ? [] : [formatRatio(costOf(round) / costOf(pair))];
    });
    const who = `${engineTitles[engine]}, ${formatCount(agentCount)} agents`;
    return [`${who}: processor time of a call, this checkout ÷ the other: ${ratios.join(', ')}.`];
  });
}

/** The largest fleet that meets the target counts. */
function judge(rungs: readonly Rung[]): Verdict[] {
  return (['sqlite', 'postgres'] as const).flatMap((engine) => {
    const own = rungs.filter(
      (rung) => rung.engine === engine && !rung.standing.id.startsWith('other'),
    );
    const largest = own.findLast(({ standing }) => meetsTarget(standing));
    if (own.length === 0) return [];
    const isAbsent = own.every(({ standing }) => standing.absentBecause !== null);
    const bytes =
      largest && middleOf(largest.standing, ({ totals }) => totals.bytesPerAgent ?? null);
    const what = `a working fleet, ${engineTitles[engine]}`;
    return [
      {
        ...{ measure: 'P11' as const, what: `${what}: agents with p99 ≤ ${P99_MS_MAX} ms` },
        target: formatCount(AGENTS_TARGET),
        measured: isAbsent ? 'not measured' : formatCount(largest?.agentCount ?? 0),
        met: isAbsent ? null : (largest?.agentCount ?? 0) >= AGENTS_TARGET,
      },
      {
        ...{ measure: 'P11' as const, what: `${what}: memory of an agent`, target: '≤ 60 KB' },
        measured: formatOr(bytes ?? null, formatKilobytes),
        met: bytes == null ? null : bytes <= BYTES_PER_AGENT_MAX,
      },
    ];
  });
}
