import { resolve } from 'node:path';
import { StartError } from '../db/data-directory.ts';
import { readHubSetting, writeHubSetting } from '../db/hub-settings.ts';
import type { Config } from '../start/config.ts';
import type { UploadDeps } from './deps.ts';
import { readNewestStored } from './store.ts';

/** The place of the bytes of uploads that the hubs of this database use. */
const SETTING = 'uploads_place';

/** Where a hub looks for the bytes of uploads. */
export interface BytesPlace {
  /** Identifies the directory or bucket. */
  id: string;
  /** For people: its path or address. */
  name: string;
}

/** Identifies the place of uploaded bytes; hubs with equal places find each other's uploads. */
export function placeOfBytes({ s3 }: Config, directoryId: string): string {
  return s3 === null ? directoryId : `${s3.endpoint}/${s3.bucket}`;
}

export function nameOfBytesPlace({ s3, dataDir }: Config): string {
  return s3 === null ? resolve(dataDir, 'uploads') : `${s3.endpoint}/${s3.bucket}`;
}

/**
 * Checks that a starting hub finds the bytes of earlier uploads. Another place than that of the
 * last start is accepted when the newest upload is there, as in a copy of the data directory.
 *
 * @throws StartError
 */
export async function checkBytesPlace(
  { database, byteStore }: Pick<UploadDeps, 'database' | 'byteStore'>,
  place: BytesPlace,
): Promise<void> {
  if ((await readHubSetting(database.reader, SETTING)) === place.id) return;
  const newest = await readNewestStored(database.reader);
  if (newest !== undefined) {
    const bytes = await byteStore.read(newest.object_key, null);
    bytes?.destroy();
    if (bytes === null) throw new StartError(missingSentence(newest.upload_id, place));
  }
  await database.write(SETTING, (tx) => writeHubSetting(tx, SETTING, place.id));
}

function missingSentence(uploadId: string, { id, name }: BytesPlace): string {
  return (
    `The database has uploads whose bytes are not in ${name}, such as ${uploadId}: mount or ` +
    'restore the directory or bucket that the hub used before, or set SVC_DATA_DIR or SVC_S3_* ' +
    `to it. docs/operate/postgresql.md says how to accept this place (${id}) if those bytes are lost.`
  );
}
