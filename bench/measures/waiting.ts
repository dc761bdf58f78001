import type { Bench } from '../bench.ts';
import { type Contestant, runContest } from '../contest.ts';
import { type Figure, formatCount, p99Of, valuesOf } from '../figure.ts';
import { runLoad } from '../load-process.ts';
import type { EngineName } from '../options.ts';
import { withHubs } from '../subjects/hub.ts';
import { titleOf } from '../subjects/store.ts';

interface Waiting {
  readonly engine: EngineName;
  readonly hubCount: number;
  readonly agentCount: number;
  readonly jobsPerSecond: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
}

/** P4: from the answer to an enqueue to the answer to a waiting claim, at 500 jobs a second. */
export async function measureDelivery(bench: Bench): Promise<Figure[]> {
  const span = bench.options.quick
    ? { warmUpMs: 700, measureMs: 2_000 }
    : { warmUpMs: 3_000, measureMs: 10_000 };
  // Enough agents for the rate, few enough that each gets jobs.
  const load = { agentCount: 64, jobsPerSecond: 500, ...span };
  const standings = await runContest(bench, {
    sqlite: waiting(bench, { engine: 'sqlite', hubCount: 1, ...load }),
    postgres: waiting(bench, { engine: 'postgres', hubCount: 1, ...load }),
    twoHubs: waiting(bench, { engine: 'postgres', hubCount: 2, ...load }),
  });
  const rows = [
    ['one hub on SQLite', 10, standings.sqlite],
    ['one hub on PostgreSQL', 10, standings.postgres],
    ['from hub to hub on PostgreSQL', 25, standings.twoHubs],
  ] as const;
  return rows.map(([what, atMost, standing]) => ({
    measure: 'P4',
    what: `delivery, ${what}, p99`,
    unit: 'ms',
    atMost,
    values: valuesOf(standing, p99Of('delivery')),
  }));
}

/** P6: very many online agents, each waiting in a long poll. */
export async function measureCrowd(bench: Bench): Promise<Figure[]> {
  const { quick } = bench.options;
  const agentCount = quick ? 1_000 : 10_000;
  const span = quick
    ? { warmUpMs: 1_000, measureMs: 4_000 }
    : { warmUpMs: 30_000, measureMs: 60_000 };
  const load = { engine: 'sqlite', hubCount: 1, agentCount, jobsPerSecond: 20, ...span } as const;
  const { crowd } = await runContest(bench, { crowd: waiting(bench, load) }, 1);
  const who = `${formatCount(agentCount)} agents waiting`;
  const megabytes = (bytes: number | null | undefined) => (bytes == null ? null : bytes / 1e6);
  return [
    {
      measure: 'P6',
      what: `${who}: memory`,
      unit: 'MB',
      atMost: 450,
      values: valuesOf(crowd, ({ residentBytes }) => megabytes(residentBytes.hub)),
    },
    {
      measure: 'P6',
      what: `${who}: processor`,
      unit: 'cores',
      atMost: 0.4,
      values: valuesOf(crowd, ({ cores }) => cores.hub),
    },
    {
      measure: 'P6',
      what: `${who}: delivery, p99`,
      unit: 'ms',
      atMost: 10,
      values: valuesOf(crowd, p99Of('delivery')),
    },
  ];
}

/** With two hubs, jobs are enqueued at one and claimed at the other. */
function waiting(bench: Bench, { engine, hubCount, ...load }: Waiting): Contestant {
  const hubs = hubCount === 1 ? 'one hub' : 'from hub to hub';
  return {
    title: `${hubs} on ${titleOf(engine)}`,
    run: () =>
      withHubs(bench, engine, { hubCount, tokenCount: 64 }, async (world) => {
        const { workspaceId, repoId, tokens, targets, meters } = world;
        const [enqueueTarget] = targets;
        const target = targets.at(-1);
        if (!enqueueTarget || !target) throw new Error('a world must have a hub');
        const queue = { workspaceId, repoId, tokens, target, enqueueTarget };
        return await runLoad({ kind: 'waiting', ...queue, ...load }, meters);
      }),
  };
}
