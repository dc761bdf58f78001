import { createHash } from 'node:crypto';
import { StartError } from './data-directory.ts';
import type { Database } from './engine.ts';
import { addHubSetting, readHubSetting } from './hub-settings.ts';

const SETTING = 'secret_key_fingerprint';

/**
 * Checks that the hub's key is the one that its database was created with, by its fingerprint. With
 * another key, the tokens of running jobs would not match and sealed texts could not be opened.
 *
 * @throws StartError
 */
export async function checkSecretKey(database: Database, secretKey: Buffer): Promise<void> {
  const fingerprint = createHash('sha256')
    .update('signalbox secret key fingerprint\0')
    .update(secretKey)
    .digest('hex');
  const { reader } = database;
  let known = await readHubSetting(reader, SETTING);
  if (known === null) {
    await database.write(null, (tx) => addHubSetting(tx, SETTING, fingerprint));
    known = await readHubSetting(reader, SETTING);
  }
  if (known === fingerprint) return;
  throw new StartError(
    'The key of this hub is not the one that its database was created with: restore the file ' +
      'secret.key of the data directory, or set SVC_SECRET_KEY to the key of the other hubs.',
  );
}
