import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, createWorkspaceByAdmin, mintTokenByAdmin, readConfig } from '@signalbox/hub';
import { createClient } from '@signalbox/sdk';
import { type Child, cleanEnvironment, projectRoot, startChild } from '../child.ts';
import { describeError } from '../format.ts';
import type { Target } from '../load/connection.ts';
import type { LoadAgent } from '../load/load-report.ts';
import type { Meters } from '../load-process.ts';

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

/** The location of a hub's data. */
export interface HubStore {
  readonly dataDir: string;
  /** Null: SQLite in the data directory. */
  readonly databaseUrl: string | null;
}

/** Running hubs on one store, with a workspace ready for jobs. */
export interface HubWorld extends HubPlace {
  readonly hubs: readonly Child[];
  readonly targets: readonly Target[];
  /** By meter name: `hub`, or `hub 1` and `hub 2`. */
  readonly meters: Meters;
  stop(): Promise<void>;
}

export interface HubPlace {
  readonly workspaceId: string;
  readonly repoId: string;
  readonly tokens: readonly string[];
}

/** The process of a hub, where it is not as users start it. */
export interface HubProcess {
  /** Further flags of Node. */
  readonly nodeFlags?: readonly string[];
  /** Whether it has an IPC channel. */
  readonly hasChannel?: boolean;
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
): Promise<Child[]> {
  const hubs: Child[] = [];
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
  { nodeFlags = [], hasChannel = false, checkout = projectRoot, settings = {} }: HubProcess,
): Promise<Child> {
  const script = join(checkout, HUB_SCRIPT);
  const flags = [...hubFlags, ...nodeFlags, ...profileFlags];
  const hub = await startChild(process.execPath, [...flags, script], {
    cwd: checkout,
    stdio: ['ignore', 'pipe', 'pipe', ...(hasChannel ? (['ipc'] as const) : [])],
    env: cleanEnvironment({
      // The same cache as `npm start`.
      NODE_COMPILE_CACHE: join(projectRoot, 'node_modules/.cache/signalbox'),
      ...settingsOf(store),
      ...settings,
      SVC_PORT: '0',
    }),
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
export function targetOf(hub: Child): Target {
  const url = /^Signalbox listens on (\S+)$/m.exec(hub.output())?.[1];
  const { hostname, port } = new URL(url ?? '');
  return { host: hostname, port: Number(port) };
}

export async function stopHubs(hubs: readonly Child[]): Promise<void> {
  await Promise.all(hubs.map((hub) => hub.stop()));
}

/** Creates a workspace with tokens before the hub starts, as an operator would. */
export async function prepareWorkspace(
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

/** A failure while using a hub or the service of a peer, with the server's own log. */
export class ServerFailure extends Error {
  readonly serverLog: string;

  constructor(cause: unknown, servers: readonly Child[]) {
    super(describeError(cause), { cause });
    const lines = servers.flatMap((server) => server.output().split('\n'));
    this.serverLog = lines
      .filter((line) => line.startsWith('{'))
      .slice(-LOG_LINES)
      .join('\n');
  }
}

/** Passes running hubs to an action and stops them afterwards. @throws ServerFailure */
export async function withHubs<World extends HubWorld, T>(
  world: World,
  act: (world: World) => Promise<T>,
): Promise<T> {
  try {
    return await act(world);
  } catch (error) {
    throw new ServerFailure(error, world.hubs);
  } finally {
    await world.stop();
  }
}

interface WorldOptions extends HubProcess {
  readonly hubCount?: number;
  readonly tokenCount?: number;
}

/** Starts hubs on a new store with a workspace, a repository and tokens. */
export async function startHubWorld(
  store: HubStore,
  { hubCount = 1, tokenCount = 1, ...options }: WorldOptions = {},
): Promise<HubWorld> {
  const { workspaceId, tokens } = await prepareWorkspace(store, tokenCount);
  const hubs = await startHubs(store, hubCount, options);
  try {
    const targets = hubs.map(targetOf);
    const client = createClient({ baseUrl: baseUrlOf(targets[0]), token: tokens[0] ?? '' });
    const remoteUrlHash = 'be'.repeat(32);
    const { repoId } = await client.repositories.upsert({ workspaceId, remoteUrlHash });
    const meters = metersOf(hubs);
    return { workspaceId, repoId, tokens, hubs, targets, meters, stop: () => stopHubs(hubs) };
  } catch (error) {
    await stopHubs(hubs);
    throw error;
  }
}

/** Where one token reads more pages a second than the limits of a caller allow. */
const unlimited = { SVC_LIMIT_TOKEN: '0', SVC_LIMIT_WORKSPACE: '0' };

/** Restarts a hub on the same store and workspace, without limits of callers. */
export async function restartWorld(store: HubStore, place: HubPlace): Promise<HubWorld> {
  const { workspaceId, repoId, tokens } = place;
  const hubs = await startHubs(store, 1, { settings: unlimited });
  return {
    ...{ workspaceId, repoId, tokens, hubs, targets: hubs.map(targetOf), meters: metersOf(hubs) },
    stop: () => stopHubs(hubs),
  };
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

function metersOf(hubs: readonly Child[]): Meters {
  const [only] = hubs;
  if (hubs.length === 1 && only !== undefined) return { hub: only.pid };
  return Object.fromEntries(hubs.map((hub, at) => [`hub ${at + 1}`, hub.pid]));
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
