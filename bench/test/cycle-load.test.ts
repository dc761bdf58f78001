import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type TestContext, test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import { type CycleLoad, runCycleLoad } from '../load/cycle-load.ts';

const { enqueue, claimNext, complete, list } = endpoints.jobs;

/** A minimal hub whose answers a test can change. */
class FakeHub {
  readonly #server: Server;
  readonly #pending: string[] = [];
  completed: string[] = [];
  count = 0;
  change: (path: string, answer: object) => object | number = (_path, answer) => answer;

  constructor() {
    this.#server = createServer(async (request, response) => {
      let text = '';
      for await (const chunk of request) text += chunk;
      const { url = '' } = request;
      const answer = this.change(url, this.#answer(url, JSON.parse(text)));
      response.statusCode = typeof answer === 'number' ? answer : 200;
      const body = JSON.stringify(answer);
      response.setHeader('content-length', body.length).end(body);
    });
  }

  async listen(t: TestContext) {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    t.after(() => this.#server.close());
    t.after(() => this.#server.closeAllConnections());
    const address = this.#server.address();
    assert.ok(address !== null && typeof address === 'object');
    return { host: '127.0.0.1', port: address.port };
  }

  #answer(url: string, body: { jobId?: string }): object {
    switch (url) {
      case enqueue.path: {
        const jobId = `job_${++this.count}`;
        this.#pending.push(jobId);
        return { ok: true, jobId };
      }
      case claimNext.path:
        return { ok: true, jobId: this.#pending.shift() ?? null, claimGeneration: 1 };
      case complete.path:
        this.completed.push(body.jobId ?? '');
        return { ok: true };
      default:
        return { ok: true, jobs: [], nextCursor: null };
    }
  }
}

async function setup(t: TestContext) {
  const hub = new FakeHub();
  const target = await hub.listen(t);
  const agents = Array.from({ length: 4 }, (_, at) => ({ agentId: `agt_${at}`, token: 'token' }));
  const spec: CycleLoad = {
    kind: 'cycles',
    targets: [target],
    workspaceId: 'ws_1',
    repoId: 'repo_1',
    agents,
    hasBacklog: false,
    warmUpMs: 10,
    measureMs: 2_000,
  };
  return { hub, run: () => runCycleLoad(spec, () => undefined) };
}

test('every enqueued job is completed once, including those outside the measurement', async (t) => {
  const { hub, run } = await setup(t);
  const report = await run();
  assert.ok(report.count > 0);
  assert.equal(report.totals.completed, hub.count);
  assert.equal(new Set(hub.completed).size, hub.count);
  assert.ok(report.count <= hub.count);
});

test('a job that is granted twice fails the load', async (t) => {
  const { hub, run } = await setup(t);
  hub.change = (path, answer) => (path === claimNext.path ? { ...answer, jobId: 'job_1' } : answer);
  await assert.rejects(run(), /job_1 was granted twice/);
});

test('an answer that is not 200 fails the load', async (t) => {
  const { hub, run } = await setup(t);
  hub.change = (path, answer) => (path === complete.path ? 503 : answer);
  await assert.rejects(run(), /complete: 503/);
});

test('a job left over at the end fails the load', async (t) => {
  const { hub, run } = await setup(t);
  hub.change = (path, answer) =>
    path === list.path ? { ok: true, jobs: [{ jobId: 'job_9' }] } : answer;
  await assert.rejects(run(), /a job is left pending/);
});
