import { createHash } from 'node:crypto';
import { StartError } from './data-directory.ts';
import type { Database } from './engine.ts';

const SETTING = 'secret_key_fingerprint';

/**
 * Holds the hub's key against the one that its database was made with. With another, every token
 * of a job that runs would be wrong and nothing that was sealed could be opened.
 *
 * @throws StartError
 */
export async function checkSecretKey(database: Database, secretKey: Buffer): Promise<void> {
  const fingerprint = createHash('sha256')
    .update('signalbox secret key fingerprint\0')
    .update(secretKey)
    .digest('hex');
  const known = (await readFingerprint(database)) ?? (await keepFingerprint(database, fingerprint));
  if (known === fingerprint) return;
  throw new StartError(
    'The key of this hub is not the one that its database was made with: restore the file ' +
      'secret.key of the data directory, or set SVC_SECRET_KEY to the key of the other hubs.',
  );
}

async function readFingerprint({ reader }: Database): Promise<string | null> {
  const row = await reader.firstSql<{ value: string }>(
    'SELECT value FROM hub_settings WHERE name = ?',
    [SETTING],
  );
  return row?.value ?? null;
}

/** Of hubs that start together on a new database, the first one's key is the key. */
async function keepFingerprint(database: Database, fingerprint: string): Promise<string | null> {
  await database.write(null, (tx) =>
    tx.runSql('INSERT INTO hub_settings (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING', [
      SETTING,
      fingerprint,
    ]),
  );
  return readFingerprint(database);
}
