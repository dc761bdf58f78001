import { StartError } from '../data-directory.ts';
import type { Reader } from '../engine.ts';
import { explainRefusal } from './explain-refusal.ts';

/** PostgreSQL 15, in the form of `server_version_num`. */
const VERSION_MIN = 150_000;

interface Server {
  readonly reader: Reader;
  /** Adds settings to every transaction of a write. */
  beginWith(settings: Readonly<Record<string, string | number>>): void;
}

/**
 * Checks that a hub can rely on the server, and turns `synchronous_commit` on for the hub where the
 * server has it off.
 *
 * @returns what the operator should know, one sentence each.
 * @throws StartError
 */
export async function readServerWarnings(database: Server, url: string): Promise<string[]> {
  const settings = await readSettings(database, url);
  const version = Number(settings.get('server_version_num'));
  if (version < VERSION_MIN) {
    throw new StartError(
      `The database is PostgreSQL ${settings.get('server_version')}: Signalbox needs 15 or newer.`,
    );
  }
  if (settings.get('in_hot_standby') === 'on') {
    throw new StartError(
      'The database is a standby, which cannot be written: let SVC_DATABASE_URL lead to the primary.',
    );
  }
  if (settings.get('default_transaction_read_only') === 'on') {
    throw new StartError(
      'The database is read only (default_transaction_read_only is on): turn that off for the ' +
        'database and the user, or let SVC_DATABASE_URL lead to the primary.',
    );
  }
  const warnings: string[] = [];
  if (settings.get('synchronous_commit') === 'off') {
    database.beginWith({ synchronous_commit: 'on' });
    warnings.push('PostgreSQL has synchronous_commit off; the hub turns it on for its own writes.');
  }
  for (const name of ['fsync', 'full_page_writes']) {
    if (settings.get(name) !== 'off') continue;
    warnings.push(`PostgreSQL has ${name} off: a power cut may lose or damage everything in it.`);
  }
  return warnings;
}

async function readSettings({ reader }: Server, url: string): Promise<Map<string, string>> {
  try {
    const rows = await reader.allSql<{ name: string; setting: string }>(
      `SELECT name, setting FROM pg_settings
       WHERE name IN ('server_version', 'server_version_num', 'synchronous_commit', 'fsync',
         'full_page_writes', 'in_hot_standby', 'default_transaction_read_only')`,
      [],
    );
    return new Map(rows.map((row) => [row.name, row.setting]));
  } catch (error) {
    throw explainRefusal(error, url);
  }
}

/** The facts about a server that its operator may want to change. */
export interface ServerState {
  version: string;
  connectionsMax: number;
  /** Whether this connection is encrypted. */
  isEncrypted: boolean;
  nowMs: number;
}

export async function readServerState(reader: Reader): Promise<ServerState> {
  const row = await reader.firstSql<{ version: string; most: number; tls: number; now: number }>(
    `SELECT current_setting('server_version') AS version,
       current_setting('max_connections')::int AS most,
       (SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid())::int AS tls,
       (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now`,
    [],
  );
  if (row === undefined) throw new Error('the server did not answer');
  const { version, most, tls, now } = row;
  return { version, connectionsMax: most, isEncrypted: tls === 1, nowMs: Number(now) };
}
