import { Pool, type PoolClient } from 'pg';
import type { TimelineEvent, TokenRecord } from './peer-queue.ts';

/** Connections to PostgreSQL; more had no benefit on two cores. */
const POOL_SIZE = 16;

/** The service's own tables, in the database of the library's. */
export async function openTables(connectionString: string): Promise<Pool> {
  const pool = new Pool({ connectionString, max: POOL_SIZE });
  await pool.query(`
    CREATE TABLE tokens (
      token_hash text PRIMARY KEY,
      workspace_id text NOT NULL,
      scopes text[] NOT NULL,
      expires_at bigint NOT NULL
    );
    CREATE TABLE job_events (
      job_id text NOT NULL,
      event_id bigint GENERATED ALWAYS AS IDENTITY,
      kind text NOT NULL,
      at bigint NOT NULL,
      attempt integer NOT NULL,
      agent_id text,
      data json NOT NULL,
      PRIMARY KEY (job_id, event_id)
    )`);
  return pool;
}

export async function insertToken(pool: Pool, tokenHash: string, token: TokenRecord) {
  await pool.query('INSERT INTO tokens VALUES ($1, $2, $3, $4)', [
    ...[tokenHash, token.workspaceId, token.scopes, token.expiresAtMs],
  ]);
}

export async function selectToken(pool: Pool, tokenHash: string): Promise<TokenRecord | null> {
  const { rows } = await pool.query<{ workspace_id: string; scopes: string[]; expires_at: string }>(
    {
      name: 'token',
      text: 'SELECT workspace_id, scopes, expires_at FROM tokens WHERE token_hash = $1',
      values: [tokenHash],
    },
  );
  const [row] = rows;
  if (row === undefined) return null;
  const { workspace_id: workspaceId, scopes, expires_at: expiresAt } = row;
  return { workspaceId, scopes, expiresAtMs: Number(expiresAt) };
}

export async function insertEvent(
  database: Pool | PoolClient,
  jobId: string,
  { kind, atMs, attempt, agentId, data }: TimelineEvent,
): Promise<void> {
  await database.query({
    name: 'event',
    text: `INSERT INTO job_events (job_id, kind, at, attempt, agent_id, data)
           VALUES ($1, $2, $3, $4, $5, $6)`,
    values: [jobId, kind, atMs, attempt, agentId, JSON.stringify(data)],
  });
}

/** Runs statements in one transaction. */
export async function transact<T>(pool: Pool, act: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const result = await act(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
}
