import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { listEndedAgents } from '../../src/agents/store-ended-tokens.ts';
import type { Reader } from '../../src/db/engine.ts';
import { numberPlaceholders } from '../../src/db/postgres/merged-statement.ts';
import { STARTUP_OPTIONS } from '../../src/db/postgres/postgres-database.ts';
import { startQueueWorld } from '../support/queue-world.ts';
import { seedAgents, seedJobs } from '../support/seed-database.ts';
import { databaseUrlOf } from '../support/test-engine.ts';

const AGENTS = 200;
const TOKENS = 60;
/** Some steps into an index for each agent; all tokens with all agents are a hundred times more. */
const BLOCKS_MAX = 50 * AGENTS;

test('before the tables are analyzed, each holder of a lease is a few steps into indexes', async (t) => {
  const { hub, workspaceId, repoId, clock, dataDir } = await startQueueWorld(t, {
    newDatabase: true,
  });
  const place = { workspaceId, atMs: clock.nowMs(), capabilities: { canWrite: true } };
  const agentIds = await seedAgents(hub.database, place, AGENTS);
  await seedJobs(hub.database, {
    workspaceId,
    repoIds: [repoId],
    agentIds,
    startMs: clock.nowMs(),
    pending: AGENTS,
    finished: 0,
  });
  let sql = '';
  // Only this method is called.
  const noting = {
    async allSql(text: string) {
      sql = text;
      return [];
    },
  };
  await listEndedAgents(noting as unknown as Reader, clock.nowMs(), 100);
  const blocks = await withClient(await databaseUrlOf(dataDir), async (client) => {
    await seedHolders(client, { workspaceId, expiresAtMs: clock.nowMs() + 3_600_000 });
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
      `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${numberPlaceholders(sql)}`,
      [clock.nowMs(), 100],
    );
    return rows[0]?.['QUERY PLAN'][0].Plan['Shared Hit Blocks'] ?? Number.NaN;
  });
  assert.ok(blocks > AGENTS && blocks < BLOCKS_MAX, `${blocks} blocks`);
});

async function withClient<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, options: STARTUP_OPTIONS });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

/** Gives the agents tokens and each of them a job. */
async function seedHolders(
  client: pg.Client,
  { workspaceId, expiresAtMs }: { workspaceId: string; expiresAtMs: number },
): Promise<void> {
  await client.query(
    `INSERT INTO tokens (workspace_id, token_id, token_hash, kind, principal_id, name, scopes,
       created_at, expires_at, created_by)
     SELECT $1, 'tok_' || n, 'hash ' || n, 'service', 'tok_' || n, 'seeded', '[]', 1, $2, 'seed'
     FROM generate_series(1, ${TOKENS}) AS n`,
    [workspaceId, expiresAtMs],
  );
  await client.query(`UPDATE agents SET token_id = 'tok_' || (hashtext(agent_id) & 31) + 1`);
  await client.query(
    `UPDATE queue_entries AS e SET status = 'running', hold = NULL, agent_id = a.agent_id
     FROM (SELECT agent_id, row_number() OVER () AS n FROM agents WHERE token_id <> '') AS a,
       (SELECT entry_id, row_number() OVER () AS n FROM queue_entries) AS q
     WHERE q.entry_id = e.entry_id AND q.n = a.n`,
  );
}
