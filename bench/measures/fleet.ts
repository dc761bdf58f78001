import type { Bench } from '../bench.ts';
import { type Contestant, runContest } from '../contest.ts';
import {
  cost,
  type Figure,
  formatCount,
  p99Of,
  ratiosOf,
  type Standing,
  valuesOf,
} from '../figure.ts';
import type { FleetLoad } from '../load/fleet-load.ts';
import { type LoadResult, runLoad } from '../load-process.ts';
import type { EngineName } from '../options.ts';
import { readResidentBytes } from '../processor-use.ts';
import { countStatements, type HubWorld, withHubs } from '../subjects/hub.ts';
import { titleOf } from '../subjects/store.ts';

/** Each is measured only if the one before met the target. */
const FLEETS = [1_000, 3_000, 5_000, 7_000, 10_000];
const P99_MS_MAX = 100;
/** Less than this share of the output that was wanted means that the hub could not keep up. */
const RATE_SHARE_MIN = 0.98;
const WATCHERS = 20;
const TOKENS = 64;

type Fleet = Pick<
  FleetLoad,
  'agentCount' | 'watcherCount' | 'watchesOneJob' | 'outputIntervalMs' | 'warmUpMs' | 'measureMs'
>;

/** P11: agents that each hold a job, stream its output, renew, finish and claim again. */
export async function measureFleet(bench: Bench): Promise<Figure[]> {
  const { engine, against } = bench.options;
  let [most, last, compared] = [0, absent, absent];
  for (const agentCount of fleetsOf(bench)) {
    const { own, other } = await measureOne(bench, agentCount);
    const isMet = meetsTarget(own);
    // If even the first fleet misses the target, its figures are still of interest.
    if (isMet || most === 0) [last, compared] = [own, other];
    if (!isMet) break;
    most = agentCount;
  }
  const row = { measure: 'P11' } as const;
  const what = `a working fleet, ${titleOf(engine)}`;
  const calls = `${what}: processor time of a call`;
  const memory = valuesOf(last, ({ totals }) => totals.kilobytesPerAgent);
  const p99s = valuesOf(last, p99Of('all'));
  const agents = last.failure ?? [most];
  const figures: Figure[] = [
    { ...row, what: `${what}: most agents`, unit: '', atLeast: 10_000, values: agents },
    { ...row, what: `${what}: p99 of calls`, unit: 'ms', atMost: P99_MS_MAX, values: p99s },
    { ...row, what: `${what}: memory of an agent`, unit: 'KB', atMost: 60, values: memory },
    { ...row, what: calls, unit: 'µs', values: valuesOf(last, cost) },
  ];
  if (against === undefined) return figures;
  const values = ratiosOf([last, compared], cost);
  return [...figures, { ...row, what: `${calls} ÷ the other's`, unit: '×', values }];
}

const absent: Standing = { rounds: [], failure: 'not measured' };

function fleetsOf({ options: { agents, quick } }: Bench): readonly number[] {
  if (agents !== undefined) return [agents];
  return quick ? [100] : FLEETS;
}

async function measureOne(bench: Bench, agentCount: number) {
  const { quick, seconds = quick ? 5 : 30, engine, against, rounds } = bench.options;
  const fleet: Fleet = {
    agentCount,
    watcherCount: Math.min(WATCHERS, agentCount),
    watchesOneJob: false,
    outputIntervalMs: 2_000,
    // A whole round of output and renewals, so that the hub has optimized its code.
    warmUpMs: quick ? 3_000 : 20_000,
    measureMs: seconds * 1_000,
  };
  const own = contestant(bench, engine, fleet);
  // Without a pair, the fleets of rising size take the place of rounds.
  if (against === undefined) return { ...(await runContest(bench, { own }, 1)), other: absent };
  return runContest(bench, { own, other: contestant(bench, engine, fleet, against) }, rounds);
}

function meetsTarget({ rounds, failure }: Standing): boolean {
  return (
    failure === null &&
    rounds.every(({ latency, totals }) => {
      const share = (totals.outputs ?? 0) / (totals.outputsWanted ?? 1);
      return (latency.all?.p99Ms ?? Infinity) <= P99_MS_MAX && share >= RATE_SHARE_MIN;
    })
  );
}

/**
 * P12: what people who watch one running job cost. The same job without watchers is the baseline,
 * so that only the watchers' statements are counted.
 */
export async function measureTraffic(bench: Bench): Promise<Figure[]> {
  const watchers = 50;
  const watched = (watcherCount: number) =>
    contestant(bench, 'sqlite', {
      agentCount: 1,
      watcherCount,
      watchesOneJob: true,
      outputIntervalMs: 1_000,
      warmUpMs: 3_000,
      measureMs: bench.options.quick ? 5_000 : 20_000,
    });
  const { alone, many } = await runContest(
    bench,
    { alone: watched(0), many: watched(watchers) },
    1,
  );
  const each = ({ totals }: LoadResult) => (totals.statements ?? 0) / (totals.outputs ?? 0);
  const [own, all] = [valuesOf(alone, each), valuesOf(many, each)];
  const values =
    typeof all === 'string' || typeof own === 'string'
      ? `${all}`
      : all.map((value) => value - (own[0] ?? 0));
  const what = `${watchers} watchers of a job: statements for each output`;
  return [{ measure: 'P12', what, unit: '', atMost: 2, values }];
}

function contestant(bench: Bench, engine: EngineName, fleet: Fleet, checkout?: string): Contestant {
  const { agentCount, watcherCount } = fleet;
  const which = checkout === undefined ? '' : ', the other checkout';
  return {
    title: `${formatCount(agentCount)} agents, ${watcherCount} watchers${which}`,
    run: () => {
      const options = { tokenCount: TOKENS, isProbed: true, checkout };
      return withHubs(bench, engine, options, (world) => runFleet(world, fleet));
    },
  };
}

async function runFleet(world: HubWorld, fleet: Fleet): Promise<LoadResult> {
  const { workspaceId, repoId, tokens, targets, hubs, meters } = world;
  const [target] = targets;
  const [hub] = hubs;
  if (target === undefined || hub === undefined) throw new Error('a world must have a hub');
  const bytesBefore = readResidentBytes(hub.pid) ?? Number.NaN;
  const counts: Promise<number>[] = [];
  const queue = { workspaceId, repoId, tokens, target };
  const result = await runLoad({ kind: 'fleet', ...queue, ...fleet }, meters, () => {
    counts.push(countStatements(world));
  });
  const [before = 0, after = 0] = await Promise.all(counts);
  const grownBytes = (result.residentBytes.hub ?? Number.NaN) - bytesBefore;
  const kilobytesPerAgent = grownBytes / fleet.agentCount / 1_000;
  const totals = { ...result.totals, statements: after - before, kilobytesPerAgent };
  return { ...result, totals };
}
