import { join } from 'node:path';
import type { IdSource } from '@signalbox/contract';
import type { Clock } from '../clock.ts';
import type { Config, S3Config } from '../config.ts';
import type { Database } from '../db/engine.ts';
import type { Queue } from '../queue/queue.ts';
import type { ByteStore } from './bytes/byte-store.ts';
import { createDirectoryStore } from './bytes/directory-store.ts';
import { createS3Store } from './bytes/s3-store.ts';
import { deriveUrlKey } from './signed-url.ts';

/** Within the data directory. */
const DIRECTORY = 'uploads';
/** Where objects of an object store lie while their text is extracted. */
const LENT = 'lent';
/** The archive's own directory, beside that of uploads. */
const ARCHIVE = 'archive';

export interface UploadDeps {
  database: Database;
  clock: Clock;
  ids: IdSource;
  /** Long texts are offered to it for a summary. */
  queue: Queue;
  byteStore: ByteStore;
  /** Signs the URLs that lead to this hub. */
  urlKey: Buffer;
  /** Where clients reach this hub; known once it listens. */
  readonly baseUrl: string;
}

/** @param dataDir where uploads lie unless an object store is configured. */
export function createUploadDeps(
  {
    database,
    clock,
    ids,
    queue,
    secretKey,
  }: Pick<UploadDeps, 'database' | 'clock' | 'ids' | 'queue'> & {
    secretKey: Buffer;
  },
  { s3, dataDir }: { s3: S3Config | null; dataDir: string },
  address: { readonly baseUrl: string },
): UploadDeps {
  const directory = join(dataDir, DIRECTORY);
  return {
    database,
    clock,
    ids,
    queue,
    byteStore:
      s3 === null ? createDirectoryStore(directory) : createS3Store(s3, join(directory, LENT)),
    urlKey: deriveUrlKey(secretKey),
    get baseUrl() {
      return address.baseUrl;
    },
  };
}

/**
 * Where the archive of jobs is kept: in the object store when there is one, which all hubs share;
 * otherwise in the data directory, in a directory for each workspace and month.
 */
export function createArchiveStore({
  archiveJobs,
  s3,
  dataDir,
}: Pick<Config, 'archiveJobs' | 's3' | 'dataDir'>): ByteStore | null {
  if (!archiveJobs) return null;
  if (s3 !== null) return createS3Store(s3, join(dataDir, DIRECTORY, LENT));
  return createDirectoryStore(join(dataDir, ARCHIVE), (key) => {
    const [workspaceId = '', month = ''] = key.split('.');
    return join(workspaceId, month);
  });
}
