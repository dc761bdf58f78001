import assert from 'node:assert/strict';
import { test } from 'node:test';
import { consolePathOf, type Endpoint, type ErrorCode, endpoints } from '@signalbox/contract';
import { signInFirstOwner } from '../support/console-person.ts';
import { startQueueWorld } from '../support/queue-world.ts';

const { jobs, jobEvents } = endpoints;

type Setup = Awaited<ReturnType<typeof startQueueWorld>>;

async function startJob(h: Setup, leaseMs = 600_000) {
  const { jobId } = await h.enqueue();
  const { jobToken } = await h.claim({ leaseMs });
  assert.ok(jobToken !== undefined);
  const ref = { workspaceId: h.workspaceId, jobId };
  return { jobId, jobToken, ref, held: { ...ref, agentId: h.agentId } };
}

/** The result of a call with the token: the code of a refusal, or ok. */
async function knock(h: Setup, token: string, endpoint: Endpoint, body: object): Promise<string> {
  const { body: answer } = await h.send(endpoint.path, body, token);
  return answer.ok === true ? 'ok' : String(answer.error);
}

test('a job token renews, reports on and reads its own job', async (t) => {
  const h = await startQueueWorld(t);
  const mine = await startJob(h);
  const entries = [{ logSeq: 1, message: 'a' }];
  const calls: [Endpoint, object][] = [
    [jobs.get, {}],
    [jobs.heartbeat, { agentId: h.agentId }],
    [jobEvents.append, { agentId: h.agentId, entries }],
    [jobEvents.listForJob, {}],
  ];
  for (const [endpoint, more] of calls) {
    const code = await knock(h, mine.jobToken, endpoint, { ...mine.ref, ...more });
    assert.equal(code, 'ok', endpoint.name);
  }
});

test('a job token acts only for the agent that holds the job', async (t) => {
  const h = await startQueueWorld(t);
  const mine = await startJob(h);
  const second = await h.addAgent(h.home, 'second');
  const body = { ...mine.ref, agentId: second };
  assert.equal(await knock(h, mine.jobToken, jobs.heartbeat, body), 'AGENT_NOT_FOUND');
});

test('a person releases a held job: its holder is fenced, and the audit log names the person', async (t) => {
  const h = await startQueueWorld(t);
  const { ref, held, jobToken, jobId } = await startJob(h);
  const ada = await signInFirstOwner(h);
  const reason = 'The machine was switched off.';
  const path = consolePathOf(jobs.release);
  const { body } = await ada.send(path, { ...ref, reason });
  assert.partialDeepStrictEqual(body, { ok: true, job: { status: 'pending', attempt: 1 } });
  await h.refuse(jobs.heartbeat, held, 'LEASE_LOST');
  assert.equal(await knock(h, jobToken, jobs.get, ref), 'TOKEN_EXPIRED');
  const recovered = (await h.timeline(jobId)).at(-1);
  assert.equal(recovered?.kind, 'recovered');
  assert.partialDeepStrictEqual(recovered.data, { releasedBy: ada.personId, reason });
  const [entry] = await h.hub.database.reader.allSql<{ actor: string; data: string }>(
    'SELECT actor, data FROM audit_entries WHERE workspace_id = ? AND action = ? AND subject = ?',
    [h.workspaceId, 'job.release', jobId],
  );
  assert.deepEqual([entry?.actor, JSON.parse(entry?.data ?? '{}')], [ada.personId, { reason }]);
  assert.equal((await h.claim()).claimGeneration, 2);
  await h.complete(jobId);
  const again: ErrorCode = 'JOB_NOT_RUNNING';
  assert.equal((await ada.send(path, ref)).body.error, again);
});
