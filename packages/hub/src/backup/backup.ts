import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { DATABASE_FILE, syncDirectory } from '../db/data-directory.ts';
import type { Reader } from '../db/engine.ts';
import { readSchemaVersion } from '../db/migrate.ts';
import { findKeyProblem, readKeyFingerprint } from '../db/secret-key.ts';
import { copySqlite, findSqliteDamage, openSqliteReader } from '../db/sqlite/sqlite-database.ts';
import { listAllWorkspaces } from '../workspaces/store.ts';
import { BackupError } from './backup-error.ts';
import { copyFile, hashFile } from './copy-file.ts';
import { KEY_FILE, MANIFEST_FILE, type Manifest, type ManifestFile } from './manifest.ts';
import { listStoredObjects } from './stored-objects.ts';

interface BackupSource {
  /** The data directory of a hub on SQLite, running or stopped. */
  dataDir: string;
  /** The key of the settings; null: it is a file of the data directory. */
  secretKey: Buffer | null;
  objectStore: Manifest['objectStore'];
  hubVersion: string;
}

export interface BackupReport {
  path: string;
  manifest: Manifest;
  /** Objects that the database promises and that are not there, a sentence each. */
  missing: string[];
}

/**
 * Copies a hub's data to a new directory: the database first, then the objects that this copy of it
 * promises, the manifest last. The hub may run. The directory appears when it is complete.
 *
 * @throws BackupError
 */
export async function backUp(
  source: BackupSource,
  target: string,
  options: { withKey: boolean },
): Promise<BackupReport> {
  const path = resolve(target);
  if (existsSync(path) && !isEmpty(path)) {
    throw new BackupError(`${path} is not empty: name a new directory for the backup.`);
  }
  const keyPath = join(source.dataDir, KEY_FILE);
  if (options.withKey && !existsSync(keyPath)) {
    throw new BackupError(`There is no key at ${keyPath}: leave out --with-key.`);
  }
  const draft = `${path}.${randomBytes(4).toString('hex')}.incomplete`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    mkdirSync(draft, { mode: 0o700 });
    const { manifest, missing } = await fill(draft, source, options.withKey);
    if (existsSync(path)) rmdirSync(path);
    renameSync(draft, path);
    syncDirectory(dirname(path));
    return { path, manifest, missing };
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    throw explainFileError(error, path);
  }
}

/** Writes all files of a backup into an empty directory. */
async function fill(
  draft: string,
  source: BackupSource,
  withKey: boolean,
): Promise<Pick<BackupReport, 'manifest' | 'missing'>> {
  const createdAt = new Date().toISOString();
  const copy = join(draft, DATABASE_FILE);
  await copySqlite(join(source.dataDir, DATABASE_FILE), copy).catch(explainDamage);
  const [damage] = findSqliteDamage(copy);
  if (damage !== undefined) explainDamage(new Error(damage));
  const files: ManifestFile[] = [{ path: DATABASE_FILE, ...(await hashFile(copy)) }];
  const missing: string[] = [];
  const { reader, close } = openSqliteReader(copy);
  try {
    await requireWhole(reader, source);
    if (source.objectStore === 'directory') {
      await copyObjects(reader, { source: source.dataDir, draft }, files, missing);
    }
    if (withKey) {
      const content = await copyFile(join(source.dataDir, KEY_FILE), join(draft, KEY_FILE));
      files.push({ path: KEY_FILE, ...content });
    }
    const manifest: Manifest = {
      format: 'signalbox-backup/1',
      hubVersion: source.hubVersion,
      schemaVersion: await readSchemaVersion(reader),
      createdAt,
      key: {
        place: source.secretKey !== null ? 'SVC_SECRET_KEY' : join(source.dataDir, KEY_FILE),
        fingerprint: await readKeyFingerprint(reader),
        included: withKey,
      },
      objectStore: source.objectStore,
      files,
    };
    const text = `${JSON.stringify(manifest, null, 2)}\n`;
    await writeFile(join(draft, MANIFEST_FILE), text, { mode: 0o600, flush: true });
    syncDirectory(draft);
    return { manifest, missing };
  } finally {
    await close();
  }
}

/** Refuses a hub without a workspace, or without its key: its backup would be worth nothing. */
async function requireWhole(reader: Reader, { dataDir, secretKey }: BackupSource): Promise<void> {
  const workspaces = await listAllWorkspaces(reader);
  if (workspaces.length === 0) {
    throw new BackupError(
      `The hub in ${dataDir} has no workspace, so there is nothing to back up: set --data-dir or ` +
        'SVC_DATA_DIR to the directory of the hub that you mean.',
    );
  }
  if ((await readKeyFingerprint(reader)) === null) {
    throw new BackupError(`The hub in ${dataDir} has no key yet: start it once.`);
  }
  const problem = await findKeyProblem(reader, dataDir, secretKey);
  if (problem !== null) throw new BackupError(problem);
}

async function copyObjects(
  reader: Reader,
  { source, draft }: { source: string; draft: string },
  files: ManifestFile[],
  missing: string[],
): Promise<void> {
  for await (const { path, name, sizeBytes, sha256 } of listStoredObjects(reader)) {
    const from = join(source, path);
    if (!existsSync(from)) {
      missing.push(`The file of ${name} is missing: ${from}.`);
      continue;
    }
    const content = await copyFile(from, join(draft, path));
    files.push({ path, ...content });
    if (content.sizeBytes !== sizeBytes || content.sha256 !== sha256) {
      missing.push(`The file of ${name} is damaged: ${from}.`);
    }
  }
}

function explainDamage(error: Error): never {
  throw new BackupError(
    `The database is damaged (${error.message}), so it cannot be backed up: run signalbox verify, ` +
      'and restore an earlier backup.',
    { cause: error },
  );
}

/** A full or read-only disk is the operator's to mend; every other error stays as it is. */
export function explainFileError(error: unknown, path: string): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (!['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM', 'ENOTDIR'].includes(code ?? '')) {
    return error;
  }
  const sentence = `${path} cannot be written (${message}): free space or name another directory.`;
  return new BackupError(sentence, { cause: error });
}

export function isEmpty(path: string): boolean {
  return readdirSync(path).length === 0;
}
