import { join } from 'node:path';
import { createIdSource } from '@signalbox/contract';
import { type Child, cleanEnvironment, startChild } from '../child.ts';
import type { Target } from '../load/connection.ts';
import type { Queue } from '../load/hub-calls.ts';
import type { LoadAgent } from '../load/load-report.ts';
import type { SpanSpec } from '../load/span.ts';
import { type LoadResult, type Meters, runLoad } from '../load-process.ts';
import { hubFlags, ServerFailure } from './hub.ts';

export type PeerLibrary = 'bullmq' | 'pg-boss' | 'graphile-worker';

/** A library with the server where it keeps its jobs. */
export interface PeerStore {
  readonly library: PeerLibrary;
  /** The port of Redis or the URL of PostgreSQL. */
  readonly address: string;
  readonly meters: Meters;
}

/** A running service, and who may call it. */
export interface HttpPeer extends Queue {
  readonly target: Target;
  /** One for each connection, with a token of its own. */
  readonly agents: readonly LoadAgent[];
  readonly process: Child;
}

/** Starts the service on a library. The process prints its address and its tokens. */
export async function startHttpPeer(
  { library, address }: Omit<PeerStore, 'meters'>,
  connections: number,
): Promise<HttpPeer> {
  const ids = createIdSource(Date.now);
  const [workspaceId, repoId] = [ids('workspace'), ids('repository')];
  const script = join(import.meta.dirname, 'http-peer/main.ts');
  const args = [library, address, workspaceId, `${connections}`];
  // The same flags of Node as the hub has.
  const child = await startChild(process.execPath, [...hubFlags, script, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: cleanEnvironment({ NODE_ENV: 'production' }),
  });
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

/** Measures complete cycles of the service on a library, by the hub's own load. */
export async function measureHttpPeer(
  store: PeerStore,
  connections: number,
  span: SpanSpec,
): Promise<LoadResult> {
  const { process: child, target, ...load } = await startHttpPeer(store, connections);
  try {
    return await runLoad(
      { kind: 'cycles', targets: [target], ...load, hasBacklog: false, ...span },
      { service: child.pid, ...store.meters },
    );
  } catch (error) {
    throw new ServerFailure(error, [child]);
  } finally {
    await child.stop();
  }
}
