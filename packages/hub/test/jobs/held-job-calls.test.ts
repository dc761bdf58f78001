import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import type { RowWrite, Tx } from '../../src/db/engine.ts';
import { toStatement } from '../../src/db/row-write.ts';
import { startQueueWorld } from '../support/queue-world.ts';

const { jobs, jobEvents } = endpoints;

/** The same transaction; the texts of its statements are noted, but not of rows in memory. */
function noteStatements(tx: Tx, texts: string[]): Tx {
  return new Proxy(tx, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      return (...values: unknown[]) => {
        const [statement] = values;
        if (typeof statement === 'string') texts.push(statement);
        else if (name === 'write' || name === 'send') {
          texts.push(toStatement(statement as RowWrite).text);
        }
        return member.apply(target, values);
      };
    },
  });
}

/** A held job, and the texts of the statements of its calls. */
async function setup(t: TestContext) {
  const h = await startQueueWorld(t);
  const { jobId } = await h.enqueue();
  await h.claim();
  const held = { workspaceId: h.workspaceId, jobId, agentId: h.agentId };
  const texts: string[] = [];
  const { database } = h.hub;
  const write = database.writeConcurrent;
  t.mock.method(database, 'writeConcurrent', ((scope, action) =>
    write(scope, (tx) => action(noteStatements(tx, texts)))) as typeof write);
  const append = async (logSeq: number) => {
    const entries = [{ logSeq, message: `ok ${logSeq}\n` }];
    assert.equal((await h.call(jobEvents.append, { ...held, entries })).appended, 1);
  };
  const renew = () => h.call(jobs.heartbeat, held);
  return { texts, append, renew };
}

test('output and renewals read neither the wide row of the job nor that of the agent', async (t) => {
  const { texts, append, renew } = await setup(t);
  await append(1);
  await renew();
  const reads = texts.filter((sql) => sql.startsWith('SELECT'));
  assert.ok(
    reads.some((sql) => sql.includes('FROM queue_entries')),
    'the statements are noted',
  );
  assert.deepEqual(
    reads.filter((sql) => /FROM jobs\b|\* FROM agents\b/.test(sql)),
    [],
  );
});

test('output and renewals write two rows each: one of the timeline and one of the state', async (t) => {
  const { texts, append, renew } = await setup(t);
  await append(1);
  await renew();
  const tablesWritten = () =>
    texts
      .splice(0)
      .map((sql) => /^(?:INSERT INTO|UPDATE) (\w+)/.exec(sql)?.[1])
      .filter((table) => table !== undefined);
  tablesWritten();
  await append(2);
  assert.deepEqual(tablesWritten(), ['job_logs', 'job_events']);
  await renew();
  assert.deepEqual(tablesWritten(), ['job_events', 'queue_entries']);
});

test('output that follows other output reads nothing but the state of its job', async (t) => {
  const { texts, append } = await setup(t);
  await append(1);
  texts.splice(0);
  await append(2);
  const tablesRead = texts
    .map((sql) => /^SELECT .* FROM (\w+)/s.exec(sql)?.[1])
    .filter((table) => table !== undefined && table !== 'agents');
  assert.deepEqual(tablesRead, ['queue_entries']);
});

test('output and renewals by another agent, or for an unknown job, are refused', async (t) => {
  const h = await startQueueWorld(t);
  const { jobId } = await h.enqueue();
  await h.claim();
  const { workspaceId, agentId } = h;
  const entries = [{ logSeq: 1, message: 'mine\n' }];
  const unknown = { workspaceId, agentId, jobId: `job_${'0'.repeat(32)}` };
  await h.refuse(jobEvents.append, { ...unknown, entries }, 'JOB_NOT_FOUND');
  await h.refuse(jobs.heartbeat, unknown, 'JOB_NOT_FOUND');
  const unregistered = { workspaceId, jobId, agentId: `agt_${'0'.repeat(32)}` };
  await h.refuse(jobEvents.append, { ...unregistered, entries }, 'AGENT_NOT_FOUND');
  await h.refuse(jobs.heartbeat, unregistered, 'AGENT_NOT_FOUND');
  const second = await h.addAgent(h.home, 'second');
  const other = { workspaceId, jobId, agentId: second };
  await h.refuse(jobEvents.append, { ...other, entries }, 'LEASE_LOST');
  await h.refuse(jobs.heartbeat, other, 'LEASE_LOST');
});
