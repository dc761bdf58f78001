import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import pg from 'pg';
import { startQueueWorld } from '../support/queue-world.ts';
import { seededJobId, seedJobs } from '../support/seed-database.ts';
import { databaseUrlOf } from '../support/test-engine.ts';

const PENDING = 5_000;
const LEFT = 10;
/** A claim looks at 64 candidates in each of two lanes at most. */
const READ_BY_CLAIM_MAX = 200;

interface Statement {
  text: string;
  values: unknown[];
}

/** The search of a claim, as it was sent to the database. */
async function collectSearch(t: TestContext, claim: () => Promise<unknown>): Promise<Statement> {
  const searches: Statement[] = [];
  const query = pg.Client.prototype.query;
  const mock = t.mock.method(
    pg.Client.prototype,
    'query',
    function (this: pg.Client, ...args: unknown[]) {
      const [first] = args as [string | Statement];
      if (typeof first === 'object' && /SKIP LOCKED/.test(first.text)) searches.push(first);
      return Reflect.apply(query, this, args);
    },
  );
  await claim();
  mock.mock.restore();
  assert.ok(searches[0]);
  return searches[0];
}

async function withClient(dataDir: string, use: (client: pg.Client) => Promise<void>) {
  const client = new pg.Client({ connectionString: await databaseUrlOf(dataDir) });
  await client.connect();
  try {
    await use(client);
  } finally {
    await client.end();
  }
}

/** The entries of the index of ready jobs that a session has read lately. */
async function countRead(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ read: number }>(
    `SELECT pg_stat_get_xact_tuples_returned('queue_entries_ready'::regclass)::int AS read`,
  );
  return rows[0]?.read ?? Number.NaN;
}

test('a claim passes over no claimed entries while an old snapshot is open', async (t) => {
  const h = await startQueueWorld(t, { newDatabase: true });
  const { workspaceId, repoId, agentId, clock } = h;
  const startMs = clock.nowMs() - 1_000_000;
  const seed = { pending: PENDING, finished: 0, workspaceId, repoIds: [repoId], startMs };
  await seedJobs(h.hub.database, { ...seed, agentIds: [agentId] });
  await withClient(h.dataDir, async (other) => {
    /** How many entries of the index the search of a claim reads. */
    const readByClaim = async () => {
      const { text, values } = await collectSearch(t, () => h.claim());
      await other.query('BEGIN');
      const before = await countRead(other);
      await other.query(text, values);
      const after = await countRead(other);
      await other.query('ROLLBACK');
      return after - before;
    };
    await withClient(h.dataDir, async (old) => {
      await old.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
      await old.query('SELECT 1 FROM workspaces');
      await other.query(
        `UPDATE queue_entries SET status = 'done', hold = NULL, finished_at = 1
         WHERE hold = 'ready' AND sort_key < $1`,
        [startMs + PENDING - LEFT],
      );
      const first = await readByClaim();
      assert.ok(first >= PENDING - LEFT, `${first} entries: the snapshot keeps none`);
      const second = await readByClaim();
      assert.ok(second <= READ_BY_CLAIM_MAX, `${second} entries are read for one claim`);

      // As another hub would move an entry before the floor.
      const moved = seededJobId(startMs, PENDING - 1);
      await other.query('UPDATE queue_entries SET sort_key = 1 WHERE entry_id = $1', [moved]);
      assert.notEqual((await h.claim()).jobId, moved);
      clock.advance(5_000);
      assert.equal((await h.claim()).jobId, moved, 'a search from the start finds it');
      const { jobId: urgent } = await h.enqueue({ priority: 100 });
      assert.equal((await h.claim()).jobId, urgent, 'a write of this hub is found at once');
    });
    await other.query('VACUUM queue_entries');
    clock.advance(5_000);
    await h.claim();
    const { text } = await collectSearch(t, () => h.claim());
    assert.doesNotMatch(text, /lanes\.floor/, 'without the snapshot there are no floors');
  });
});
