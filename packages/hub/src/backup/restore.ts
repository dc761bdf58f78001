import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { DATABASE_FILE, RESTORING_FILE, syncDirectory } from '../db/data-directory.ts';
import { fingerprintOf } from '../db/secret-key.ts';
import { findSqliteDamage } from '../db/sqlite/sqlite-database.ts';
import { explainFileError, isEmpty } from './backup.ts';
import { BackupError } from './backup-error.ts';
import { copyFile, hashFile } from './copy-file.ts';
import { type Manifest, readManifest } from './manifest.ts';

export interface RestoreReport {
  dataDir: string;
  manifest: Manifest;
  /** Whether the data directory has its key, or the settings do. */
  hasKey: boolean;
}

/**
 * Restores a backup into a data directory that is empty or does not exist. Everything is checked
 * before anything is written, and the directory appears, or gets its database, when it is complete.
 *
 * @param secretKey the key of the settings, which must be that of the backup; null: none.
 * @param change is called with the path of the restored database before the directory appears;
 *   returns the `result`.
 * @throws BackupError
 */
export async function restore<T>(
  backup: string,
  target: string,
  secretKey: Buffer | null,
  change: (databasePath: string, manifest: Manifest) => Promise<T>,
): Promise<RestoreReport & { result: T }> {
  const from = resolve(backup);
  const dataDir = resolve(target);
  const manifest = readManifest(from);
  if (existsSync(dataDir) && !isEmpty(dataDir)) {
    throw new BackupError(
      `The data directory ${dataDir} is not empty: stop its hub and move it away, or set --data-dir ` +
        'to a new directory.',
    );
  }
  const { fingerprint } = manifest.key;
  if (secretKey !== null && fingerprint !== null && fingerprintOf(secretKey) !== fingerprint) {
    throw new BackupError(
      'SVC_SECRET_KEY is not the key of the backed-up hub: set it to that key, or unset it.',
    );
  }
  await checkFiles(from, manifest);
  try {
    const fill = async (draft: string) => {
      await copyFiles(from, draft, manifest);
      const result = await change(join(draft, DATABASE_FILE), manifest);
      syncDirectory(draft);
      return result;
    };
    const result = existsSync(dataDir)
      ? await fillInside(from, dataDir, manifest, fill)
      : await fillBeside(dataDir, fill);
    const hasKey = secretKey !== null || manifest.key.included;
    return { dataDir, manifest, hasKey, result };
  } catch (error) {
    throw explainFileError(error, dataDir);
  }
}

/**
 * Compares every file of a backup with its manifest, and checks the database.
 *
 * @throws BackupError
 */
export async function checkFiles(from: string, manifest: Manifest): Promise<void> {
  for (const file of manifest.files) {
    const path = join(from, file.path);
    if (!existsSync(path)) {
      throw new BackupError(`The backup is not complete: ${path} is missing. Use another backup.`);
    }
    const content = await hashFile(path);
    if (content.sizeBytes === file.sizeBytes && content.sha256 === file.sha256) continue;
    throw new BackupError(
      `The backup is damaged: ${path} has other content than when it was written. Use another backup.`,
    );
  }
  const [damage] = findSqliteDamage(join(from, DATABASE_FILE));
  if (damage === undefined) return;
  throw new BackupError(`The database of the backup is damaged (${damage}). Use another backup.`);
}

/** Builds the data directory beside its place, and renames it. */
async function fillBeside<T>(dataDir: string, fill: (draft: string) => Promise<T>): Promise<T> {
  mkdirSync(dirname(dataDir), { recursive: true, mode: 0o700 });
  const draft = join(dirname(dataDir), `${basename(dataDir)}.${randomName()}.incomplete`);
  mkdirSync(draft, { mode: 0o700 });
  try {
    const result = await fill(draft);
    renameSync(draft, dataDir);
    syncDirectory(dirname(dataDir));
    return result;
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    throw error;
  }
}

/**
 * Fills a data directory that exists, such as a mounted volume, which cannot be renamed. While it
 * is not complete, a file in it keeps a hub from starting.
 */
async function fillInside<T>(
  from: string,
  dataDir: string,
  manifest: Manifest,
  fill: (draft: string) => Promise<T>,
): Promise<T> {
  const mark = join(dataDir, RESTORING_FILE);
  await writeFile(mark, `${from}\n`, { mode: 0o600, flag: 'wx', flush: true });
  syncDirectory(dataDir);
  const draft = join(dataDir, `${randomName()}.incomplete`);
  mkdirSync(draft, { mode: 0o700 });
  try {
    const result = await fill(draft);
    const names = new Set(manifest.files.map(({ path }) => path.split('/')[0] ?? path));
    for (const name of names) renameSync(join(draft, name), join(dataDir, name));
    rmdirSync(draft);
    syncDirectory(dataDir);
    rmSync(mark);
    syncDirectory(dataDir);
    return result;
  } catch (error) {
    // Only what this restore has written: the directory was empty.
    for (const { path } of manifest.files) {
      rmSync(join(dataDir, path.split('/')[0] ?? path), { recursive: true, force: true });
    }
    rmSync(draft, { recursive: true, force: true });
    rmSync(mark, { force: true });
    throw error;
  }
}

/** Copies all files, the database last, and compares what was written with the manifest. */
async function copyFiles(from: string, to: string, manifest: Manifest): Promise<void> {
  const isDatabase = ({ path }: { path: string }) => path === DATABASE_FILE;
  const ordered = manifest.files.toSorted((a, b) => Number(isDatabase(a)) - Number(isDatabase(b)));
  for (const file of ordered) {
    const content = await copyFile(join(from, file.path), join(to, file.path));
    if (content.sha256 === file.sha256) continue;
    throw new BackupError(`${join(from, file.path)} changed while it was restored: run it again.`);
  }
}

function randomName(): string {
  return randomBytes(4).toString('hex');
}
