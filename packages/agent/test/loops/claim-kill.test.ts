import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import test, { type TestContext } from 'node:test';
import { type AcpSetup, setupAcp } from '../support/acp-harness.ts';
import { readPid } from '../support/harness.ts';

const agentProcess = join(import.meta.dirname, '../support/agent-process.ts');

/** An answer to a claim, as the hub gave it. */
interface ClaimAnswer {
  jobId: string | null;
  /** Whether the agent can still receive it. */
  isHeard: boolean;
}

/**
 * Passes the calls of agents on. As after a loss of power, the hub does not notice that an agent
 * has gone.
 */
async function startProxy(t: TestContext, { baseUrl }: AcpSetup) {
  const answers: ClaimAnswer[] = [];
  const watchers = new Set<() => void>();
  const proxy = {
    url: '',
    /** An answer with a job does not reach the agent. */
    keepsGrants: false,
    /** How long the hub lets claims wait. */
    waitMs: 60_000,
    async untilAnswer(fits: (answer: ClaimAnswer) => boolean): Promise<ClaimAnswer> {
      const { promise, resolve } = Promise.withResolvers<ClaimAnswer>();
      const look = () => {
        const found = answers.find(fits);
        if (found !== undefined) resolve(found);
      };
      watchers.add(look);
      look();
      return await promise.finally(() => watchers.delete(look));
    },
    /** Resolves when a claim is on its way to the hub. */
    claimed: Promise.withResolvers<void>(),
  };
  const server = createServer(async (request, response) => {
    const isClaim = request.url?.endsWith('/jobs/claim-next') ?? false;
    const asked = (await json(request)) as object;
    const body = JSON.stringify(isClaim ? { ...asked, waitMs: proxy.waitMs } : asked);
    const headers = { 'content-type': 'application/json' };
    if (isClaim) proxy.claimed.resolve();
    try {
      const answer = await fetch(baseUrl + request.url, { method: 'POST', headers, body });
      const text = await answer.text();
      if (isClaim && answer.ok) {
        const { jobId } = JSON.parse(text);
        answers.push({ jobId, isHeard: !response.destroyed });
        for (const look of [...watchers]) look();
        if (jobId !== null && proxy.keepsGrants) return;
      }
      response.writeHead(answer.status, headers).end(text);
    } catch {
      // The hub is gone.
      response.destroy();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return proxy;
}

function start(t: TestContext, h: AcpSetup, baseUrl: string, command: string): ChildProcess {
  const { workspaceId, repoId, clone, directory } = h;
  const options = {
    baseUrl,
    workspaceId,
    command,
    stateDir: join(directory, 'state'),
    repositories: [{ repoId, path: clone }],
  };
  const line = [agentProcess, JSON.stringify(options)];
  const agent = spawn(process.execPath, line, { stdio: 'inherit' });
  t.after(() => agent.kill('SIGKILL'));
  return agent;
}

async function kill(agent: ChildProcess): Promise<void> {
  agent.kill('SIGKILL');
  await once(agent, 'exit');
}

for (const other of [null, 'hub'] as const) {
  const what = other === null ? 'an agent' : 'an agent and its hub';
  test(`${what} killed while the answer to a claim is on its way: the job runs after a restart`, async (t) => {
    const h = await setupAcp(t, true);
    const proxy = await startProxy(t, h);
    proxy.keepsGrants = true;
    const jobId = await h.enqueue('Survive.');
    const agent = start(t, h, proxy.url, 'true');
    await proxy.untilAnswer((answer) => answer.jobId === jobId);
    await kill(agent);
    if (other !== null) {
      await h.stopHub();
      await h.startHub();
    }
    assert.equal((await h.until(jobId, 'running')).attempt, 1);
    start(t, h, h.baseUrl, 'true');
    // The lease would keep it from every agent for ten minutes.
    assert.equal((await h.until(jobId, 'done')).attempt, 1);
  });
}

test('a job that the hub gives to the claim of a killed agent runs after a restart', async (t) => {
  const h = await setupAcp(t);
  const proxy = await startProxy(t, h);
  const killed = start(t, h, proxy.url, 'true');
  await proxy.claimed.promise;
  await kill(killed);
  proxy.waitMs = 500;
  start(t, h, proxy.url, 'true');
  // By now the claim of the killed agent waits at the hub, as the first.
  await proxy.untilAnswer(({ jobId }) => jobId === null);
  const jobId = await h.enqueue('Survive.');
  const first = await proxy.untilAnswer((answer) => answer.jobId === jobId);
  assert.equal(first.isHeard, false);
  assert.equal((await h.until(jobId, 'done')).attempt, 1);
});

test('an agent killed before it has begun a job that it was granted gives it back', async (t) => {
  const h = await setupAcp(t);
  const pidFile = join(h.directory, 'pid');
  const jobId = await h.enqueue('Survive.');
  const agent = start(t, h, h.baseUrl, `echo $$ > ${pidFile}; exec sleep 600`);
  const pid = await readPid(pidFile);
  await kill(agent);
  process.kill(pid, 'SIGKILL');
  // As it is until the attempt has a directory.
  rmSync(join(h.directory, 'state', 'jobs', `${jobId}-1`), { recursive: true });
  start(t, h, h.baseUrl, 'true');
  assert.equal((await h.until(jobId, 'done')).attempt, 2);
});
