import assert from 'node:assert/strict';
import { request } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type HubProcess, startHubProcess } from './hub-process.ts';
import { makeTempDir } from './temp-dir.ts';

type Answer = Record<string, unknown>;

/** A client that knows the specification alone: its paths, its fields, no extension, no token. */
describe('a client that follows only the specification, in development mode', () => {
  let hub: HubProcess;
  let workspaceId: string;
  let repoId: string;
  let agentId: string;
  let jobId: string;

  before(async () => {
    const env = { SVC_DEV_ALLOW_UNAUTH: 'true' };
    hub = await startHubProcess({ dataDir: join(folder, 'data'), env });
  });
  after(() => hub?.stop());
  // Registered after the hub's end, so that the directory is deleted later.
  const folder = makeTempDir({ after });

  async function send(path: string, body: object, headers: Record<string, string> = {}) {
    const response = await fetch(`${hub.baseUrl}/control-plane/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    return { status: response.status, answer: (await response.json()) as Answer };
  }

  async function call(path: string, body: object): Promise<Answer> {
    const { status, answer } = await send(path, body);
    assert.equal(status, 200, `${path}: ${JSON.stringify(answer)}`);
    assert.equal(answer.ok, true);
    return answer;
  }

  it('warns at the start that requests without a token may do anything', () => {
    assert.match(hub.process.stdout, /SVC_DEV_ALLOW_UNAUTH is true/);
  });

  it('finds the workspace dev', async () => {
    ({ workspaceId } = (await call('v1/workspaces/resolve', { slug: 'dev' })) as never);
    assert.equal(typeof workspaceId, 'string');
  });

  it('registers an agent and a repository', async () => {
    ({ agentId } = (await call('v2/agents/heartbeat', {
      workspaceId,
      displayName: 'laptop',
      machineFingerprint: 'laptop-1',
      status: 'online',
      capabilities: { executionModes: ['cli'], models: ['any'], canWrite: true },
    })) as never);
    const remoteUrlHash = '5e'.repeat(32);
    const unknown = await call('v1/repos/resolve', { workspaceId, remoteUrlHash });
    assert.equal(unknown.repoId, null);
    const draft = { workspaceId, remoteUrlHash, label: 'acme/api', status: 'active' };
    ({ repoId } = (await call('v1/repos/upsert', draft)) as never);
    const { repo } = await call('v1/repos/get', { workspaceId, repoId });
    assert.equal((repo as Answer).label, 'acme/api');
  });

  it('enqueues a job and claims it', async () => {
    ({ jobId } = (await call('v1/jobs/enqueue', {
      workspaceId,
      repoId,
      kind: 'work',
      role: 'implementer',
      prompt: 'Add a health check.',
      priority: 0,
    })) as never);
    const pending = await call('v1/jobs/list', { workspaceId, status: 'pending' });
    assert.deepEqual(idsOf(pending), [jobId]);
    const claim = await call('v1/jobs/claim-next', { workspaceId, agentId, leaseMs: 600_000 });
    assert.equal(claim.jobId, jobId);
    const empty = await call('v1/jobs/claim-next', { workspaceId, agentId, leaseMs: 600_000 });
    assert.equal(empty.jobId, null);
  });

  it('reports progress and completes the job', async () => {
    const held = { workspaceId, jobId, agentId };
    await call('v1/jobs/heartbeat', { ...held, leaseMs: 600_000, message: 'half-way' });
    await call('v1/jobs/complete', {
      ...held,
      outcome: 'done',
      message: 'Added it.',
      evidence: { commitSha: 'c0ffee'.repeat(6).padEnd(40, '0'), changedFiles: ['src/health.ts'] },
    });
    const finished = await call('v1/jobs/list', { workspaceId, status: 'done' });
    assert.deepEqual(idsOf(finished), [jobId]);
  });

  it('reads the timeline of what it did', async () => {
    const { events } = await call('v1/job-events/list-for-job', { workspaceId, jobId, limit: 50 });
    const kinds = (events as { kind: string }[]).map(({ kind }) => kind);
    assert.deepEqual(kinds, ['enqueued', 'claimed', 'heartbeat', 'completed']);
  });

  it('refuses a request with an invalid token, which it would serve without a token', async () => {
    for (const authorization of [
      'Bearer nonsense',
      `Bearer sbx_s_${'a'.repeat(49)}`,
      'Basic YTpi',
    ]) {
      const { status, answer } = await send('v1/jobs/list', { workspaceId }, { authorization });
      assert.equal(status, 401, authorization);
      assert.equal(answer.error, 'TOKEN_INVALID');
    }
  });

  it('refuses requests from a site whose host name resolves to this machine', async () => {
    // Fetch sets Host itself; a name that resolves to this machine is what an attacker has.
    const status = await new Promise((resolve, reject) => {
      const post = request(`${hub.baseUrl}/control-plane/v1/workspaces/resolve`, {
        method: 'POST',
        headers: { host: 'rebound.example', 'content-type': 'application/json' },
      });
      post.on('error', reject);
      post.on('response', (response) => resolve(response.resume().statusCode));
      post.end(JSON.stringify({ slug: 'dev' }));
    });
    assert.equal(status, 401);
  });
});

function idsOf({ jobs }: Answer): string[] {
  return (jobs as { jobId: string }[]).map(({ jobId }) => jobId);
}
