import assert from 'node:assert/strict';
import { test } from 'node:test';
import { appendAudit, hashAuditEntry } from '../../src/audit/append.ts';
import type { AuditEntry } from '../../src/audit/store.ts';
import { verifyChain } from '../../src/audit/verify.ts';
import { countTurns } from '../support/event-loop-turns.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { openTestDatabase } from '../support/test-engine.ts';

/** Whether every entry's hash is right and chains to the entry before. */
function isWhole(entries: readonly AuditEntry[]): boolean {
  return entries.every(
    (entry, index) =>
      entry.seq === index + 1 &&
      entry.previous_hash === (entries[index - 1]?.hash ?? '') &&
      entry.hash === hashAuditEntry(entry),
  );
}

test('each workspace has its own chain, written in the transaction of the action', async (t) => {
  const database = await openTestDatabase(t, createManualClock());
  const append = (workspaceId: string, subject: string) =>
    database.write(null, (tx) =>
      appendAudit(tx, { workspaceId, actor: 'usr_1', action: 'test.act', subject, data: { n: 1 } }),
    );
  await Promise.all(
    Array.from({ length: 30 }, (_, index) =>
      append(index % 3 === 0 ? 'ws_a' : 'ws_b', `s${index}`),
    ),
  );
  await assert.rejects(
    database.write(null, async (tx) => {
      await appendAudit(tx, { workspaceId: 'ws_a', actor: 'u', action: 'test.lost', subject: 's' });
      throw new Error('the action fails');
    }),
  );
  const read = (workspaceId: string) =>
    database.reader.allSql<AuditEntry>(
      'SELECT * FROM audit_entries WHERE workspace_id = ? ORDER BY seq',
      [workspaceId],
    );
  const [a, b] = [await read('ws_a'), await read('ws_b')];
  assert.deepEqual([a.length, b.length], [10, 20]);
  assert.ok(isWhole(a) && isWhole(b));
  for (const change of [{ subject: 'x' }, { at: 1 }, { actor: 'usr_2' }, { data: '{}' }]) {
    const altered = a.map((entry, index) => (index === 4 ? { ...entry, ...change } : entry));
    assert.equal(isWhole(altered), false, `${Object.keys(change)} is covered`);
  }
  assert.equal(isWhole(a.toSpliced(4, 1)), false, 'a missing entry is detected');
});

test('verifying a long chain leaves turns of the event loop to others', async (t) => {
  const database = await openTestDatabase(t, createManualClock());
  await database.write(null, async (tx) => {
    for (let n = 0; n < 2_500; n++) {
      const entry = { workspaceId: 'ws_a', actor: 'u', action: 'test.act', subject: `s${n}` };
      await appendAudit(tx, entry);
    }
  });
  const loop = countTurns();
  const verdict = await verifyChain(database.reader, 'ws_a');
  loop.stop();
  assert.deepEqual([verdict.lastSeq, verdict.brokenAtSeq], [2_500, null]);
  assert.ok(loop.turns >= 5, `${loop.turns} turns`);
});
