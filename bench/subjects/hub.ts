import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, createWorkspaceByAdmin, mintTokenByAdmin, readConfig } from '@signalbox/hub';
import { createClient } from '@signalbox/sdk';
import {
  cleanEnvironment,
  type StartedProcess,
  startProcess,
} from '../../scripts/process/start-process.ts';
import type { Bench } from '../bench.ts';
import type { Target } from '../load/connection.ts';
import type { LoadAgent } from '../load/hub-calls.ts';
import type { Meters } from '../load-process.ts';
import type { EngineName } from '../options.ts';
import { describeError, projectRoot } from '../project.ts';
import { type HubStore, withStore } from './store.ts';

/** The script that `npm start` runs once everything is installed. */
const HUB_SCRIPT = 'scripts/start.ts';
/** The Node flags of `npm start`. */
export const hubFlags: readonly string[] = JSON.parse(
  readFileSync(join(projectRoot, 'packages/hub/node-flags.json'), 'utf8'),
);
/** Limit of tokens; enough that token caches do not hide the cost of lookups. */
const TOKENS_MAX = 64;

/** Number of log lines of a hub that are shown after a failure. */
const LOG_LINES = 5;

/** Running hubs on one store, with a workspace ready for jobs. */
export interface HubWorld {
  readonly workspaceId: string;
  readonly repoId: string;
  readonly tokens: readonly string[];
  readonly hubs: readonly StartedProcess[];
  readonly targets: readonly Target[];
  /** By meter name: `hub`, or `hub 1` and `hub 2`. */
  readonly meters: Meters;
  stop(): Promise<void>;
}

/** The process of a hub, where it is not as users start it. */
export interface HubProcess {
  /** Whether the hub counts its statements, for `countStatements`. */
  readonly isProbed?: boolean;
  /** Another checkout of this repository, with the same migrations, whose hub is started. */
  readonly checkout?: string | undefined;
  /** Settings other than the default. */
  readonly settings?: Readonly<Record<string, string>>;
}

let profileFlags: readonly string[] = [];

/** Makes every hub that is started from now on write a processor profile when it stops. */
export function profileHubs(directory: string): void {
  profileFlags = ['--cpu-prof', `--cpu-prof-dir=${directory}`];
}

/** Starts hubs as users do, with default settings. */
export async function startHubs(
  store: HubStore,
  count = 1,
  options: HubProcess = {},
): Promise<StartedProcess[]> {
  const hubs: StartedProcess[] = [];
  try {
    for (let number = 0; number < count; number++) hubs.push(await startHub(store, options));
  } catch (error) {
    await stopHubs(hubs);
    throw error;
  }
  return hubs;
}

async function startHub(
  store: HubStore,
  { isProbed = false, checkout = projectRoot, settings = {} }: HubProcess,
): Promise<StartedProcess> {
  const script = join(checkout, HUB_SCRIPT);
  const probe = isProbed ? ['--import', join(import.meta.dirname, 'hub-probe.ts')] : [];
  const flags = [...hubFlags, ...probe, ...profileFlags];
  const hub = startProcess(process.execPath, [...flags, script], {
    cwd: checkout,
    stdio: ['ignore', 'pipe', 'pipe', ...(isProbed ? (['ipc'] as const) : [])],
    env: {
      ...cleanEnvironment(),
      // The same cache as `npm start`.
      NODE_COMPILE_CACHE: join(projectRoot, 'node_modules/.cache/signalbox'),
      ...settingsOf(store),
      ...settings,
      SVC_PORT: '0',
    },
  });
  try {
    await hub.waitFor(/^Signalbox listens on \S+$/m);
  } catch (error) {
    // A hub that is only slow would keep the bench from ending.
    await hub.stop();
    throw error;
  }
  return hub;
}

/** The address of a started hub. */
export function targetOf(hub: StartedProcess): Target {
  const url = /^Signalbox listens on (\S+)$/m.exec(hub.stdout)?.[1];
  const { hostname, port } = new URL(url ?? '');
  return { host: hostname, port: Number(port) };
}

export async function stopHubs(hubs: readonly StartedProcess[]): Promise<void> {
  await Promise.all(hubs.map((hub) => hub.stop()));
}

/** Creates a workspace with tokens, as an operator would. */
async function prepareWorkspace(
  store: HubStore,
  tokenCount: number,
): Promise<{ workspaceId: string; tokens: string[] }> {
  const config = adminConfigOf(store);
  const { workspaceId } = await createWorkspaceByAdmin(config, { slug: 'bench', name: 'Bench' });
  const tokens: string[] = [];
  while (tokens.length < Math.min(tokenCount, TOKENS_MAX)) {
    const name = `agent ${tokens.length}`;
    tokens.push((await mintTokenByAdmin(config, { workspaceSlug: 'bench', name })).token);
  }
  return { workspaceId, tokens };
}

/** Starts hubs on a new store, passes them to an action, and stops them afterwards. */
export async function withHubs<T>(
  bench: Bench,
  engine: EngineName,
  options: WorldOptions,
  act: (world: HubWorld, store: HubStore) => Promise<T>,
): Promise<T> {
  return withStore(bench, engine, async (store, meters) => {
    const world = await startHubWorld(store, options);
    try {
      return await act({ ...world, meters: { ...world.meters, ...meters } }, store);
    } catch (error) {
      throw failureOf(error, world.hubs);
    } finally {
      await world.stop();
    }
  });
}

/** The failure of a measure, with the last lines of the servers' own logs. */
export function failureOf(cause: unknown, servers: readonly StartedProcess[]): Error {
  const lines = servers.flatMap((server) => `${server.stdout}\n${server.stderr}`.split('\n'));
  const log = lines.filter((line) => line.startsWith('{')).slice(-LOG_LINES);
  return new Error([describeError(cause), ...log].join('\n'), { cause });
}

/** The number of statements that a probed hub on SQLite has run. */
export async function countStatements({ hubs }: HubWorld): Promise<number> {
  const [hub] = hubs;
  if (hub === undefined) throw new Error('a world must have a hub');
  const answered = once(hub.child, 'message');
  hub.child.send('count');
  const [count] = await answered;
  return Number(count);
}

export interface WorldOptions extends HubProcess {
  readonly hubCount?: number;
  readonly tokenCount?: number;
}

/** Starts hubs on a new store with a workspace, a repository and tokens. */
async function startHubWorld(
  store: HubStore,
  { hubCount = 1, tokenCount = 1, ...options }: WorldOptions = {},
): Promise<HubWorld> {
  const hubs = await startHubs(store, hubCount, options);
  try {
    const { workspaceId, tokens } = await prepareWorkspace(store, tokenCount);
    const targets = hubs.map(targetOf);
    const client = createClient({ baseUrl: baseUrlOf(targets[0]), token: tokens[0] ?? '' });
    const remoteUrlHash = 'be'.repeat(32);
    const { repoId } = await client.repositories.upsert({ workspaceId, remoteUrlHash });
    const meters = Object.fromEntries(
      hubs.map((hub, at) => [hubCount === 1 ? 'hub' : `hub ${at + 1}`, hub.pid]),
    );
    return { workspaceId, repoId, tokens, hubs, targets, meters, stop: () => stopHubs(hubs) };
  } catch (error) {
    await stopHubs(hubs);
    throw error;
  }
}

/** Registers online agents, each with its own fingerprint. */
export async function registerAgents(world: HubWorld, count: number): Promise<LoadAgent[]> {
  const agents: LoadAgent[] = [];
  for (let number = 0; number < count; number++) {
    const token = world.tokens[number % world.tokens.length] ?? '';
    const client = createClient({ baseUrl: baseUrlOf(world.targets[0]), token });
    const { agentId } = await client.agents.heartbeat({
      workspaceId: world.workspaceId,
      displayName: `agent ${number}`,
      machineFingerprint: `agent ${number}`,
      capabilities: { canWrite: true, reposAllowed: [world.repoId] },
    });
    agents.push({ agentId, token });
  }
  return agents;
}

export function baseUrlOf(target: Target | undefined): string {
  if (target === undefined) throw new Error('a world must have a hub');
  return `http://${target.host}:${target.port}`;
}

/** For the commands of an operator on a store. */
export function adminConfigOf(store: HubStore): Config {
  return readConfig({ ...settingsOf(store), SVC_LOG_LEVEL: 'silent' });
}

function settingsOf({ dataDir, databaseUrl }: HubStore): NodeJS.ProcessEnv {
  return {
    SVC_DATA_DIR: dataDir,
    SVC_LOG_LEVEL: 'warn',
    ...(databaseUrl === null ? {} : { SVC_DATABASE_URL: databaseUrl }),
  };
}
