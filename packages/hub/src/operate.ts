import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { VERSION } from '@signalbox/contract';
import type { BackupReport } from './backup/backup.ts';
import { BackupError } from './backup/backup-error.ts';
import type { RestoreReport } from './backup/restore.ts';
import type { VerifiedPart } from './backup/verify.ts';
import { systemClock } from './clock.ts';
import { type Config, isLoopback } from './config.ts';
import { DATABASE_FILE } from './db/data-directory.ts';
import type { Reader } from './db/engine.ts';
import { openDatabase } from './db/open-database.ts';
import { findKeyProblem } from './db/secret-key.ts';
import type { Finding } from './diagnosis/finding.ts';

/*
 * Commands of the operator about all data of a hub: back up, restore, verify, diagnose. They run
 * while the hub runs or is stopped, and change nothing that it has. Their code is loaded when one
 * runs, so that a start does not pay for it.
 */

/** @throws BackupError */
export async function backUpHub(
  config: Config,
  target: string,
  options: { withKey: boolean },
): Promise<BackupReport> {
  if (config.databaseUrl !== null) throw new BackupError(postgresSteps(config));
  const source = {
    dataDir: config.dataDir,
    isKeySet: config.secretKey !== null,
    objectStore: placeOfObjects(config),
    hubVersion: VERSION,
  };
  const { backUp } = await import('./backup/backup.ts');
  return backUp(source, target, options);
}

/** @throws BackupError */
export async function restoreHub(config: Config, backup: string): Promise<RestoreReport> {
  if (config.databaseUrl !== null) {
    throw new BackupError(
      'A backup of this command is of a hub on SQLite: unset SVC_DATABASE_URL. A dump of PostgreSQL ' +
        'is restored with pg_restore; docs/operate/backup.md says how.',
    );
  }
  const { restore } = await import('./backup/restore.ts');
  return restore(backup, config.dataDir, config.secretKey);
}

/**
 * Checks all data of a hub, or of a backup.
 *
 * @param backup the directory of the backup; null: the hub that the settings name.
 * @throws BackupError, StartError when there is nothing to check.
 */
export async function verifyHub(config: Config, backup: string | null): Promise<VerifiedPart[]> {
  if (backup !== null) return verifyBackup(backup);
  if (config.databaseUrl !== null) return verifyOnPostgres(config);
  const path = join(config.dataDir, DATABASE_FILE);
  if (!existsSync(path)) {
    throw new BackupError(
      `There is no hub in ${config.dataDir}: set --data-dir or SVC_DATA_DIR to its directory.`,
    );
  }
  return verifySqlite(path, (reader) => verifyRecords(reader, config));
}

async function verifyBackup(backup: string): Promise<VerifiedPart[]> {
  const { readManifest } = await import('./backup/manifest.ts');
  const { checkFiles } = await import('./backup/restore.ts');
  const { verifyAuditLogs, verifyJobs, verifyObjects } = await import('./backup/verify.ts');
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
  const { findSqliteDamage, openSqliteReader } = await import('./db/sqlite/sqlite-database.ts');
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
    return await verifyRecords(database.reader, config);
  } finally {
    await database.close();
  }
}

async function verifyRecords(reader: Reader, config: Config): Promise<VerifiedPart[]> {
  const { verifyAuditLogs, verifyJobs, verifyObjects } = await import('./backup/verify.ts');
  const problem = await findKeyProblem(reader, config.dataDir, config.secretKey);
  return [
    { name: 'Key', extent: 'it is the key of the database', problems: problem ? [problem] : [] },
    await verifyAuditLogs(reader),
    await verifyJobs(reader),
    ...(config.s3 === null ? [await verifyObjects(reader, config.dataDir)] : []),
  ];
}

/** Checks what a hub needs around it; changes nothing. */
export async function diagnoseHub(config: Config): Promise<Finding[]> {
  const { diagnose } = await import('./diagnosis/diagnose.ts');
  return diagnose(config, { isPublic: !isLoopback(config.host) });
}

function placeOfObjects({ s3 }: Config): 'directory' | { endpoint: string; bucket: string } {
  return s3 === null ? 'directory' : { endpoint: s3.endpoint, bucket: s3.bucket };
}

function postgresSteps({ s3, dataDir }: Config): string {
  const objects =
    s3 === null
      ? `then copy ${join(dataDir, 'uploads')} and ${join(dataDir, 'archive')}`
      : `and back up the bucket ${s3.bucket} by the means of its store`;
  return (
    'The database is PostgreSQL, which has its own tool. Run pg_dump --format=custom ' +
    `--file=signalbox.dump "$SVC_DATABASE_URL", ${objects}, and keep the key apart. ` +
    'docs/operate/backup.md has the steps, also those of the restore.'
  );
}
