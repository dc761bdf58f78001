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
import { Compile, type Validator } from 'typebox/compile';
import { createHub, type Hub } from '../../src/app.ts';
import { type Clock, systemClock } from '../../src/clock.ts';
import { type Config, readConfig } from '../../src/config.ts';
import { mintServiceToken } from '../../src/tokens/mint.ts';
import { createWorkspace } from '../../src/workspaces/create.ts';
import { makeTempDir } from './temp-dir.ts';
import { takeDatabase } from './test-engine.ts';

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

export interface Harness {
  hub: Hub;
  clock: Clock;
  dataDir: string;
  /** The first workspace, made by the setup. */
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

export interface SetupOptions {
  clock?: Clock;
  config?: Partial<Config>;
  dataDir?: string;
}

/** What a hub logs says why it answers 500. */
const testLogLevel = process.env.SIGNALBOX_TEST_LOG_LEVEL ?? 'silent';

const validators = new Map<Endpoint, Validator>();

/** Every answer of every test must match the schema that documents it. */
export function checkAnswer(endpoint: Endpoint, answer: unknown): void {
  let validator = validators.get(endpoint);
  if (validator === undefined) {
    validator = Compile(endpoint.response);
    validators.set(endpoint, validator);
  }
  if (validator.Check(answer)) return;
  const [first] = validator.Errors(answer);
  throw new Error(`${endpoint.name} answers ${first?.instancePath} wrongly: ${first?.message}`);
}

/** One hub on a real port and a real database, ended with the test. */
export async function setup(t: TestContext, options: SetupOptions = {}): Promise<Harness> {
  const clock = options.clock ?? systemClock;
  const dataDir = options.dataDir ?? makeTempDir(t);
  const database = await takeDatabase(dataDir);
  const config: Config = {
    ...readConfig({ SVC_PORT: '0', SVC_LOG_LEVEL: testLogLevel }),
    dataDir,
    ...database.config,
    ...options.config,
  };
  const hub = await createHub({ config, clock, checkAnswer });
  t.after(async () => {
    await hub.stop();
    await database.release();
  });
  await hub.listen();
  return createHarness(hub, clock, dataDir);
}

async function createHarness(hub: Hub, clock: Clock, dataDir: string): Promise<Harness> {
  const { database, deps } = hub;

  const harness: Omit<Harness, 'home'> & { home: TestWorkspace | null } = {
    hub,
    clock,
    dataDir,
    home: null,
    async send(path, body, token = harness.home?.token ?? null) {
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
      const reply = await harness.send(endpoint.path, body, token);
      assert.equal(reply.status, 200, `${endpoint.name}: ${JSON.stringify(reply.body)}`);
      return reply.body as ResponseOf<typeof endpoint>;
    },
    async refuse(endpoint, body, code, token) {
      const reply = await harness.send(endpoint.path, body, token);
      assert.equal(reply.body.error, code, `${endpoint.name}: ${JSON.stringify(reply.body)}`);
      return reply.body as unknown as ErrorBody;
    },
    async addWorkspace(slug) {
      const row = await database.write(null, (tx) =>
        createWorkspace(deps, tx, { slug, name: slug }),
      );
      const { workspace_id: workspaceId } = row;
      const token = await harness.mintToken(workspaceId, 'test', [
        'agent',
        'enqueue',
        'read',
        'decide',
        'integrate',
      ]);
      const workspace = { workspaceId, slug, token, repoId: '' };
      workspace.repoId = await harness.addRepository(workspace, 'first');
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
      const { repoId } = await harness.call(
        endpoints.repositories.upsert,
        { workspaceId, remoteUrlHash, label },
        token,
      );
      return repoId;
    },
    async addAgent(workspace, name, capabilities = { canWrite: true }) {
      const { workspaceId, token } = workspace;
      const { agentId } = await harness.call(
        endpoints.agents.heartbeat,
        { workspaceId, displayName: name, machineFingerprint: name, capabilities },
        token,
      );
      return agentId;
    },
  };
  harness.home = await harness.addWorkspace('home');
  return harness as Harness;
}
