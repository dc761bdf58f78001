import { join } from 'node:path';
import { createIdSource, VERSION } from '@signalbox/contract';
import type { BackupReport } from '../backup/backup.ts';
import { BackupError } from '../backup/backup-error.ts';
import type { EpochOptions, EpochReport } from '../backup/begin-epoch.ts';
import type { Manifest } from '../backup/manifest.ts';
import type { RestoreReport } from '../backup/restore.ts';
import type { VerifiedPart } from '../backup/verify.ts';
import { systemClock } from '../base/clock.ts';
import { adoptLineage } from '../cluster/database-lineage.ts';
import { DATABASE_FILE, lockDataDirectory } from '../db/data-directory.ts';
import type { Database, Reader } from '../db/engine.ts';
import { migrateDatabase, openDatabase, withoutLimits } from '../db/open-database.ts';
import { findKeyProblem } from '../db/secret-key.ts';
import type { Finding } from '../diagnosis/finding.ts';
import { ClaimWaiters } from '../queue/claim-waiters.ts';
import { Queue } from '../queue/queue.ts';
import { DecisionWaiters } from '../uncertainties/decision-waiters.ts';
import { hooks } from './app.ts';
import type { Config } from './config.ts';
import { requireHubDatabase, requireHubDirectory } from './hub-place.ts';
import { isLoopback } from './setting-values.ts';

/*
 * Commands of the operator about all data of a hub: back up, restore, verify, diagnose. They run
 * while the hub runs or is stopped, and change nothing that it has, but for `acceptRestore`. Their
 * code is loaded when one runs, so that a start does not pay for it.
 */

/** @throws BackupError, HubMissingError */
export async function backUpHub(
  config: Config,
  target: string,
  options: { withKey: boolean },
): Promise<BackupReport> {
  if (config.databaseUrl !== null) throw new BackupError(postgresSteps(config));
  const { path } = requireHubDirectory(config);
  const source = {
    dataDir: path,
    secretKey: config.secretKey,
    objectStore: placeOfObjects(config),
    hubVersion: VERSION,
  };
  const { backUp } = await import('../backup/backup.ts');
  return backUp(source, target, options);
}

/**
 * Restores a backup, and begins a new epoch of its database.
 * @throws BackupError
 */
export async function restoreHub(
  config: Config,
  backup: string,
  options: { keepsTokens: boolean },
): Promise<RestoreReport & { epoch: EpochReport }> {
  if (config.databaseUrl !== null) {
    throw new BackupError(
      'A backup of this command is of a hub on SQLite: unset SVC_DATABASE_URL. A dump of PostgreSQL ' +
        'is restored with pg_restore and `signalbox admin accept-restore`; docs/operate/backup.md says ' +
        'how.',
    );
  }
  const { restore } = await import('../backup/restore.ts');
  const begin = async (path: string, { createdAt }: Manifest) => {
    const database = await openDatabase(config, path, systemClock);
    try {
      return await beginEpochOf(config, database, { restoredAt: createdAt, ...options });
    } finally {
      await database.close();
    }
  };
  const { result, ...report } = await restore(backup, config.dataDir, config.secretKey, begin);
  return { ...report, epoch: result };
}

/**
 * Lets the hubs of a database serve it after something else than `restoreHub` has restored it, such
 * as a dump, a restore to a point in time, or a snapshot of the disk. Begins a new epoch of it.
 *
 * @throws HubMissingError, StartError
 */
export async function acceptRestore(
  config: Config,
  options: { keepsTokens: boolean },
): Promise<EpochReport> {
  const onPostgres = config.databaseUrl !== null;
  const directory = requireHubDirectory(config);
  const unlock = onPostgres ? () => undefined : lockDataDirectory(directory.path);
  try {
    const database = await openDatabase(config, directory.databasePath, systemClock);
    try {
      await requireHubDatabase(database, config);
      return await beginEpochOf(config, database, { restoredAt: null, ...options });
    } finally {
      await database.close();
    }
  } finally {
    unlock();
  }
}

async function beginEpochOf(
  config: Config,
  database: Database,
  options: EpochOptions,
): Promise<EpochReport> {
  const { beginEpoch } = await import('../backup/begin-epoch.ts');
  await migrateDatabase(config, database);
  const deps = {
    ids: createIdSource(systemClock.nowMs),
    queue: new Queue(() => undefined),
    waiters: new ClaimWaiters(systemClock),
    decisionWaiters: new DecisionWaiters(systemClock),
    hooks,
  };
  return withoutLimits(config, database, (unlimited) =>
    unlimited.write(null, async (tx) => {
      if (tx.engine === 'postgres') await adoptLineage(tx);
      return beginEpoch(deps, tx, options);
    }),
  );
}

/**
 * Checks all data of a hub, or of a backup.
 *
 * @param backup the directory of the backup; null: the hub that the settings name.
 * @throws BackupError, HubMissingError when there is nothing to check.
 */
export async function verifyHub(config: Config, backup: string | null): Promise<VerifiedPart[]> {
  if (backup !== null) return verifyBackup(backup);
  if (config.databaseUrl !== null) return verifyOnPostgres(config);
  const { databasePath } = requireHubDirectory(config);
  return verifySqlite(databasePath, (reader) => verifyRecords(reader, config));
}

async function verifyBackup(backup: string): Promise<VerifiedPart[]> {
  const { readManifest } = await import('../backup/manifest.ts');
  const { checkFiles } = await import('../backup/restore.ts');
  const { verifyAuditLogs, verifyJobs, verifyObjects } = await import('../backup/verify.ts');
  const manifest = readManifest(backup);
  const extent = `${manifest.files.length} files as its manifest says`;
  const part: VerifiedPart = { name: 'Backup', extent, problems: [] };
  try {
    await checkFiles(backup, manifest);
  } catch (error) {
    if (!(error instanceof BackupError)) throw error;
    return [{ ...part, problems: [error.message] }];
  }
  const parts = await verifySqlite(join(backup, DATABASE_FILE), async (reader) => [
    await verifyAuditLogs(reader),
    await verifyJobs(reader),
    ...(manifest.objectStore === 'directory' ? [await verifyObjects(reader, backup)] : []),
  ]);
  return [part, ...parts];
}

/** Checks the file first, then its records. */
async function verifySqlite(
  path: string,
  verify: (reader: Reader) => Promise<VerifiedPart[]>,
): Promise<VerifiedPart[]> {
  const { findSqliteDamage, openSqliteReader } = await import('../db/sqlite/sqlite-database.ts');
  const problems = findSqliteDamage(path).map(
    (damage) => `The database ${path} is damaged (${damage}): restore a backup.`,
  );
  const part: VerifiedPart = { name: 'Database', extent: path, problems };
  // A file that SQLite cannot read says nothing about its records.
  if (problems.length > 0) return [part];
  const { reader, close } = openSqliteReader(path);
  try {
    return [part, ...(await verify(reader))];
  } finally {
    await close();
  }
}

async function verifyOnPostgres(config: Config): Promise<VerifiedPart[]> {
  const database = await openDatabase(config, '', systemClock);
  try {
    await requireHubDatabase(database, config);
    return await verifyRecords(database.reader, config);
  } finally {
    await database.close();
  }
}

async function verifyRecords(reader: Reader, config: Config): Promise<VerifiedPart[]> {
  const { verifyAuditLogs, verifyJobs, verifyObjects } = await import('../backup/verify.ts');
  const problem = await findKeyProblem(reader, config.dataDir, config.secretKey);
  return [
    { name: 'Key', extent: 'checked against the database', problems: problem ? [problem] : [] },
    await verifyAuditLogs(reader),
    await verifyJobs(reader),
    ...(config.s3 === null ? [await verifyObjects(reader, config.dataDir)] : []),
  ];
}

/** Checks what a hub needs around it; changes nothing. */
export async function diagnoseHub(config: Config): Promise<Finding[]> {
  const { diagnose } = await import('../diagnosis/diagnose.ts');
  return diagnose(config, { isPublic: !isLoopback(config.host) });
}

function placeOfObjects({ s3 }: Config): 'directory' | { endpoint: string; bucket: string } {
  return s3 === null ? 'directory' : { endpoint: s3.endpoint, bucket: s3.bucket };
}

function postgresSteps({ s3, dataDir }: Config): string {
  const objects =
    s3 === null
      ? `then copy ${join(dataDir, 'uploads')} and, if it exists, ${join(dataDir, 'archive')}`
      : `and back up the bucket ${s3.bucket} by the means of its store`;
  return (
    'The database is PostgreSQL, which has its own tool. Run pg_dump --format=custom ' +
    `--file=signalbox.dump "$SVC_DATABASE_URL", ${objects}, and keep the key apart. ` +
    'docs/operate/backup.md has the steps, also those of the restore.'
  );
}
