import { constants } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { systemClock } from '../base/clock.ts';
import { checkFileSystem, DATABASE_FILE } from '../db/data-directory.ts';
import type { Database, Reader } from '../db/engine.ts';
import { openDatabase } from '../db/open-database.ts';
import type { ServerState } from '../db/postgres/postgres-database.ts';
import { findKeyProblem } from '../db/secret-key.ts';
import { findSqliteDamage, openSqliteReader } from '../db/sqlite/sqlite-database.ts';
import type { Config } from '../start/config.ts';
import {
  checkAddress,
  checkMail,
  checkObjectStore,
  checkSlack,
  checkSmtp,
  checkTls,
} from './check-network.ts';
import { checkTransactions, TRANSACTION_MS_MAX } from './check-transactions.ts';
import { CHECKED_BYTES_MAX, check, type Finding } from './finding.ts';

export type { Finding };

const GIB = 1_073_741_824;
const DISK_FREE_BYTES_MIN = GIB;
const DISK_FREE_SHARE_MIN = 0.05;
const CLOCK_DIFFERENCE_MS_MAX = 60_000;

/** @param place.isPublic whether other machines can reach the hub's address. */
export async function diagnose(config: Config, place: { isPublic: boolean }): Promise<Finding[]> {
  const disk = await check('Disk', () => checkDisk(config));
  const records = config.databaseUrl === null ? await onSqlite(config) : await onPostgres(config);
  return [
    disk,
    ...records,
    await check('Address', () => checkAddress(config, place)),
    await check('TLS', () => checkTls(config)),
    await check('Objects', () => checkObjectStore(config)),
    await check('Sending', () => checkSmtp(config)),
    await check('Slack', () => checkSlack(config)),
  ];
}

async function checkDisk({ dataDir, databaseUrl }: Config): Promise<Omit<Finding, 'name'>> {
  const path = resolve(dataDir);
  await access(path, constants.R_OK | constants.W_OK | constants.X_OK).catch((error: Error) => {
    throw new Error(
      `The data directory ${path} cannot be used (${error.message}): start a hub there first, or ` +
        'set --data-dir to its directory.',
    );
  });
  if (databaseUrl === null) checkFileSystem(path);
  const { bavail, blocks, bsize } = await statfs(path);
  const freeBytes = bavail * bsize;
  const text = `${(freeBytes / GIB).toFixed(1)} GiB free for ${path}`;
  if (freeBytes >= DISK_FREE_BYTES_MIN && bavail / blocks >= DISK_FREE_SHARE_MIN) {
    return { state: 'ok', message: text };
  }
  const message = `${text}: free some, because a hub on a full disk refuses every change.`;
  return { state: 'warning', message };
}

async function onSqlite(config: Config): Promise<Finding[]> {
  const path = join(config.dataDir, DATABASE_FILE);
  const size = await stat(path).then(
    (file) => file.size,
    () => null,
  );
  if (size === null) {
    const message = `There is no database in ${resolve(config.dataDir)}: start a hub first.`;
    return [{ name: 'Database', state: 'wrong', message }];
  }
  const database = await check('Database', async () => {
    if (size > CHECKED_BYTES_MAX) {
      return { state: 'ok', message: `${path}, not checked: signalbox verify does, in minutes` };
    }
    const [damage] = findSqliteDamage(path);
    if (damage === undefined) return { state: 'ok', message: `SQLite, whole, ${path}` };
    throw new Error(`${path} is damaged (${damage}): restore a backup.`);
  });
  const clock = await check('Clock', async () => {
    const { mtimeMs } = await stat(path);
    return judgeClock(Date.now() - mtimeMs, 'the last change of the database');
  });
  if (database.state === 'wrong') return [database, clock];
  const { reader, close } = openSqliteReader(path);
  try {
    return [database, clock, ...(await checkRecords(reader, config))];
  } finally {
    await close();
  }
}

async function onPostgres(config: Config): Promise<Finding[]> {
  let database: Database;
  try {
    database = await openDatabase(config, '', systemClock);
  } catch (error) {
    return [{ name: 'Database', state: 'wrong', message: (error as Error).message }];
  }
  try {
    const { readServerState } = await import('../db/postgres/postgres-database.ts');
    const server = await readServerState(database.reader);
    return [
      ...judgeServer(config, database.warnings, server),
      {
        name: 'Clock',
        ...judgeClock(-Math.abs(Date.now() - server.nowMs), "the server's clock"),
      },
      await check('Transactions', () => checkTransactions(database.reader, TRANSACTION_MS_MAX)),
      ...(await checkRecords(database.reader, config)),
    ];
  } finally {
    await database.close();
  }
}

function judgeServer(
  { databaseUrl, databaseSessions }: Config,
  warnings: readonly string[],
  server: ServerState,
): Finding[] {
  const name = 'Database';
  const found: Finding[] = warnings.map((message) => ({ name, state: 'warning', message }));
  const { hostname } = new URL(databaseUrl ?? '');
  const isRemote = !['', 'localhost', '127.0.0.1', '[::1]'].includes(hostname);
  if (isRemote && !server.isEncrypted) {
    const message = `The connection to ${hostname} is not encrypted: add ?sslmode=verify-full to SVC_DATABASE_URL.`;
    found.push({ name, state: 'warning', message });
  }
  if (server.connectionsMax < databaseSessions + 3) {
    const message =
      `max_connections is ${server.connectionsMax}, but a hub opens up to ${databaseSessions + 1}: ` +
      'raise it, or lower SVC_DATABASE_SESSIONS.';
    found.push({ name, state: 'warning', message });
  }
  if (found.length > 0) return found;
  const message = `PostgreSQL ${server.version}, ${server.connectionsMax} connections`;
  return [{ name, state: 'ok', message }];
}

/** @param differenceMs below zero: the clock of this machine is behind. */
function judgeClock(differenceMs: number, other: string): Omit<Finding, 'name'> {
  if (differenceMs > -CLOCK_DIFFERENCE_MS_MAX) {
    return { state: 'ok', message: `agrees with ${other}` };
  }
  const seconds = Math.round(-differenceMs / 1_000);
  return {
    state: 'warning',
    message: `It differs from ${other} by ${seconds} s: set the clock, and keep it set by NTP.`,
  };
}

/** Checks the hub's key and its mail accounts, which the database knows. */
async function checkRecords(reader: Reader, config: Config): Promise<Finding[]> {
  return [
    await check('Key', async () => {
      const problem = await findKeyProblem(reader, config.dataDir, config.secretKey);
      if (problem !== null) throw new Error(problem);
      return { state: 'ok', message: 'the key of the database; keep a copy apart' };
    }),
    await check('Mail', () => checkMail(reader)),
  ];
}
