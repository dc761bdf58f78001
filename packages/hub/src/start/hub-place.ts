import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DATABASE_FILE, prepareDataDirectory, StartError } from '../db/data-directory.ts';
import type { Database } from '../db/engine.ts';
import { readSchemaState } from '../db/migrate.ts';
import type { Config } from './config.ts';

/** Where earlier versions kept the data of a hub: below the folder in which it was started. */
const OLD_DATA_DIR = '.signalbox';

/** A command of the operator finds no hub where the settings say. */
export class HubMissingError extends Error {}

type Place = Pick<Config, 'dataDir' | 'isDataDirDefault' | 'databaseUrl'>;

/**
 * Refuses to found a hub in the user's data directory while the current folder has one of an
 * earlier version.
 *
 * @throws StartError
 */
export function refuseOldDataDir(config: Place): void {
  if (config.databaseUrl !== null || hasDatabase(config.dataDir)) return;
  const old = findOldDataDir(config);
  if (old === null) return;
  throw new StartError(
    `${old} holds the hub of an earlier version, and data are now in ${config.dataDir}. ` +
      adviseMove(old, config.dataDir),
  );
}

/**
 * Finds the directory of a hub for a command of the operator, which must not found one.
 *
 * @throws HubMissingError, StartError
 */
export function requireHubDirectory(config: Place): { path: string; databasePath: string } {
  const path = resolve(config.dataDir);
  // The database is elsewhere, and the directory may be missing on this machine.
  if (config.databaseUrl !== null) return { path, databasePath: '' };
  if (hasDatabase(path)) return prepareDataDirectory(path);
  const old = findOldDataDir(config);
  const hint =
    old === null ? '' : ` ${old} holds that of an earlier version. ${adviseMove(old, path)}`;
  throw new HubMissingError(
    `There is no hub in ${path}: set --data-dir or SVC_DATA_DIR to its directory.${hint}`,
  );
}

/**
 * Refuses a database that no hub has been started on.
 *
 * @throws HubMissingError
 */
export async function requireHubDatabase(database: Database, config: Place): Promise<void> {
  if ((await readSchemaState(database)) !== 'new') return;
  const place =
    config.databaseUrl === null ? `in ${resolve(config.dataDir)}` : 'of SVC_DATABASE_URL';
  throw new HubMissingError(`The database ${place} is empty: start a hub on it first.`);
}

function hasDatabase(dataDir: string): boolean {
  return existsSync(join(dataDir, DATABASE_FILE));
}

/** The data directory of an earlier version in the current folder; null if a setting names one. */
function findOldDataDir({ isDataDirDefault }: Place): string | null {
  const old = resolve(OLD_DATA_DIR);
  return isDataDirDefault && hasDatabase(old) ? old : null;
}

function adviseMove(old: string, dataDir: string): string {
  const parent = resolve(dataDir, '..');
  return (
    `With its hub stopped, move it: mkdir -p '${parent}' && mv '${old}' '${dataDir}'. ` +
    `Or leave it there, with --data-dir '${old}'.`
  );
}
