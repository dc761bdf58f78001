import type { Bench } from '../bench.ts';
import { type Contestant, runContest } from '../contest.ts';
import { cost, type Figure, perSecond, ratiosOf, valuesOf } from '../figure.ts';
import { runLoad } from '../load-process.ts';
import type { EngineName, MeasureName } from '../options.ts';
import { registerAgents, withHubs } from '../subjects/hub.ts';
import { measureNoOp, measurePeer, type PeerLibrary } from '../subjects/peers.ts';
import { titleOf } from '../subjects/store.ts';

/** Each has an agent and a token of its own. */
const CONNECTIONS = 64;
/** Requests of a cycle: enqueue, claim, complete. */
const REQUESTS = 3;

/** P1, P2 and P3: complete cycles per second, all in one contest. */
export async function measureThroughput(bench: Bench): Promise<Figure[]> {
  const span = spanOf(bench);
  const peer = (library: PeerLibrary): Contestant => ({
    title: `the service on ${library}`,
    run: () => measurePeer(bench, library, CONNECTIONS, span),
  });
  const contestants: readonly (readonly [string, Contestant, ...MeasureName[]])[] = [
    ['noOp', { title: 'no-op server', run: () => measureNoOp(CONNECTIONS, span) }, 'P2'],
    ['sqlite', hub(bench, 'sqlite', 1), 'P1', 'P2', 'P3'],
    ['bullmq', peer('bullmq'), 'P1'],
    ['graphile', peer('graphile-worker'), 'P1'],
    ['pgBoss', peer('pg-boss'), 'P1'],
    ['postgres', hub(bench, 'postgres', 1), 'P3'],
    ['twoHubs', hub(bench, 'postgres', 2), 'P3'],
  ];
  const chosen = contestants.filter(([, , ...names]) =>
    names.some((name) => bench.options.only.has(name)),
  );
  const standings = await runContest(bench, Object.fromEntries(chosen));
  const absent = { rounds: [], failure: 'not measured' };
  const of = (id: string) => standings[id] ?? absent;
  const peers = [
    ['BullMQ, fsync always', of('bullmq'), 1.2],
    ['graphile-worker', of('graphile'), 6],
    ['pg-boss', of('pgBoss'), 6],
  ] as const;
  const ratio = { unit: '×' } as const;
  return [
    ...peers.flatMap(([title, other, atLeast]): Figure[] => {
      const what = `hub on SQLite ÷ the same service on ${title}`;
      const byTime = `${what}: by processor time`;
      const values = ratiosOf([of('sqlite'), other], perSecond);
      return [
        { ...ratio, measure: 'P1', what, atLeast, values },
        { ...ratio, measure: 'P1', what: byTime, values: ratiosOf([other, of('sqlite')], cost) },
      ];
    }),
    {
      measure: 'P1',
      what: 'a cycle on SQLite: processor time',
      unit: 'µs',
      atMost: 380,
      values: valuesOf(of('sqlite'), cost),
    },
    {
      ...ratio,
      measure: 'P2',
      what: 'requests: hub on SQLite ÷ no-op server',
      atLeast: 0.2,
      values: timesThree(ratiosOf([of('sqlite'), of('noOp')], perSecond)),
    },
    {
      ...ratio,
      measure: 'P3',
      what: 'hub on PostgreSQL ÷ on SQLite',
      atLeast: 0.8,
      values: ratiosOf([of('postgres'), of('sqlite')], perSecond),
    },
    {
      ...ratio,
      measure: 'P3',
      what: 'processor time of a cycle: two hubs on PostgreSQL ÷ one',
      atMost: 1.2,
      values: ratiosOf([of('twoHubs'), of('postgres')], cost),
    },
  ];
}

/** Complete cycles of hubs on a new store. */
function hub(bench: Bench, engine: EngineName, hubCount: number): Contestant {
  return {
    title: `${hubCount === 1 ? 'hub' : `${hubCount} hubs`} on ${titleOf(engine)}`,
    run: () =>
      withHubs(bench, engine, { hubCount, tokenCount: CONNECTIONS }, async (world) => {
        const agents = await registerAgents(world, CONNECTIONS);
        const { targets, workspaceId, repoId, meters } = world;
        const queue = { targets, workspaceId, repoId, agents, hasBacklog: false };
        return await runLoad({ kind: 'cycles', ...queue, ...spanOf(bench) }, meters);
      }),
  };
}

function spanOf({ options }: Bench) {
  return options.quick
    ? { warmUpMs: 700, measureMs: 1_500 }
    : { warmUpMs: 3_000, measureMs: 8_000 };
}

function timesThree(values: Figure['values']): Figure['values'] {
  return typeof values === 'string' ? values : values.map((value) => value * REQUESTS);
}
