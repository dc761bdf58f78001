import type { Contestant } from './contest.ts';
import type { SpanSpec } from './load/span.ts';
import { type LoadResult, type Meters, runLoad } from './load-process.ts';
import type { Bench } from './section.ts';
import { measureHttpPeer, type PeerLibrary } from './subjects/http-peer.ts';
import { type HubStore, registerAgents, startHubWorld, withHubs } from './subjects/hub.ts';
import { measureNoOp } from './subjects/no-op.ts';
import { type RedisServer, startRedis } from './subjects/redis.ts';
import { type EngineName, engineTitles, findAbsence, withStore } from './subjects/store.ts';

/** The no-op server: the upper limit for hub and generator. */
export function noOp(bench: Bench, connections: number): Contestant {
  return {
    id: `no-op-${connections}`,
    title: `no-op server, ${connections} connections`,
    absentBecause: null,
    run: () => measureNoOp(connections, spanOf(bench)),
  };
}

export interface HubContest {
  readonly engine: EngineName;
  readonly hubCount: number;
  readonly connections: number;
}

/** Complete cycles of hubs on a new store. */
export function hubCycles(bench: Bench, contest: HubContest): Contestant {
  const { engine, hubCount, connections } = contest;
  const hubs = hubCount === 1 ? 'hub' : `${hubCount} hubs`;
  return {
    id: `${engine}-${hubCount}-${connections}`,
    title: `${hubs} on ${engineTitles[engine]}, ${connections} connections`,
    absentBecause: findAbsence(bench, engine),
    run: () =>
      withStore(bench, engine, (store, meters) => runCycles(bench, contest, store, meters)),
  };
}

async function runCycles(
  bench: Bench,
  { hubCount, connections }: HubContest,
  store: HubStore,
  meters: Meters,
): Promise<LoadResult> {
  const tokenCount = bench.options.quick ? 8 : connections;
  return withHubs(await startHubWorld(store, { hubCount, tokenCount }), async (world) => {
    const agents = await registerAgents(world, connections);
    const { targets, workspaceId, repoId } = world;
    return await runLoad(
      { kind: 'cycles', targets, workspaceId, repoId, agents, hasBacklog: false, ...spanOf(bench) },
      { ...world.meters, ...meters },
    );
  });
}

const libraryTitles: Readonly<Record<PeerLibrary, string>> = {
  bullmq: 'BullMQ, fsync always',
  'pg-boss': 'pg-boss',
  'graphile-worker': 'graphile-worker',
};

/** Complete cycles of the service on a peer: the hub's requests, answers and load. */
export function httpPeer(bench: Bench, library: PeerLibrary, connections: number): Contestant {
  return {
    id: `service-${library}-${connections}`,
    title: `service on ${libraryTitles[library]}, ${connections} connections`,
    absentBecause: library === 'bullmq' ? findRedisAbsence(bench) : findAbsence(bench, 'postgres'),
    run: () =>
      library === 'bullmq'
        ? withRedis(bench, ({ port, child }) => {
            const meters = { redis: child.pid };
            const store = { library, address: `${port}`, meters };
            return measureHttpPeer(store, connections, spanOf(bench));
          })
        : withStore(bench, 'postgres', ({ databaseUrl }, meters) => {
            const store = { library, address: databaseUrl ?? '', meters };
            return measureHttpPeer(store, connections, spanOf(bench));
          }),
  };
}

function findRedisAbsence({ redisVersion }: Bench): string | null {
  return redisVersion === null ? 'redis-server is not on the PATH' : null;
}

/** Passes a new Redis to an action and stops it afterwards. */
async function withRedis<T>({ place }: Bench, act: (redis: RedisServer) => Promise<T>): Promise<T> {
  const directory = place.make('redis');
  try {
    const redis = await startRedis(directory);
    try {
      return await act(redis);
    } finally {
      await redis.child.stop();
    }
  } finally {
    place.remove(directory);
  }
}

/** Duration of one round of throughput. */
export function spanOf({ options }: Bench): SpanSpec {
  return options.quick
    ? { warmUpMs: 700, measureMs: 1_500 }
    : { warmUpMs: 3_000, measureMs: 8_000 };
}
