import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { request } from 'node:http';
import type { TestContext } from 'node:test';
import type { Scope } from '@signalbox/contract';
import type { Config } from '../../src/start/config.ts';
import { type HomeWorld, startHomeWorld } from '../support/home-world.ts';
import { type Answer, exchange } from '../support/http-exchange.ts';
import { createManualClock, type ManualClock } from '../support/manual-clock.ts';

// A client without our schemas sees JSON whose fields it looks up by their names.
// biome-ignore lint/suspicious/noExplicitAny: the rows state what they expect of each field.
export type Body = Record<string, any>;

export interface SpecAnswer extends Omit<Answer, 'body'> {
  body: Body;
}

/**
 * A client that knows the specification and nothing else: paths and fields are spelt out, and it
 * uses no schema of the contract.
 */
export interface SpecClient {
  baseUrl: string;
  harness: HomeWorld;
  clock: ManualClock;
  workspaceId: string;
  slug: string;
  /** A service-principal token of the workspace. */
  token: string;
  get(path: string, headers?: Record<string, string>): Promise<SpecAnswer>;
  /** POSTs JSON with the bearer token, another one, or no token (null). */
  post(path: string, body: unknown, token?: string | null): Promise<SpecAnswer>;
  /** The same, and expects success. */
  ok(path: string, body: unknown, token?: string | null): Promise<Body>;
  /** The same, and expects a failure of this status. */
  fail(path: string, body: unknown, status: number, token?: string | null): Promise<Body>;
  /** POSTs a body in chunks, without saying its length beforehand. */
  postChunked(path: string, chunks: readonly string[]): Promise<{ status: number; text: string }>;
  /** A repository that this token has upserted, so that its agents serve it. */
  addRepository(label?: string): Promise<string>;
  addAgent(fields?: Body, token?: string): Promise<string>;
  addJob(repoId: string, fields?: Body): Promise<string>;
  claim(agentId: string, fields?: Body): Promise<Body>;
  listEvents(jobId: string): Promise<Body[]>;
  mintToken(name: string, scopes?: Scope[]): Promise<string>;
  /** A client of another hub, with other settings. */
  startHub(config: Partial<Config>): Promise<SpecClient>;
}

export const paths = {
  health: '/control-plane/health',
  openapi: '/control-plane/openapi.json',
  resolveWorkspace: '/control-plane/v1/workspaces/resolve',
  startDevice: '/control-plane/v1/auth/device/start',
  pollDevice: '/control-plane/v1/auth/device/poll',
  revokeToken: '/control-plane/v1/auth/token/revoke',
  agentHeartbeat: '/control-plane/v2/agents/heartbeat',
  resolveRepository: '/control-plane/v1/repos/resolve',
  getRepository: '/control-plane/v1/repos/get',
  upsertRepository: '/control-plane/v1/repos/upsert',
  listJobs: '/control-plane/v1/jobs/list',
  enqueue: '/control-plane/v1/jobs/enqueue',
  claimNext: '/control-plane/v1/jobs/claim-next',
  jobHeartbeat: '/control-plane/v1/jobs/heartbeat',
  complete: '/control-plane/v1/jobs/complete',
  listJobEvents: '/control-plane/v1/job-events/list-for-job',
  ask: '/control-plane/v1/uncertainties/create-with-auto-promotion',
  addResolution: '/control-plane/v1/uncertainties/add-resolution',
  upsertRunV1: '/control-plane/v1/runs/upsert',
  upsertRunV2: '/control-plane/v2/runs/upsert',
  claimCloudAiJob: '/control-plane/v1/cloud-ai-jobs/claim-next',
  cloudAiJobHeartbeat: '/control-plane/v1/cloud-ai-jobs/heartbeat',
  completeCloudAiJob: '/control-plane/v1/cloud-ai-jobs/complete',
  buildPack: '/control-plane/v1/context-packs/build-run-v1',
  resolvePack: '/control-plane/v1/context-packs/resolve-run-v1',
  getDownloadUrl: '/control-plane/v1/uploads/get-download-url',
} as const;

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The hubs of the rows have a clock that stops until a row advances it. */
export async function startSpecHub(
  t: TestContext,
  config: Partial<Config> = {},
): Promise<(slug: string) => Promise<SpecClient>> {
  const clock = createManualClock();
  const harness = await startHomeWorld(t, { clock, config });
  return (slug) => createSpecClient(t, harness, clock, slug);
}

async function createSpecClient(
  t: TestContext,
  harness: HomeWorld,
  clock: ManualClock,
  slug: string,
): Promise<SpecClient> {
  const { baseUrl } = harness.hub;
  const { workspaceId, token: ownToken } = await harness.addWorkspace(slug);
  const send: SpecClient['post'] = (path, body, token = ownToken) =>
    exchange(baseUrl, { path, body, token });

  const spec: SpecClient = {
    baseUrl,
    harness,
    clock,
    workspaceId,
    slug,
    token: ownToken,
    get: (path, headers = {}) => exchange(baseUrl, { method: 'GET', path, headers }),
    post: send,
    async ok(path, body, token) {
      const answer = await send(path, body, token);
      assert.equal(answer.status, 200, `${path}: ${answer.text}`);
      assert.equal(answer.body.ok, true);
      return answer.body;
    },
    async fail(path, body, status, token) {
      const answer = await send(path, body, token);
      assert.equal(answer.status, status, `${path}: ${answer.text}`);
      assert.equal(answer.body.ok, false);
      assert.match(answer.body.error, /^[A-Z][A-Z_]+$/);
      return answer.body;
    },
    postChunked: (path, chunks) => postChunked(baseUrl + path, ownToken, chunks),
    async addRepository(label = 'acme/api') {
      const remoteUrlHash = sha256(`github.com/${slug}/${label}`);
      const fields = { workspaceId, remoteUrlHash, label, status: 'active' };
      return (await spec.ok(paths.upsertRepository, fields)).repoId;
    },
    async addAgent(fields = {}, token) {
      const body = await spec.ok(paths.agentHeartbeat, { ...agentFields(spec), ...fields }, token);
      return body.agentId;
    },
    async addJob(repoId, fields = {}) {
      return (await spec.ok(paths.enqueue, { ...jobFields(spec, repoId), ...fields })).jobId;
    },
    claim: (agentId, fields = {}) =>
      spec.ok(paths.claimNext, { workspaceId, agentId, leaseMs: 600_000, ...fields }),
    async listEvents(jobId) {
      return (await spec.ok(paths.listJobEvents, { workspaceId, jobId, limit: 100 })).events;
    },
    mintToken: (name, scopes) => harness.mintToken(workspaceId, name, scopes),
    async startHub(config) {
      return (await startSpecHub(t, config))(slug);
    },
  };
  return spec;
}

/** All fields of an agent heartbeat that the specification names. */
export function agentFields({ workspaceId }: SpecClient): Body {
  return {
    workspaceId,
    displayName: 'build-7',
    machineFingerprint: 'machine-1',
    status: 'online',
    capabilities: { executionModes: ['cli'], models: ['claude-sonnet-5'], canWrite: true },
  };
}

/** All fields of an enqueue that the specification does not mark as optional. */
export function jobFields({ workspaceId }: SpecClient, repoId: string): Body {
  const prompt = 'Add a health check to the API.';
  return { workspaceId, repoId, kind: 'work', role: 'implementer', prompt, priority: 0 };
}

function postChunked(
  url: string,
  token: string,
  chunks: readonly string[],
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
    const call = request(url, { method: 'POST', headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    call.on('error', reject);
    for (const chunk of chunks) call.write(chunk);
    call.end();
  });
}
