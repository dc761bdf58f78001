import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import {
  type AgentCapabilities,
  type Endpoint,
  type ErrorBody,
  type ErrorCode,
  endpoints,
  type RequestOf,
  type ResponseOf,
  type Scope,
} from '@signalbox/contract';
import type { TObject } from 'typebox';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import type { Hub } from '../../src/start/app.ts';
import { mintServiceToken } from '../../src/tokens/mint.ts';
import { createWorkspace } from '../../src/workspaces/create.ts';
import { startTestHub, type TestHubOptions } from './test-hub.ts';

export interface Reply {
  status: number;
  headers: Headers;
  body: Record<string, unknown>;
}

/** A workspace with a token of every default scope and `decide`, and a repository. */
export interface TestWorkspace {
  workspaceId: string;
  slug: string;
  token: string;
  repoId: string;
}

export interface HomeWorld {
  hub: Hub;
  clock: Clock;
  dataDir: string;
  /** The first workspace. */
  home: TestWorkspace;
  /** Sends a body as it is, with the token of `home` unless another, or none (null), is named. */
  send(path: string, body: unknown, token?: string | null): Promise<Reply>;
  /** Calls an endpoint and expects success. */
  call<Req extends TObject, Res extends TObject>(
    endpoint: Endpoint<Req, Res>,
    body: RequestOf<Endpoint<Req, Res>>,
    token?: string,
  ): Promise<ResponseOf<Endpoint<Req, Res>>>;
  /** Calls an endpoint and expects this refusal. */
  refuse<Req extends TObject, Res extends TObject>(
    endpoint: Endpoint<Req, Res>,
    body: RequestOf<Endpoint<Req, Res>>,
    code: ErrorCode,
    token?: string,
  ): Promise<ErrorBody>;
  addWorkspace(slug: string): Promise<TestWorkspace>;
  mintToken(workspaceId: string, name: string, scopes?: Scope[]): Promise<string>;
  addRepository(workspace: TestWorkspace, label: string): Promise<string>;
  /** An online agent that serves the workspace's repositories. */
  addAgent(
    workspace: TestWorkspace,
    name: string,
    capabilities?: AgentCapabilities,
  ): Promise<string>;
}

/**
 * Starts a hub with a workspace, `home`. Its clock is the machine's unless the test brings one.
 */
export async function startHomeWorld(
  t: TestContext,
  options: TestHubOptions = {},
): Promise<HomeWorld> {
  const { hub, clock, dataDir } = await startTestHub(t, { clock: systemClock, ...options });
  return createHomeWorld(hub, clock, dataDir);
}

async function createHomeWorld(hub: Hub, clock: Clock, dataDir: string): Promise<HomeWorld> {
  const { database, deps } = hub;

  const world: Omit<HomeWorld, 'home'> & { home: TestWorkspace | null } = {
    hub,
    clock,
    dataDir,
    home: null,
    async send(path, body, token = world.home?.token ?? null) {
      const response = await fetch(hub.baseUrl + path, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
      return {
        status: response.status,
        headers: response.headers,
        body: (await response.json()) as Record<string, unknown>,
      };
    },
    async call(endpoint, body, token) {
      const reply = await world.send(endpoint.path, body, token);
      assert.equal(reply.status, 200, `${endpoint.name}: ${JSON.stringify(reply.body)}`);
      return reply.body as ResponseOf<typeof endpoint>;
    },
    async refuse(endpoint, body, code, token) {
      const reply = await world.send(endpoint.path, body, token);
      assert.equal(reply.body.error, code, `${endpoint.name}: ${JSON.stringify(reply.body)}`);
      return reply.body as unknown as ErrorBody;
    },
    async addWorkspace(slug) {
      const row = await database.write(null, (tx) =>
        createWorkspace(deps, tx, { slug, name: slug }),
      );
      const { workspace_id: workspaceId } = row;
      const token = await world.mintToken(workspaceId, 'test', [
        'agent',
        'enqueue',
        'read',
        'decide',
        'integrate',
      ]);
      const workspace = { workspaceId, slug, token, repoId: '' };
      workspace.repoId = await world.addRepository(workspace, 'first');
      return workspace;
    },
    async mintToken(workspaceId, name, scopes) {
      const minted = await database.write(null, (tx) =>
        mintServiceToken(deps, tx, {
          workspaceId,
          name,
          createdBy: 'test',
          ...(scopes === undefined ? {} : { scopes }),
        }),
      );
      return minted.token;
    },
    async addRepository(workspace, label) {
      const { workspaceId, token } = workspace;
      const remoteUrlHash = Buffer.from(label.padEnd(32, '.').slice(0, 32)).toString('hex');
      const { repoId } = await world.call(
        endpoints.repositories.upsert,
        { workspaceId, remoteUrlHash, label },
        token,
      );
      return repoId;
    },
    async addAgent(workspace, name, capabilities = { canWrite: true }) {
      const { workspaceId, token } = workspace;
      const { agentId } = await world.call(
        endpoints.agents.heartbeat,
        { workspaceId, displayName: name, machineFingerprint: name, capabilities },
        token,
      );
      return agentId;
    },
  };
  world.home = await world.addWorkspace('home');
  return world as HomeWorld;
}
