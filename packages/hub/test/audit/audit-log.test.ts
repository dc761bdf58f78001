import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { consoleEndpoints } from '@signalbox/contract';
import { appendAudit } from '../../src/audit/append.ts';
import { CANARY } from '../support/api-world.ts';
import {
  type ConsoleScenario,
  type ConsoleWorld,
  runConsoleScenario,
  startConsoleWorld,
} from '../support/console-world.ts';

const { auditLog } = consoleEndpoints;

/** Writes entries of people who do not exist, one after the other. */
async function writeActs(
  { hub, workspaceId }: ConsoleWorld,
  count: number,
  stepMs = 1_000,
): Promise<void> {
  for (let n = 1; n <= count; n++) {
    hub.clock.advance(stepMs);
    await hub.database.write(null, (tx) =>
      appendAudit(tx, {
        workspaceId,
        actor: n % 2 === 0 ? 'usr_even' : 'usr_odd',
        action: n % 3 === 0 ? 'test.third' : 'test.act',
        subject: `thing_${n}`,
        data: { n, text: 'a\u2028b "quoted"' },
      }),
    );
  }
}

async function subjectsOf(world: ConsoleWorld, filter: Record<string, unknown>): Promise<string[]> {
  const { workspaceId, browsers } = world;
  const { entries } = await browsers.admin.call(auditLog.list, { workspaceId, ...filter });
  return entries.map(({ subject }) => subject);
}

test('the audit log: requests and answers', async (t) => {
  const world = await startConsoleWorld(t);
  const { workspaceId, other, personIds } = world;
  const scenarios: ConsoleScenario[] = [
    {
      name: 'an admin reads it with the names of people',
      endpoint: auditLog.list,
      as: 'admin',
      body: { workspaceId, action: 'first-owner.create' },
      holds: {
        entries: [{ seq: 1, actor: personIds.owner, actorName: 'Ada Lovelace' }],
        nextCursor: null,
      },
    },
    {
      name: 'a person of another workspace has no entries in this one',
      endpoint: auditLog.list,
      as: 'owner',
      body: { workspaceId, actor: other.personId },
      holds: { entries: [] },
    },
    {
      name: 'an invalid timestamp is refused',
      endpoint: auditLog.list,
      as: 'owner',
      body: { workspaceId, fromAt: 'yesterday' },
      error: 'INVALID_REQUEST',
    },
    {
      name: 'an owner verifies it',
      endpoint: auditLog.verify,
      as: 'owner',
      body: { workspaceId },
      holds: { whole: true, brokenAtSeq: null, reason: null },
    },
  ];
  for (const scenario of scenarios) {
    await t.test(scenario.name, () => runConsoleScenario(world, scenario));
  }
});

test('the log is listed newest first, by page and by filter', async (t) => {
  const world = await startConsoleWorld(t);
  const { workspaceId, browsers } = world;
  await writeActs(world, 6, 60_000);
  assert.deepEqual(await subjectsOf(world, { action: 'test.third' }), ['thing_6', 'thing_3']);
  assert.deepEqual(await subjectsOf(world, { actor: 'usr_odd' }), [
    'thing_5',
    'thing_3',
    'thing_1',
  ]);
  assert.deepEqual(await subjectsOf(world, { subject: 'thing_4' }), ['thing_4']);
  const span = { fromAt: '2026-11-02T09:02:00Z', untilAt: '2026-11-02T09:05:00.000Z' };
  assert.deepEqual(await subjectsOf(world, span), ['thing_4', 'thing_3', 'thing_2']);
  const seen: number[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof readPage>> = await readPage(cursor);
    seen.push(...page.entries.map(({ seq }) => seq));
    cursor = page.nextCursor;
  } while (cursor !== null);
  const expected = Array.from({ length: seen[0] ?? 0 }, (_, index) => seen.length - index);
  assert.deepEqual(seen, expected, 'every entry once');

  function readPage(after: string | null) {
    const more = after === null ? {} : { cursor: after };
    return browsers.owner.call(auditLog.list, { workspaceId, limit: 4, ...more });
  }
});

test('an export is itself audited and can be verified without the hub', async (t) => {
  const world = await startConsoleWorld(t);
  const { workspaceId, browsers } = world;
  // More than one batch.
  await writeActs(world, 1_100);
  const response = await browsers.admin.post(auditLog.export.path, { workspaceId });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'application/x-ndjson; charset=utf-8');
  assert.match(
    response.headers.get('content-disposition') ?? '',
    /^attachment; filename="[\w.-]+"$/,
  );
  assert.equal(response.headers.get('cache-control'), 'no-store');
  const text = await response.text();
  assert.ok(!text.includes(CANARY));
  assert.ok(text.endsWith('\n'));
  const lines = text.trimEnd().split('\n');
  let previousHash = '';
  for (const [index, line] of lines.entries()) {
    const entry = JSON.parse(line) as Record<string, unknown>;
    const { seq, at, actor, action, subject, data, hash } = entry;
    const hashed = [workspaceId, seq, at, actor, action, subject, data, previousHash];
    assert.equal(seq, index + 1);
    assert.equal(createHash('sha256').update(JSON.stringify(hashed)).digest('hex'), hash);
    previousHash = String(hash);
  }
  assert.ok(lines.length > 1_100);
  assert.match(lines.at(-1) ?? '', /"action":"audit\.export"/);
  const verdict = await browsers.owner.call(auditLog.verify, { workspaceId });
  assert.deepEqual(verdict, {
    ok: true,
    whole: true,
    lastSeq: lines.length,
    lastHash: previousHash,
    brokenAtSeq: null,
    reason: null,
  });
});

test('a refused export leaves no entry', async (t) => {
  const world = await startConsoleWorld(t);
  const { workspaceId, browsers } = world;
  const refused = await browsers.member.send(auditLog.export.path, { workspaceId });
  assert.equal(refused.body.error, 'NOT_ALLOWED');
  const filter = { workspaceId, action: 'audit.export' };
  assert.deepEqual((await browsers.owner.call(auditLog.list, filter)).entries, []);
});

test('verification reports where a tampered chain breaks', async (t) => {
  const world = await startConsoleWorld(t);
  const { hub, workspaceId, browsers } = world;
  await writeActs(world, 10);
  const verify = () => browsers.owner.call(auditLog.verify, { workspaceId });
  const { lastSeq } = await verify();
  const change = (sql: string, seq: number) =>
    hub.database.write(null, (tx) => tx.runSql(sql, [workspaceId, seq]));
  const at = 'WHERE workspace_id = ? AND seq = ?';
  await change(`DELETE FROM audit_entries ${at}`, lastSeq);
  assert.equal((await verify()).whole, true, 'only lastSeq shows that the end was cut off');
  await change(`UPDATE audit_entries SET hash = 'x' ${at}`, lastSeq - 2);
  const forged = await verify();
  assert.deepEqual([forged.brokenAtSeq, forged.reason], [lastSeq - 2, 'altered-entry']);
  await change(`UPDATE audit_entries SET previous_hash = 'x' ${at}`, lastSeq - 3);
  const unlinked = await verify();
  assert.deepEqual([unlinked.brokenAtSeq, unlinked.reason], [lastSeq - 3, 'broken-link']);
  await change(`UPDATE audit_entries SET actor = 'usr_other' ${at}`, lastSeq - 4);
  const altered = await verify();
  assert.deepEqual([altered.brokenAtSeq, altered.reason], [lastSeq - 4, 'altered-entry']);
  assert.equal(altered.lastSeq, lastSeq - 5);
  await change(`DELETE FROM audit_entries ${at}`, lastSeq - 5);
  const missing = await verify();
  assert.deepEqual([missing.brokenAtSeq, missing.reason], [lastSeq - 5, 'missing-entry']);
});
