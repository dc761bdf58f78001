import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import { LOG_BYTES_MAX } from '../../src/jobs/log-writer.ts';
import { startQueueWorld } from '../support/queue-world.ts';

const { jobEvents, jobs } = endpoints;

test('a full log says so once, keeps no further output, and the job continues', async (t) => {
  const h = await startQueueWorld(t);
  const { jobId } = await h.enqueue();
  await h.claim({ leaseMs: 86_400_000 });
  const ref = { workspaceId: h.workspaceId, jobId };
  let logSeq = 0;
  const append = (...messages: string[]) =>
    h.call(jobEvents.append, {
      ...ref,
      agentId: h.agentId,
      entries: messages.map((message) => ({ message, logSeq: ++logSeq })),
    });
  const read = async () => (await h.call(jobs.log, ref)).lines.map(({ text }) => text);
  await append('first\n');
  // As if a tool had printed a gigabyte, up to the place where a mark is due.
  await h.hub.database.write(null, (tx) =>
    tx.runSql('UPDATE job_logs SET size_bytes = ?, unmarked_bytes = ?', [LOG_BYTES_MAX, 65_536]),
  );
  await append('beyond\n');
  const full = await read();
  assert.deepEqual(full.slice(0, 2), ['first', '']);
  assert.match(full[2] ?? '', /^\[The log of this attempt is full\./);
  const { events } = await h.call(jobEvents.listForJob, ref);
  for (let at = 0; at < 3; at++) {
    const answer = await append('more\n'.repeat(1_000), 'and more\n');
    assert.equal(answer.lastLogSeq, logSeq);
  }
  assert.deepEqual(await read(), full);
  assert.equal((await h.call(jobEvents.listForJob, ref)).events.length, events.length);
  await h.call(jobs.complete, { ...ref, agentId: h.agentId, outcome: 'done' });
});
