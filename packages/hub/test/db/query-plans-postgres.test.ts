import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import pg from 'pg';
import { deleteEventContent } from '../../src/integrations/store.ts';
import { listFilters } from '../support/list-filters.ts';
import { startQueueWorld } from '../support/queue-world.ts';
import { seedAgents, seedJobs } from '../support/seed-database.ts';
import { databaseUrlOf } from '../support/test-engine.ts';

const { contextItems, jobs, jobEvents } = endpoints;

/** Tables that grow with every job. */
const growing = ['queue_entries', 'jobs', 'job_events', 'queue_dependencies', 'idempotency_keys'];
/** Enough rows that the planner does not choose the sorts and scans of a small table. */
const FINISHED = 20_000;
const PENDING = 5_000;
/** Per lane, the rows that a claim takes and some more, in case others take the first ones. */
const READ_BY_CLAIM_MAX = 200;
/** Of a claim that looks at 64 candidates: 24 when each is looked up by its key. */
const PAGES_OF_CLAIM_MAX = 100;
/** How many rows a list may read when its filters are not covered by its index. */
const CANDIDATES_MAX = 1_000;
const RUNNING = 20;
const ROUNDS = 25;

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Plan Rows': number;
  'Actual Rows'?: number;
  /** Pages of this node and of those below it. */
  'Shared Hit Blocks'?: number;
  Plans?: PlanNode[];
}

/** A queue with years of finished jobs and a backlog, with current planner statistics. */
async function setupGrown(t: TestContext) {
  const h = await startQueueWorld(t, { newDatabase: true });
  const { workspaceId, repoId, clock } = h;
  const { database } = h.hub;
  const agentIds = await seedAgents(
    database,
    { workspaceId, atMs: clock.nowMs(), capabilities: { canWrite: true } },
    20,
  );
  const startMs = clock.nowMs() - 1_000_000;
  const sizes = { pending: PENDING, finished: FINISHED };
  await seedJobs(database, { ...sizes, workspaceId, repoIds: [repoId], agentIds, startMs });
  await withClient(h.dataDir, async (client) => {
    for (const text of moreRows) await client.query(text);
    await client.query('ANALYZE');
  });
  return { ...h, agentIds };
}

/** Seeds the rows that the seeded jobs would have left, too. */
const moreRows = [
  `INSERT INTO idempotency_keys
     (workspace_id, operation, idempotency_key, principal_id, body_hash, answer, created_at)
   SELECT workspace_id, 'jobsEnqueue', 'key-' || job_id, 'tok_1', 'hash', '{}', 1 FROM jobs`,
  `INSERT INTO queue_dependencies (workspace_id, depends_on_entry_id, entry_id)
   SELECT workspace_id, 'job_' || md5(job_id), job_id FROM jobs`,
];

/** Copies of one item, each with references of its own. */
const moreItems = `INSERT INTO context_items (workspace_id, item_id, kind, title, source, source_ref,
    thread_ref, trust, pinned, truncated, content_hash, tokens, occurred_at, superseded_by,
    valid_from, valid_to, created_by, created_at, updated_at, text)
  SELECT workspace_id, item_id || n, kind, title, source, source_ref || n, 'thread' || n, trust, pinned,
    truncated, content_hash, tokens, occurred_at + n, NULL, NULL, NULL, created_by, created_at,
    updated_at, text FROM context_items, generate_series(1, 5000) AS n`;
const moreEvents = `INSERT INTO integration_events (workspace_id, event_id, key_hash, channel, source,
    type, status, occurred_at, received_at, replays, unmatched, source_ref)
  SELECT $1, 'evt_' || n, 'key' || n, 'http', 'wiki', 't', 'accepted', n, n, 0, '[]', 'ref' || n
  FROM generate_series(1, 5000) AS n`;

async function withClient<T>(dataDir: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: await databaseUrlOf(dataDir) });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

interface Statement {
  text: string;
  values: unknown[];
}

/** Collects the statements that the database gets during an operation. */
async function collectStatements(
  t: TestContext,
  act: () => Promise<unknown>,
): Promise<Statement[]> {
  const statements: Statement[] = [];
  const query = pg.Client.prototype.query;
  const mock = t.mock.method(
    pg.Client.prototype,
    'query',
    function (this: pg.Client, ...args: unknown[]) {
      const [first] = args as [string | Statement];
      if (typeof first === 'object') statements.push({ text: first.text, values: first.values });
      return Reflect.apply(query, this, args);
    },
  );
  await act();
  mock.mock.restore();
  return statements;
}

/** Generic plans, as long prepared statements have them: for any values. */
async function explain(
  client: pg.Client,
  { text, values }: { text: string; values: unknown[] | null },
): Promise<PlanNode[]> {
  const count = Math.max(0, ...[...text.matchAll(/\$(\d+)/g)].map(([, n]) => Number(n)));
  const given = Array.from({ length: count }, (_, at) => pg.escapeLiteral(String(values?.[at])));
  const list = (values === null ? given.map(() => 'NULL') : given).join(', ');
  const options = values === null ? 'FORMAT JSON' : 'ANALYZE, BUFFERS, FORMAT JSON';
  await client.query('SET plan_cache_mode = force_generic_plan');
  await client.query(`PREPARE explained AS ${text}`);
  try {
    const { rows } = await client.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(
      `EXPLAIN (${options}) EXECUTE explained${count === 0 ? '' : ` (${list})`}`,
    );
    const nodes: PlanNode[] = [];
    const visit = (node: PlanNode) => {
      nodes.push(node);
      for (const child of node.Plans ?? []) visit(child);
    };
    for (const { Plan } of rows[0]?.['QUERY PLAN'] ?? []) visit(Plan);
    return nodes;
  } finally {
    await client.query('DEALLOCATE explained');
  }
}

/** The plan of each distinct statement on tables that grow. */
async function explainAll(
  dataDir: string,
  statements: readonly Statement[],
): Promise<{ text: string; nodes: PlanNode[] }[]> {
  const texts = new Set(statements.map(({ text }) => text).filter(isAboutGrowing));
  return withClient(dataDir, async (client) => {
    const plans: { text: string; nodes: PlanNode[] }[] = [];
    for (const text of texts) {
      plans.push({ text, nodes: await explain(client, { text, values: null }) });
    }
    return plans;
  });
}

const isAboutGrowing = (text: string) =>
  /^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b/i.test(text) &&
  growing.some((table) => new RegExp(`\\b${table}\\b`).test(text));

function assertNoScan(text: string, nodes: readonly PlanNode[]): void {
  for (const node of nodes) {
    const table = node['Relation Name'] ?? '';
    const isScan = node['Node Type'] === 'Seq Scan' && growing.includes(table);
    assert.ok(!isScan, `reads all of ${table}: ${text}`);
  }
}

test('in a database that has grown for years', async (t) => {
  const h = await setupGrown(t);

  await t.test(
    'every statement of a job’s life finds its rows by an index, for any values',
    async (t) => {
      const { workspaceId, agentId } = h;
      const statements = await collectStatements(t, async () => {
        const { jobId: first } = await h.enqueue({ idempotencyKey: 'k', concurrencyKey: 'c' });
        await h.enqueue({ dependsOn: [first], delayMs: 5, concurrencyKey: 'c' });
        // Concurrent operations are merged into statements over arrays.
        await Promise.all(Array.from({ length: 8 }, () => h.enqueue()));
        const claims = await Promise.all(
          Array.from({ length: 8 }, (_, n) => h.claim({ claimKey: `claim-${n}`, leaseMs: 1_000 })),
        );
        const ids = claims.flatMap(({ jobId }) => (jobId === null ? [] : [jobId]));
        const beat = { workspaceId, agentId, leaseMs: 2_000 };
        await Promise.all(ids.map((jobId) => h.call(jobs.heartbeat, { ...beat, jobId })));
        await Promise.all(ids.map((jobId) => h.call(jobs.heartbeat, { ...beat, jobId })));
        const entries = [{ logSeq: 1, message: 'line' }];
        const append = { workspaceId, agentId, entries };
        await Promise.all(ids.map((jobId) => h.call(jobEvents.append, { ...append, jobId })));
        await Promise.all(ids.slice(1).map((jobId) => h.complete(jobId)));
        h.clock.advance(10_000);
        await h.claim();
        await h.get(first);
        await h.timeline(first);
        await h.hub.loops.sweeper.runOnce();
      });
      const plans = await explainAll(h.dataDir, statements);
      assert.ok(plans.length > 25, `${plans.length} statements were looked at`);
      for (const { text, nodes } of plans) assertNoScan(text, nodes);
    },
  );

  await t.test('a claim reads only the head of its lane from the index', async (t) => {
    const statements = await collectStatements(t, () => h.claim());
    const [taking] = statements.filter(({ text }) => /SKIP LOCKED/.test(text));
    assert.ok(taking);
    const nodes = await withClient(h.dataDir, (client) => explain(client, taking));
    assertNoScan(taking.text, nodes);
    assert.ok(nodes.some((node) => node['Index Name'] === 'queue_entries_ready'));
    const most = Math.max(...nodes.map((node) => node['Actual Rows'] ?? 0));
    assert.ok(most <= READ_BY_CLAIM_MAX, `${most} rows are read for one claim`);
  });

  await t.test(
    'every list reads its page from the end of an index, with any filters',
    async (t) => {
      const { workspaceId, repoId, agentIds } = h;
      const runs = endpoints.runs;
      const run = { workspaceId, repoId, runRef: 'r', status: 'in_progress' };
      const { runId } = await h.call(runs.upsertV1, run);
      const statements = await collectStatements(t, async () => {
        for (const filter of listFilters({ repoId, agentId: agentIds[0] ?? '', runId })) {
          const body = { workspaceId, limit: 20, view: 'summary', ...filter } as const;
          const { nextCursor } = await h.call(jobs.list, body);
          if (nextCursor !== null) await h.call(jobs.list, { ...body, cursor: nextCursor });
          const { status: _status, statuses: _statuses, text: _text, ...others } = filter;
          await h.call(jobs.counts, { workspaceId, ...others });
        }
      });
      const plans = await explainAll(h.dataDir, statements);
      const lists = plans.filter(({ text }) => /ORDER BY/.test(text));
      assert.ok(lists.length > 20, `${lists.length} lists were looked at`);
      for (const { text, nodes } of plans) {
        assertNoScan(text, nodes);
        for (const node of nodes.filter((each) => /Sort/.test(each['Node Type']))) {
          // Running jobs are few, and candidates are bounded.
          const rows = node['Plan Rows'];
          assert.ok(rows <= CANDIDATES_MAX, `sorts ${rows} rows: ${text}`);
        }
      }
    },
  );
});

test('a claim reads little of a backlog that came after the planner’s statistics', async (t) => {
  const h = await startQueueWorld(t, { newDatabase: true });
  const { workspaceId, repoId, agentId, clock } = h;
  await withClient(h.dataDir, (client) => client.query('ANALYZE'));
  const sizes = { pending: PENDING, finished: 0 };
  const startMs = clock.nowMs() - 1_000_000;
  const seed = { ...sizes, workspaceId, repoIds: [repoId], agentIds: [agentId], startMs };
  await seedJobs(h.hub.database, seed);
  const statements = await collectStatements(t, () => h.claim());
  const [taking] = statements.filter(({ text }) => /SKIP LOCKED/.test(text));
  assert.ok(taking);
  const [whole] = await withClient(h.dataDir, (client) => explain(client, taking));
  const pages = whole?.['Shared Hit Blocks'] ?? Number.NaN;
  assert.ok(pages <= PAGES_OF_CLAIM_MAX, `${pages} pages are read for one claim`);
});

test('renewals stay in the page of their row and touch no index', async (t) => {
  const h = await startQueueWorld(t, { newDatabase: true });
  const { workspaceId, agentId } = h;
  for (let n = 0; n < RUNNING; n++) await h.enqueue();
  const statements = await collectStatements(t, async () => {
    for (let n = 0; n < RUNNING; n++) {
      const { jobId } = await h.claim();
      const beat = { workspaceId, agentId, leaseMs: 600_000, jobId: jobId ?? '' };
      await h.call(jobs.heartbeat, beat);
      await h.call(jobs.heartbeat, beat);
    }
  });
  // Every statement by which heartbeats change entries, repeated by one connection, because only
  // that connection sees its own statistics at once.
  const renewals = statements.filter(({ text }) =>
    /^(WITH changed AS \()?UPDATE queue_entries SET (lease_ms|heartbeat)/.test(text),
  );
  assert.ok(renewals.length >= RUNNING, `${renewals.length} renewals`);
  // No other session uses the table then: an open transaction would keep dead rows in their page,
  // and by now the hub has flushed the statistics of its own claims.
  await h.hub.stop();
  const rounds = await withClient(h.dataDir, async (client) => {
    const count = async () => {
      await client.query('SELECT pg_stat_force_next_flush()');
      const { rows } = await client.query<{ updates: number; hot: number }>(
        `SELECT n_tup_upd::int AS updates, n_tup_hot_upd::int AS hot FROM pg_stat_user_tables
         WHERE relname = 'queue_entries'`,
      );
      return rows[0] ?? { updates: 0, hot: 0 };
    };
    const rounds: { updates: number; hot: number }[] = [];
    let before = await count();
    for (let round = 0; round < ROUNDS; round++) {
      for (const renewal of renewals) await client.query(renewal);
      const after = await count();
      rounds.push({ updates: after.updates - before.updates, hot: after.hot - before.hot });
      before = after;
    }
    return rounds;
  });
  // While autovacuum analyzes a table of this database, no dead row is removed and pages fill up.
  // An index on a column that renewals change would show in every round.
  assert.ok(rounds.every(({ updates }) => updates === renewals.length));
  const hot = Math.max(...rounds.map((round) => round.hot));
  assert.equal(hot, renewals.length, `${hot} of ${renewals.length} renewals stayed in their page`);
});

test('plans made while the tables were small still use an index when they have grown', async (t) => {
  const h = await startQueueWorld(t, { newDatabase: true });
  const { workspaceId, repoId, agentId } = h;
  const doSome = async () => {
    await Promise.all(Array.from({ length: 8 }, () => h.enqueue()));
    const claims = await Promise.all(Array.from({ length: 8 }, () => h.claim()));
    const ids = claims.flatMap(({ jobId }) => (jobId === null ? [] : [jobId]));
    await Promise.all(ids.map((jobId) => h.complete(jobId)));
    await Promise.all(ids.flatMap((jobId) => [h.get(jobId), h.timeline(jobId)]));
    await h.call(jobs.list, { workspaceId });
  };
  await doSome();
  // At its worst: a table of few rows is scanned, and autovacuum says so to the planner.
  await withClient(h.dataDir, (client) => client.query('ANALYZE'));
  // A session keeps its plan of a statement from the sixth time on.
  for (let round = 0; round < ROUNDS; round++) await doSome();
  const seeds = { pending: 0, finished: FINISHED, startMs: h.clock.nowMs() - 1_000_000 };
  await seedJobs(h.hub.database, { ...seeds, workspaceId, repoIds: [repoId], agentIds: [agentId] });
  for (let round = 0; round < ROUNDS; round++) await doSome();
  // Sessions flush their statistics at the latest when they end.
  await h.hub.stop();
  const { rows } = await withClient(h.dataDir, (client) =>
    client.query<{ relname: string; rows: string }>(
      `SELECT relname, seq_tup_read AS rows FROM pg_stat_user_tables
       WHERE relname IN ('jobs', 'job_events', 'queue_entries') ORDER BY relname`,
    ),
  );
  assert.equal(rows.length, 3);
  for (const { relname, rows: read } of rows) {
    assert.ok(Number(read) < FINISHED, `${read} rows of ${relname} were read without an index`);
  }
});

test('long references are found by the hashes in their indexes', async (t) => {
  const h = await startQueueWorld(t, { newDatabase: true });
  const { workspaceId } = h;
  const draft = { workspaceId, kind: 'note', text: 'A note.', source: 'wiki' } as const;
  const keptBefore = await h.call(contextItems.upsert, { ...draft, sourceRef: 'page' });
  assert.ok(keptBefore.itemId);
  const statements = await collectStatements(t, async () => {
    await h.call(contextItems.upsert, { ...draft, sourceRef: 'page', threadRef: 'thread' });
    await h.call(contextItems.list, { workspaceId, threadRef: 'thread' });
    await h.hub.database.write(workspaceId, (tx) =>
      deleteEventContent(tx, { workspaceId, source: 'wiki', sourceRef: 'page' }),
    );
  });
  await withClient(h.dataDir, async (client) => {
    await client.query(moreItems);
    await client.query(moreEvents, [workspaceId]);
    await client.query('ANALYZE');
    const used = new Set<string>();
    for (const text of new Set(statements.map((each) => each.text))) {
      if (!/text_hash/.test(text)) continue;
      const nodes = await explain(client, { text, values: null });
      const names = nodes.flatMap((node) => node['Index Name'] ?? []);
      assert.equal(names.length, 1, text);
      used.add(names.join());
    }
    assert.deepEqual(
      used,
      new Set(['context_items_by_source', 'context_items_by_thread', 'integration_events_by_ref']),
    );
  });
});
