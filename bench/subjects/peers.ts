// The servers that the hub is compared with.
import { join } from 'node:path';
import { createIdSource } from '@signalbox/contract';
import {
  cleanEnvironment,
  type StartedProcess,
  startProcess,
} from '../../scripts/process/start-process.ts';
import type { Bench } from '../bench.ts';
import type { Target } from '../load/connection.ts';
import { type LoadAgent, prompt, type Queue } from '../load/hub-calls.ts';
import type { SpanSpec } from '../load/span.ts';
import { type LoadResult, runLoad } from '../load-process.ts';
import { failureOf, hubFlags } from './hub.ts';
import { startRedis } from './redis.ts';
import { withStore } from './store.ts';

export type PeerLibrary = 'bullmq' | 'pg-boss' | 'graphile-worker';

/** A running service, and who may call it. */
interface HttpPeer extends Queue {
  readonly target: Target;
  /** One for each connection, with a token of its own. */
  readonly agents: readonly LoadAgent[];
  readonly process: StartedProcess;
}

/** Sends requests of an enqueue's size to a no-op server, from the same generator. */
export async function measureNoOp(connections: number, span: SpanSpec): Promise<LoadResult> {
  const server = startServer([join(import.meta.dirname, 'no-op-server.ts')]);
  try {
    const [, url = ''] = await server.waitFor(/^listens on (\S+)$/m);
    const { hostname: host, port } = new URL(url);
    const id = 'ws_1j78s1o000001';
    const body = { workspaceId: id, repoId: id, kind: 'work', prompt };
    return await runLoad(
      {
        kind: 'post',
        targets: [{ host, port: Number(port) }],
        path: '/no-op',
        connections,
        token: 'sbx_s_none',
        bodies: [JSON.stringify(body)],
        ...span,
      },
      { server: server.pid },
    );
  } finally {
    await server.stop();
  }
}

/** Measures complete cycles of the service on a library, by the hub's own load. */
export function measurePeer(
  bench: Bench,
  library: PeerLibrary,
  connections: number,
  span: SpanSpec,
): Promise<LoadResult> {
  const run = async (address: string, meters: Readonly<Record<string, number>>) => {
    const { process: child, target, ...queue } = await startHttpPeer(library, address, connections);
    try {
      const load = { kind: 'cycles', targets: [target], hasBacklog: false } as const;
      return await runLoad({ ...load, ...queue, ...span }, { service: child.pid, ...meters });
    } catch (error) {
      throw failureOf(error, [child]);
    } finally {
      await child.stop();
    }
  };
  if (library === 'bullmq') return withRedis(bench, run);
  return withStore(bench, 'postgres', (store, meters) => run(store.databaseUrl ?? '', meters));
}

/** Starts the service on a library, with the port of Redis or the URL of PostgreSQL. */
async function startHttpPeer(
  library: PeerLibrary,
  address: string,
  connections: number,
): Promise<HttpPeer> {
  const ids = createIdSource(Date.now);
  const [workspaceId, repoId] = [ids('workspace'), ids('repository')];
  const script = join(import.meta.dirname, 'http-peer/main.ts');
  const args = [library, address, workspaceId, `${connections}`];
  // The same flags of Node as the hub has.
  const child = startServer([...hubFlags, script, ...args]);
  try {
    const [, ready = ''] = await child.waitFor(/^ready (\{.*\})$/m);
    const { url, tokens } = JSON.parse(ready) as { url: string; tokens: string[] };
    const { hostname: host, port } = new URL(url);
    const agents = tokens.map((token) => ({ agentId: ids('agent'), token }));
    const target = { host, port: Number(port) };
    return { workspaceId, repoId, target, agents, process: child };
  } catch (error) {
    await child.stop();
    throw error;
  }
}

function startServer(args: readonly string[]): StartedProcess {
  const env = { ...cleanEnvironment(), NODE_ENV: 'production' };
  return startProcess(process.execPath, args, { env });
}

/** Passes a new Redis to an action and stops it afterwards. */
async function withRedis<T>(
  { place }: Bench,
  act: (address: string, meters: { redis: number }) => Promise<T>,
): Promise<T> {
  const directory = place.make('redis');
  const { port, child } = await startRedis(directory);
  try {
    return await act(`${port}`, { redis: child.pid });
  } finally {
    await child.stop();
    place.remove(directory);
  }
}
