import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import { startHubChild } from '../support/hub-child.ts';
import { makeTempDir } from '../support/temp-dir.ts';

const { agents, jobs, repositories, workspaces } = endpoints;

/**
 * Makes the first front thread fail on a signal. A message of a wrong form is a fault of the
 * thread's own code, and `terminate` is an end without one.
 */
const failingThread = (act: string) => `
  const { Worker } = require('node:worker_threads');
  const { postMessage } = Worker.prototype;
  let front = null;
  Worker.prototype.postMessage = function (message) {
    if (message.kind === 'hubs') front ??= this;
    return postMessage.call(this, message);
  };
  process.on('SIGUSR2', () => front.${act});
`;

const failures = [
  ['throws', "postMessage({ kind: 'answers', answers: null })", /answers is not iterable/],
  ['ends', 'terminate()', /it has ended with the code 1/],
] as const;

for (const [what, act, reason] of failures) {
  test(`a hub whose front thread ${what} answers the others, says why and ends`, async (t) => {
    const env = { SVC_FRONT_THREADS: '2' };
    let written = '';
    const onErrorText = (text: string) => {
      written += text;
    };
    const prelude = failingThread(act);
    const { baseUrl, child } = await startHubChild(t, makeTempDir(t), {
      env,
      prelude,
      onErrorText,
    });
    const send = (path: string, body: object) => {
      // A connection for each call, so that both threads get some.
      const call = request(baseUrl + path, { method: 'POST', agent: false });
      call.setHeader('content-type', 'application/json').end(JSON.stringify(body));
      return call;
    };
    const answerOf = async (call: ReturnType<typeof send>) => {
      const [answer] = (await once(call, 'response')) as [IncomingMessage];
      return JSON.parse((await answer.setEncoding('utf8').toArray()).join(''));
    };
    const { workspaceId } = await answerOf(send(workspaces.resolve.path, { slug: 'dev' }));
    const repository = { workspaceId, remoteUrlHash: '1'.repeat(64) };
    const { repoId } = await answerOf(send(repositories.upsert.path, repository));
    assert.ok(repoId, 'the claims have a repository to wait for');
    const claimOf = async (machineFingerprint: string) => {
      const { agentId } = await answerOf(
        send(agents.heartbeat.path, { workspaceId, machineFingerprint }),
      );
      return { workspaceId, agentId, leaseMs: 60_000, waitMs: 60_000 };
    };
    const claims = await Promise.all(Array.from({ length: 8 }, (_, at) => claimOf(`m${at}`)));
    const outcomes = claims.map((claim) =>
      answerOf(send(jobs.claimNext.path, claim)).then(
        ({ error, jobId }) => error ?? jobId,
        (error: NodeJS.ErrnoException) => error.code,
      ),
    );
    const ended = once(child, 'exit');
    child.kill('SIGUSR2');
    assert.deepEqual(await ended, [1, null]);
    assert.match(written, /^signalbox: a front thread has failed \(.*start it again\.$/m);
    assert.match(written, reason);
    for (const outcome of await Promise.all(outcomes)) {
      // No job; a claim that came late; or one on the thread that has failed.
      assert.match(String(outcome), /^(null|UNAVAILABLE|ECONNRESET)$/);
    }
  });
}
