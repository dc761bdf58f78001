import { createHash } from 'node:crypto';
import {
  createKeyFile,
  deleteKeyFile,
  keyPathOf,
  readKeyFile,
  StartError,
} from './data-directory.ts';
import type { Database, Reader } from './engine.ts';
import { addHubSetting, readHubSetting } from './hub-settings.ts';

const SETTING = 'secret_key_fingerprint';

const OTHER_KEY =
  'The key of this hub is not the one that its database was created with: restore the file ' +
  'secret.key of the data directory, or set SVC_SECRET_KEY to the key of the other hubs.';

/**
 * Returns the hub's key: the one of the settings, or that of the key file. A database without one
 * yet gets a new key file. It must be the key that the database was created with, by its
 * fingerprint: with another, the tokens of running jobs would not match and sealed texts could not
 * be opened. A refused start leaves no key behind.
 *
 * @param configured the key of the settings; null: the key file.
 * @throws StartError
 */
export async function openSecretKey(
  database: Database,
  directoryPath: string,
  configured: Buffer | null,
): Promise<Buffer> {
  const { reader } = database;
  const stored = configured ?? readKeyFile(directoryPath);
  const isNew = stored === null;
  if (isNew && (await readKeyFingerprint(reader)) !== null) throw keyMissing(directoryPath);
  const key = stored ?? createKeyFile(directoryPath);
  if ((await readKeyFingerprint(reader)) === null) {
    await database.write(SETTING, (tx) => addHubSetting(tx, SETTING, fingerprintOf(key)));
  }
  // Of hubs that start together on an empty database, the key of the first one stays.
  if ((await readKeyFingerprint(reader)) === fingerprintOf(key)) return key;
  if (isNew) deleteKeyFile(directoryPath);
  throw new StartError(OTHER_KEY);
}

/** Says what is wrong with the key of a hub that exists; null: it is the key of the database. */
export async function findKeyProblem(
  reader: Reader,
  directoryPath: string,
  configured: Buffer | null,
): Promise<string | null> {
  const known = await readKeyFingerprint(reader);
  if (known === null) return null;
  try {
    const key = configured ?? readKeyFile(directoryPath);
    if (key === null) return keyMissing(directoryPath).message;
    return fingerprintOf(key) === known ? null : OTHER_KEY;
  } catch (error) {
    if (error instanceof StartError) return error.message;
    throw error;
  }
}

/** The fingerprint of the key that a database was created with; null before the first start. */
export function readKeyFingerprint(reader: Reader): Promise<string | null> {
  return readHubSetting(reader, SETTING);
}

export function fingerprintOf(secretKey: Buffer): string {
  return createHash('sha256')
    .update('signalbox secret key fingerprint\0')
    .update(secretKey)
    .digest('hex');
}

function keyMissing(directoryPath: string): StartError {
  return new StartError(
    `The hub's key is missing: copy the file secret.key of the hub to ${keyPathOf(directoryPath)}, ` +
      'or set SVC_SECRET_KEY to it. If it is lost, docs/operate/postgresql.md says what is lost with it.',
  );
}
