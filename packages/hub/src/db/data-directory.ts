import { randomBytes } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** A reason why the hub cannot start; the message says what is wrong and what to do. */
export class StartError extends Error {}

/** File systems with unreliable locks or syncs, by their statfs type (statfs(2)). */
const networkFileSystems = new Map<number, string>([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x01021997, '9P'],
  [0x00c36400, 'Ceph'],
  [0x47504653, 'GPFS'],
  [0x0bd00bd0, 'Lustre'],
  [0x5346414f, 'AFS'],
  [0x73757245, 'Coda'],
  [0x65735546, 'FUSE'],
]);

export const DATABASE_FILE = 'signalbox.db';
const LOCK_FILE = 'hub.lock';
const KEY_FILE = 'secret.key';
/** In a data directory while a backup is restored into it. */
export const RESTORING_FILE = 'restoring';
/**
 * How long a starting hub retries the lock. An admin command that checks for a running hub takes a
 * shared lock for one read, which must not fail the start. A running hub never releases the lock,
 * so a second hub is still refused, only this much later.
 */
const LOCK_WAIT_MS = 200;
/** https://sqlite.org/rescode.html#busy */
const SQLITE_BUSY = 5;
const SECRET_KEY_BYTES = 32;
const DIRECTORY_ID_BYTES = 12;
/** The permission bits of a mode. */
const MODE_BITS = 0o777;
/** All that group and others may do. */
const OTHERS_ANY = 0o077;
/** Writing by others. A group may write where a container platform gives it the volume. */
const WORLD_WRITE = 0o002;

interface DataDirectory {
  path: string;
  databasePath: string;
  /** Identifies the directory, not the hub that uses it. */
  directoryId: string;
}

interface DirectoryUse {
  /** Whether the database is in the directory; default true. */
  holdsDatabase?: boolean;
  /** Injected because no test machine mounts a network file system. */
  typeOfFileSystem?: (path: string) => number;
}

/**
 * Creates the directory if it does not exist, and checks that it is writable and, when it holds the
 * database, on a local disk.
 *
 * @throws StartError
 */
export function prepareDataDirectory(path: string, use: DirectoryUse = {}): DataDirectory {
  const absolute = resolve(path);
  try {
    mkdirSync(absolute, { recursive: true, mode: 0o700 });
    accessSync(absolute, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new StartError(
      `The data directory ${absolute} is not writable (${(error as Error).message}): ` +
        'give this user write access to it, or set SVC_DATA_DIR to another directory.',
    );
  }
  refuseOpenMode(absolute, WORLD_WRITE, 'chmod o-w');
  if (use.holdsDatabase !== false) checkFileSystem(absolute, use.typeOfFileSystem);
  if (existsSync(join(absolute, RESTORING_FILE))) {
    throw new StartError(
      `A restore into ${absolute} did not end: delete everything in that directory, and run ` +
        'signalbox restore again.',
    );
  }
  return {
    path: absolute,
    databasePath: join(absolute, DATABASE_FILE),
    directoryId: readOrCreate(join(absolute, 'directory.id'), DIRECTORY_ID_BYTES),
  };
}

/** @throws StartError when the directory is on a file system that cannot hold a database. */
export function checkFileSystem(
  path: string,
  typeOfFileSystem = (at: string) => Number(statfsSync(at).type),
): void {
  const network = networkFileSystems.get(typeOfFileSystem(path) >>> 0);
  if (network === undefined) return;
  throw new StartError(
    `The data directory ${path} is on a network file system (${network}), which can lose ` +
      'committed data: set SVC_DATA_DIR to a local disk, or use PostgreSQL.',
  );
}

/**
 * Locks the directory for one hub. It is SQLite's exclusive lock on a file next to the database,
 * held by an open transaction: the operating system releases it when the process ends, however it
 * ends.
 *
 * @returns releases the lock.
 */
export function lockDataDirectory(path: string): () => void {
  const file = join(path, LOCK_FILE);
  // SQLite would create it for all to read, and a user who may read it can hold its lock.
  if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600));
  const lock = new DatabaseSync(file, { timeout: LOCK_WAIT_MS });
  try {
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    throw new StartError(
      `Another hub is running on the data directory ${path}: stop it first, or set SVC_DATA_DIR ` +
        `to another directory (${(error as Error).message}).`,
    );
  }
  return () => lock.close();
}

/**
 * Says whether a hub runs on the directory. Takes a shared lock for one read, so two checks never
 * block each other.
 */
export function isDataDirectoryLocked(path: string): boolean {
  const file = join(path, LOCK_FILE);
  if (!existsSync(file)) return false;
  const lock = new DatabaseSync(file, { readOnly: true, timeout: 0 });
  try {
    lock.prepare('SELECT 1 FROM sqlite_schema').get();
    return false;
  } catch (error) {
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return true;
    throw error;
  } finally {
    lock.close();
  }
}

export function keyPathOf(directoryPath: string): string {
  return join(directoryPath, KEY_FILE);
}

/** Reads the key file of a data directory; null if it does not exist. @throws StartError */
export function readKeyFile(directoryPath: string): Buffer | null {
  const path = keyPathOf(directoryPath);
  if (!existsSync(path)) return null;
  refuseOpenMode(path, OTHERS_ANY, 'chmod 600');
  const key = Buffer.from(readFileSync(path, 'utf8').trim(), 'base64');
  if (key.length === SECRET_KEY_BYTES) return key;
  throw new StartError(
    `The key file ${path} must hold ${SECRET_KEY_BYTES} bytes in base64: restore it from a backup.`,
  );
}

/** Creates the key file of a data directory, or reads the one that another process creates. */
export function createKeyFile(directoryPath: string): Buffer {
  const path = keyPathOf(directoryPath);
  return Buffer.from(readOrCreate(path, SECRET_KEY_BYTES), 'base64');
}

/** Deletes a key file that this start created, and that the database does not know. */
export function deleteKeyFile(directoryPath: string): void {
  rmSync(keyPathOf(directoryPath), { force: true });
}

/**
 * Refuses a file or directory that other users of the machine may read or change, as ssh does. On
 * Windows there are no such modes.
 *
 * @throws StartError
 */
function refuseOpenMode(path: string, forbidden: number, remedy: string): void {
  if (process.platform === 'win32') return;
  const mode = statSync(path).mode & MODE_BITS;
  if ((mode & forbidden) === 0) return;
  throw new StartError(
    `${path} has the mode ${mode.toString(8).padStart(4, '0')}, so other users of this machine can ` +
      `${forbidden === OTHERS_ANY ? 'read the hub’s key' : 'replace the hub’s files'}: run ` +
      `\`${remedy} ${path}\`.`,
  );
}

/** Reads a file; creates it with random bytes if it does not exist. */
function readOrCreate(path: string, bytes: number): string {
  if (!existsSync(path)) createRandomFile(path, bytes);
  return readFileSync(path, 'utf8').trim();
}

/** Two processes may start together: `link` succeeds for exactly one of their two files. */
function createRandomFile(path: string, bytes: number): void {
  const draft = `${path}.${process.pid}.new`;
  writeFileSync(draft, `${randomBytes(bytes).toString('base64')}\n`, {
    mode: 0o600,
    flush: true,
  });
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    unlinkSync(draft);
  }
  // After a power cut the file must still have its name: the database remembers the key.
  syncDirectory(dirname(path));
}

/** Makes the entries of a directory durable. */
export function syncDirectory(path: string): void {
  const directory = openSync(path, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}
