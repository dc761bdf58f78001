import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after } from 'node:test';
import { type Config, readConfig } from '@signalbox/hub';
import { createTestDatabase, type TestDatabase } from '@signalbox/local-postgres';
import pg from 'pg';
import { isPlaceOfFiles } from './node-process.ts';

const engine = process.env.SIGNALBOX_TEST_ENGINE ?? 'sqlite';
/** Whether several hubs can run on one database: SQLite has one at a time. */
export const hasSeveralHubs = engine === 'postgres';
/** Empty: a hub that starts makes its tables by itself. */
const template = { fingerprint: 'empty', prepare: async () => undefined };

/** How long a running hub may hold up a write beside it. */
const BUSY_MS = 10_000;

const databases = new Map<string, Promise<TestDatabase>>();

if (!isPlaceOfFiles) after(dropDatabases);

export async function dropDatabases(): Promise<void> {
  for (const database of databases.values()) await (await database).drop();
}

/**
 * The settings by which hubs and commands on a data directory find their database: none for
 * SQLite, which is in the directory; for PostgreSQL one for each directory.
 */
export async function databaseSettings(dataDir: string): Promise<NodeJS.ProcessEnv> {
  if (engine === 'sqlite') return {};
  assert.equal(engine, 'postgres', 'SIGNALBOX_TEST_ENGINE');
  let database = databases.get(dataDir);
  if (database === undefined) {
    database = createTestDatabase(template);
    databases.set(dataDir, database);
  }
  return { SVC_DATABASE_URL: (await database).url };
}

/** For commands that work beside a hub. */
export async function configOf(dataDir: string): Promise<Config> {
  return { ...readConfig(await databaseSettings(dataDir)), dataDir };
}

/** Reads what a stopped hub has left, without its help; the statement is one of both engines. */
export async function readDatabase(dataDir: string, sql: string): Promise<unknown[]> {
  const { SVC_DATABASE_URL: connectionString } = await databaseSettings(dataDir);
  if (connectionString === undefined) return readFile(join(dataDir, 'signalbox.db'), sql);
  return await queryPostgres(connectionString, sql);
}

async function queryPostgres(connectionString: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/**
 * Lets time pass for the outbox: what waits is due so much earlier, as if it had been asked before.
 * The clocks of hubs, agents and browsers stay.
 */
export async function moveOutbox(dataDir: string, earlierMs: number): Promise<void> {
  const statement = `UPDATE notifications SET turn_at = turn_at - ${earlierMs},
    due_at = due_at - ${earlierMs} WHERE state = 'waiting'`;
  const { SVC_DATABASE_URL: connectionString } = await databaseSettings(dataDir);
  if (connectionString !== undefined)
    return void (await queryPostgres(connectionString, statement));
  const file = new DatabaseSync(join(dataDir, 'signalbox.db'), { timeout: BUSY_MS });
  try {
    file.exec(statement);
  } finally {
    file.close();
  }
}

function readFile(path: string, sql: string): unknown[] {
  const file = new DatabaseSync(path, { readOnly: true });
  try {
    const found = file.prepare('PRAGMA integrity_check').get();
    assert.deepEqual({ ...found }, { integrity_check: 'ok' }, 'the file is sound');
    return file.prepare(sql).all();
  } finally {
    file.close();
  }
}
