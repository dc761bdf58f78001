import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Endpoint, endpoints } from '@signalbox/contract';
import { makeRestorable } from '../support/restored-hub.ts';
import {
  addAgent,
  addWorkspace,
  callHub,
  enqueueJob,
  type HubsWorkspace,
  postHub,
} from '../support/several-hubs.ts';
import type { TestHub } from '../support/test-hub.ts';

const { jobs, jobEvents, agents, queue, tokens } = endpoints;

/** An attempt as its agent has it in memory. */
interface Attempt {
  agentId: string;
  jobId: string;
  claimGeneration: number;
  jobToken: string;
}

async function claim(
  { hub }: TestHub,
  { workspaceId, token }: HubsWorkspace,
  agentId: string,
  claimKey?: string,
): Promise<Attempt> {
  const body = { workspaceId, agentId, ...(claimKey === undefined ? {} : { claimKey }) };
  const answer = await callHub(hub, jobs.claimNext, body, token);
  const { jobId, claimGeneration, jobToken } = answer;
  assert.ok(jobId && claimGeneration && jobToken, JSON.stringify(answer));
  return { agentId, jobId, claimGeneration, jobToken };
}

/** The codes of all writes of an attempt; a client of an older protocol sends no generation. */
async function writeAll(
  { hub }: TestHub,
  { workspaceId, token }: HubsWorkspace,
  { jobToken, claimGeneration, ...attempt }: Attempt,
  sendsGeneration: boolean,
): Promise<unknown[]> {
  const claimed = { workspaceId, ...attempt, ...(sendsGeneration ? { claimGeneration } : {}) };
  const entries = [{ logSeq: 1, message: 'still here' }];
  const calls: [Endpoint, object, string][] = [
    [jobs.heartbeat, { ...claimed, leaseMs: 1_000, shorten: true }, token],
    [jobEvents.append, { ...claimed, entries }, token],
    [jobs.complete, { ...claimed, outcome: 'done' }, token],
    [tokens.whoami, {}, jobToken],
    [jobEvents.append, { ...claimed, entries }, jobToken],
  ];
  const codes: unknown[] = [];
  for (const [endpoint, body, bearer] of calls) {
    const { status, answer } = await postHub(hub, endpoint.path, body, bearer);
    codes.push(status === 200 ? 'accepted' : answer.error);
  }
  return codes;
}

/** Three jobs: one runs at the time of the backup, one waits, one is blocked. */
async function makeTimes(t: TestContext) {
  const restorable = await makeRestorable(t);
  const before = await restorable.start();
  const home = await addWorkspace(before.hub);
  const [first, second] = [
    await addAgent(before.hub, home, 'first'),
    await addAgent(before.hub, home, 'second'),
  ];
  const running = await enqueueJob(before.hub, home);
  const ranBefore = await claim(before, home, first, 'key-1');
  assert.equal(ranBefore.jobId, running);
  const [waiting, other] = [await enqueueJob(before.hub, home), await enqueueJob(before.hub, home)];
  await before.hub.stop();
  await restorable.backUp();
  // This time is lost.
  const lost = await restorable.start();
  const ranAfter = await claim(lost, home, first, 'key-2');
  const alsoAfter = await claim(lost, home, first, 'key-3');
  assert.deepEqual([ranAfter.jobId, alsoAfter.jobId], [waiting, other]);
  await lost.hub.stop();
  return { restorable, home, first, second, ranBefore, ranAfter, alsoAfter };
}

/** The machines have noticed that their agents are unknown, and the queue continues. */
async function resume(restored: TestHub, home: HubsWorkspace) {
  const { workspaceId, token } = home;
  await callHub(restored.hub, queue.resume, { workspaceId }, token);
  return {
    first: await addAgent(restored.hub, home, 'first'),
    second: await addAgent(restored.hub, home, 'second'),
  };
}

test('after a restore, no write of an earlier attempt is accepted, with or without its generation', async (t) => {
  const { restorable, home, first, ranBefore, ranAfter, alsoAfter } = await makeTimes(t);
  const { report, start } = await restorable.restore({ keepsTokens: true });
  assert.partialDeepStrictEqual(report, { attempts: 1, agents: 2, workspaces: ['home'] });
  const restored = await start();
  const old = [ranBefore, ranAfter, alsoAfter];
  const tryAll = async (when: string) => {
    for (const attempt of old) {
      for (const sendsGeneration of [true, false]) {
        const codes = await writeAll(restored, home, attempt, sendsGeneration);
        const isRefused = codes.every((code) => code !== 'accepted');
        assert.ok(isRefused, `${when}, generation ${sendsGeneration}: ${codes.join()}`);
      }
    }
  };
  await tryAll('while the queue is paused');
  const now = await resume(restored, home);
  assert.notEqual(now.first, first);
  // The same machine claims two of the jobs again, another one the third.
  const later = [
    await claim(restored, home, now.first, 'key-2'),
    await claim(restored, home, now.second, 'key-1'),
    await claim(restored, home, now.first, 'key-3'),
  ];
  await tryAll('while the next attempts run');
  // An agent that knows its new id still sends the generations of its old attempts.
  for (const attempt of old) {
    const codes = await writeAll(restored, home, { ...attempt, agentId: now.first }, true);
    assert.deepEqual(codes.slice(0, 3), Array(3).fill('CLAIM_GENERATION_MISMATCH'));
  }
  for (const [at, attempt] of later.entries()) {
    const known = old.find(({ jobId }) => jobId === attempt.jobId);
    assert.notEqual(attempt.claimGeneration, known?.claimGeneration);
    assert.notEqual(attempt.jobToken, known?.jobToken);
    const codes = await writeAll(restored, home, attempt, at > 0);
    assert.deepEqual(codes.slice(0, 3), Array(3).fill('accepted'));
  }
});

test('attempts after a restore count on from those of the backup', async (t) => {
  const { restorable, home, ranBefore } = await makeTimes(t);
  const { start } = await restorable.restore({ keepsTokens: true });
  const restored = await start();
  const { first } = await resume(restored, home);
  const { workspaceId, token } = home;
  const again = await claim(restored, home, first);
  assert.equal(again.jobId, ranBefore.jobId);
  const of = { workspaceId, jobId: again.jobId };
  const { job } = await callHub(restored.hub, jobs.get, of, token);
  assert.deepEqual([job.attempt, job.maxAttempts], [2, 5]);
  // Without a restore in between, the generation rises by one, and new jobs begin with one.
  const outcomeReason = { retryable: true, summary: 'Later.' };
  const { agentId, claimGeneration } = again;
  const ended = { ...of, agentId, claimGeneration, outcome: 'failed' as const, outcomeReason };
  await callHub(restored.hub, jobs.complete, ended, token);
  const next = await claim(restored, home, first);
  assert.deepEqual([next.jobId, next.claimGeneration], [again.jobId, claimGeneration + 1]);
  const fresh = await enqueueJob(restored.hub, home, { priority: 100 });
  const claimed = await claim(restored, home, first);
  assert.deepEqual([claimed.jobId, claimed.claimGeneration], [fresh, 1]);
});

test('two restores of one backup share no generation', async (t) => {
  const { restorable, home } = await makeTimes(t);
  const claims: Attempt[] = [];
  for (let count = 0; count < 2; count++) {
    const { start } = await restorable.restore({ keepsTokens: true });
    const restored = await start();
    const { first } = await resume(restored, home);
    const attempt = await claim(restored, home, first);
    if (count === 1) {
      const [earlier] = claims;
      assert.ok(earlier);
      const codes = await writeAll(restored, home, { ...earlier, agentId: first }, true);
      assert.ok(
        codes.every((code) => code !== 'accepted'),
        codes.join(),
      );
    }
    claims.push(attempt);
    await restored.hub.stop();
  }
  const [one, two] = claims;
  assert.equal(one?.jobId, two?.jobId);
  assert.notEqual(one?.claimGeneration, two?.claimGeneration);
});

test('a restore pauses the queue, and each job that waits or ran says that it may be done again', async (t) => {
  const { restorable, home, first, ranBefore, ranAfter } = await makeTimes(t);
  const { start } = await restorable.restore({ keepsTokens: true });
  const { hub } = await start();
  const { workspaceId, token } = home;
  const { pauses } = await callHub(hub, queue.listPauses, { workspaceId }, token);
  assert.match(pauses[0]?.reason ?? '', /^The hub was restored.* compare/);
  const lastOf = async (jobId: string) => {
    const { events } = await callHub(hub, jobEvents.listForJob, { workspaceId, jobId }, token);
    return events.at(-1);
  };
  const recovered = await lastOf(ranBefore.jobId);
  assert.partialDeepStrictEqual(recovered, { kind: 'recovered', data: { lostByAgentId: first } });
  assert.match(recovered?.message ?? '', /^The hub was restored/);
  const noted = await lastOf(ranAfter.jobId);
  assert.equal(noted?.kind, 'log');
  assert.match(noted?.message ?? '', /^The hub was restored.* is lost: it may be done again\.$/);
  const paused = await callHub(hub, agents.list, { workspaceId }, token);
  assert.ok(paused.agents.every(({ status }) => status === 'offline'));
});
