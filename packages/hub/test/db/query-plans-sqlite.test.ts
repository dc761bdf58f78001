import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import { listFilters } from '../support/list-filters.ts';
import { startQueueWorld } from '../support/queue-world.ts';

/** Tables that grow with every job. */
const growing = ['queue_entries', 'jobs', 'job_events', 'queue_dependencies', 'idempotency_keys'];

/** Lists read the newest rows of a workspace from the end of an index. */
const list = /order by .* desc limit/i;
/** Whether a workspace has any row at all: one step into the key. */
const hasAny = /^SELECT 1 FROM \w+ WHERE workspace_id = \? LIMIT 1$/;
const running = 'INDEX queue_entries_running';
/** Running jobs stay few, so the search for ended tokens may read all of them. */
const allRunning = 'queue_entries USING COVERING INDEX queue_entries_running$|held$';
const scan = new RegExp(
  `^SCAN (?!json_each|(?:d|lanes)\\b|CONSTANT|${allRunning}|queue_settlements$|due$)`,
);

/** Collects the text of every statement that any connection prepares during the test. */
function collectStatements(t: TestContext): Set<string> {
  const statements = new Set<string>();
  const prepare = DatabaseSync.prototype.prepare;
  t.mock.method(DatabaseSync.prototype, 'prepare', function (this: DatabaseSync, sql: string) {
    statements.add(sql);
    return prepare.call(this, sql);
  });
  return statements;
}

test('every statement of a job’s life finds its rows by an index', async (t) => {
  // The first world of a process runs the migrations, which read whole tables.
  await startQueueWorld(t);
  const statements = collectStatements(t);
  const h = await startQueueWorld(t);
  const { jobId: first } = await h.enqueue({ idempotencyKey: 'k', concurrencyKey: 'c' });
  await h.enqueue({ dependsOn: [first], delayMs: 5, concurrencyKey: 'c' });
  await h.claim({ claimKey: 'claim', leaseMs: 1_000 });
  h.clock.advance(1_000);
  await h.claim();
  await h.complete(first);
  await h.claim();
  await h.get(first);
  await h.timeline(first);
  await h.hub.loops.sweeper.runOnce();

  const db = new DatabaseSync(join(h.dataDir, 'signalbox.db'));
  t.after(() => db.close());
  const looked = [...statements].filter((sql) => growing.some((table) => sql.includes(table)));
  assert.ok(looked.length > 15, `${looked.length} statements were looked at`);
  for (const sql of looked) {
    if (/^(CREATE|ALTER|DROP)/i.test(sql) || list.test(sql)) continue;
    const plan = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[];
    for (const { detail } of plan) {
      assert.doesNotMatch(detail, scan, `${sql}\n${detail}`);
      if (detail.includes(running) || hasAny.test(sql)) continue;
      assert.doesNotMatch(detail, /\(workspace_id=\?\)/, `reads a whole workspace: ${sql}`);
    }
  }
});

test('every list reads its page from the end of an index, with any filters', async (t) => {
  const h = await startQueueWorld(t);
  const { workspaceId, repoId, agentId } = h;
  await h.enqueue({ kind: 'pr_review' });
  await h.enqueue();
  await h.claim();
  const { runId } = await h.call(endpoints.runs.upsertV1, {
    workspaceId,
    repoId,
    runRef: 'r',
    status: 'in_progress',
  });
  const statements = collectStatements(t);
  for (const filter of listFilters({ repoId, agentId, runId })) {
    await h.call(endpoints.jobs.list, { workspaceId, view: 'summary', ...filter });
    const { status: _status, statuses: _statuses, text: _text, ...others } = filter;
    await h.call(endpoints.jobs.counts, { workspaceId, ...others });
  }
  const db = new DatabaseSync(join(h.dataDir, 'signalbox.db'));
  t.after(() => db.close());
  const lists = [...statements].filter((sql) => /UNION ALL|LIMIT/.test(sql));
  assert.ok(lists.length > 20, `${lists.length} lists were looked at`);
  for (const sql of lists) {
    const plan = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[];
    for (const { detail } of plan) {
      assert.doesNotMatch(detail, /^SCAN (queue_entries|jobs)/, `${sql}\n${detail}`);
      assert.doesNotMatch(detail, /\(workspace_id=\?\)/, `reads a whole workspace: ${sql}`);
    }
  }
});
