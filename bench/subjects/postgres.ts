import { readFileSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { startLocalPostgres } from '@signalbox/local-postgres';
import { Client } from 'pg';

/** A PostgreSQL with fsync on that runs for the whole bench. */
export interface PostgresPlace {
  readonly version: string;
  readonly pid: number;
  /** Creates a new empty database and returns its URL. */
  createDatabase(): Promise<string>;
  dropDatabase(url: string): Promise<void>;
  stop(): Promise<void>;
}

/** The type number of an in-memory file system on Linux. */
const TMPFS_TYPE = 0x01021994;

/**
 * Starts a PostgreSQL for this run, with default settings, which syncs every commit.
 *
 * @throws Error if none is available for this machine.
 */
export async function startPostgres(): Promise<PostgresPlace> {
  const server = await startLocalPostgres({ durable: true });
  if (statfsSync(server.folder).type === TMPFS_TYPE) {
    await server.stop();
    throw new Error('its files would be in memory: set TMPDIR to a directory on a disk');
  }
  const pidFile = readFileSync(join(server.folder, 'data/postmaster.pid'), 'utf8');
  const version = await ask(server.url, 'SHOW server_version');
  let created = 0;
  return {
    version,
    pid: Number.parseInt(pidFile, 10),
    async createDatabase() {
      const name = `bench_${++created}`;
      await ask(server.url, `CREATE DATABASE ${name}`);
      const url = new URL(server.url);
      url.pathname = `/${name}`;
      return url.href;
    },
    async dropDatabase(url) {
      // A killed server may not have closed its connections yet.
      await ask(server.url, `DROP DATABASE ${new URL(url).pathname.slice(1)} WITH (FORCE)`);
      await ask(server.url, 'CHECKPOINT');
    },
    stop: () => server.stop(),
  };
}

/** Runs a statement. Returns the first value of its first row, as text. */
export async function ask(connectionString: string, sql: string): Promise<string> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    const { rows } = await client.query<string[]>({ text: sql, rowMode: 'array' });
    return rows[0]?.[0] ?? '';
  } finally {
    await client.end();
  }
}
