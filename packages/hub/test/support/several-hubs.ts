import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { type Endpoint, endpoints, type RequestOf, type ResponseOf } from '@signalbox/contract';
import { borrowTestDatabase, createTestDatabase } from '@signalbox/local-postgres';
import pg from 'pg';
import type { TObject } from 'typebox';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import type { Migration } from '../../src/db/migrations/index.ts';
import { createHub, type Hub } from '../../src/start/app.ts';
import { type Config, readConfig } from '../../src/start/config.ts';
import { mintServiceToken } from '../../src/tokens/mint.ts';
import { createWorkspace } from '../../src/workspaces/create.ts';
import { makeTempDir } from './temp-dir.ts';
import { template } from './test-engine.ts';
import { checkAnswer } from './test-hub.ts';
import { until } from './until.ts';

/** Several hubs share one server and its limit of connections. */
const SESSIONS_MAX = 4;

/** Hubs on one PostgreSQL, in this process: what they share is the database, nothing else. */
export interface HubsWorld {
  databaseUrl: string;
  dataDir: string;
  /** Reads from the database as an operator would. */
  read<Row>(text: string): Promise<Row[]>;
  /**
   * Starts another hub, which ends with the test.
   * @param migrations those of another version of Signalbox.
   */
  start(config?: Partial<Config>, clock?: Clock, migrations?: readonly Migration[]): Promise<Hub>;
}

/** A workspace with a repository, and a token for everything. */
export interface HubsWorkspace {
  workspaceId: string;
  repoId: string;
  token: string;
}

/** @param isNew whether no other test gets the database, because this one changes its schema. */
export async function startSeveralHubs(t: TestContext, isNew = false): Promise<HubsWorld> {
  const database = isNew ? await createNew() : await borrowTestDatabase(template);
  const hubs: Hub[] = [];
  t.after(async () => {
    await Promise.all(hubs.map((hub) => hub.stop()));
    await database.giveBack();
  });
  const dataDir = makeTempDir(t);
  return {
    databaseUrl: database.url,
    dataDir,
    async read<Row>(text: string) {
      const client = new pg.Client({ connectionString: database.url });
      await client.connect();
      try {
        return (await client.query(text)).rows as Row[];
      } finally {
        await client.end();
      }
    },
    async start(config = {}, clock = systemClock, migrations) {
      const hub = await createHub({
        config: {
          ...readConfig({ SVC_PORT: '0', SVC_LOG_LEVEL: 'error' }),
          dataDir,
          databaseUrl: database.url,
          databaseSessions: SESSIONS_MAX,
          ...config,
        },
        clock,
        checkAnswer,
        ...(migrations === undefined ? {} : { migrations }),
      });
      hubs.push(hub);
      await hub.listen();
      return hub;
    },
  };
}

async function createNew() {
  const { url, drop } = await createTestDatabase(template);
  return { url, giveBack: drop };
}

export async function addWorkspace(hub: Hub, slug = 'home'): Promise<HubsWorkspace> {
  const { deps, database } = hub;
  const { workspace_id: workspaceId } = await database.write(null, (tx) =>
    createWorkspace(deps, tx, { slug, name: slug }),
  );
  const { token } = await database.write(workspaceId, (tx) =>
    mintServiceToken(deps, tx, {
      workspaceId,
      name: 'test',
      createdBy: 'test',
      scopes: ['agent', 'enqueue', 'read', 'decide', 'integrate'],
    }),
  );
  const workspace = { workspaceId, repoId: '', token };
  workspace.repoId = await addRepository(hub, workspace, 'first');
  return workspace;
}

/** Calls an endpoint of a hub and expects success. */
export async function callHub<Req extends TObject, Res extends TObject>(
  hub: Pick<Hub, 'baseUrl'>,
  endpoint: Endpoint<Req, Res>,
  body: RequestOf<Endpoint<Req, Res>>,
  token: string,
): Promise<ResponseOf<Endpoint<Req, Res>>> {
  const { status, answer } = await postHub(hub, endpoint.path, body, token);
  assert.equal(status, 200, `${endpoint.name}: ${JSON.stringify(answer)}`);
  return answer as ResponseOf<typeof endpoint>;
}

export async function postHub(
  hub: Pick<Hub, 'baseUrl'>,
  path: string,
  body: unknown,
  token: string,
): Promise<{ status: number; answer: Record<string, unknown> }> {
  const response = await fetch(hub.baseUrl + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  });
  return { status: response.status, answer: (await response.json()) as Record<string, unknown> };
}

export async function addRepository(hub: Hub, workspace: HubsWorkspace, label: string) {
  const remoteUrlHash = Buffer.from(label.padEnd(32, '.')).toString('hex');
  const { workspaceId, token } = workspace;
  const body = { workspaceId, remoteUrlHash, label };
  return (await callHub(hub, endpoints.repositories.upsert, body, token)).repoId;
}

/** An online agent that serves the workspace's repositories. */
export async function addAgent(
  hub: Pick<Hub, 'baseUrl'>,
  { workspaceId, token }: HubsWorkspace,
  name: string,
  capabilities: object = { canWrite: true },
): Promise<string> {
  const body = { workspaceId, displayName: name, machineFingerprint: name, capabilities };
  return (await callHub(hub, endpoints.agents.heartbeat, body, token)).agentId;
}

export async function enqueueJob(
  hub: Pick<Hub, 'baseUrl'>,
  workspace: HubsWorkspace,
  more: object = {},
) {
  const { workspaceId, repoId, token } = workspace;
  const body = { workspaceId, repoId, kind: 'work' as const, prompt: 'Do it.', ...more };
  return (await callHub(hub, endpoints.jobs.enqueue, body, token)).jobId;
}

/** A claim that waits for up to a minute. */
export function claimWaiting(
  hub: Pick<Hub, 'baseUrl'>,
  workspace: HubsWorkspace,
  agentId: string,
  more = {},
) {
  const { workspaceId, token } = workspace;
  const body = { workspaceId, agentId, waitMs: 60_000, ...more };
  return callHub(hub, endpoints.jobs.claimNext, body, token);
}

/** Resolves when as many claims wait on a hub. */
export function untilParked(hub: Hub, count: number): Promise<void> {
  return until(`${count} claims wait`, () => hub.deps.waiters.count === count);
}

/** Resolves when each hub hears hints and knows of the others. */
export async function untilAcquainted(...hubs: Hub[]): Promise<void> {
  for (const { group } of hubs) {
    await until('hubs know each other', () => group.others === hubs.length - 1);
  }
}
