import { join } from 'node:path';
import type { IdSource } from '@signalbox/contract';
import type { Clock } from '../clock.ts';
import type { Config, S3Config } from '../config.ts';
import type { Database } from '../db/engine.ts';
import type { Hooks } from '../hooks.ts';
import type { Queue } from '../queue/queue.ts';
import type { ByteStore } from './bytes/byte-store.ts';
import { createDirectoryStore, shardOf } from './bytes/directory-store.ts';
import { createS3Store } from './bytes/s3-store.ts';
import { deriveUrlKey } from './signed-url.ts';

/** The directory of uploads within the data directory. */
const DIRECTORY = 'uploads';
/** For temporary copies of objects of an object store, while their text is extracted. */
const LENT = 'lent';
/** The directory of the archive within the data directory. */
const ARCHIVE = 'archive';

/** The file of an upload's bytes, within the data directory. */
export function uploadPath(key: string): string {
  return join(DIRECTORY, shardOf(key), key);
}

/** A file of the archive, within the data directory. */
export function archivePath(key: string): string {
  return join(ARCHIVE, archiveFolderOf(key), key);
}

function archiveFolderOf(key: string): string {
  const [workspaceId = '', month = ''] = key.split('.');
  return join(workspaceId, month);
}

export interface UploadDeps {
  database: Database;
  clock: Clock;
  ids: IdSource;
  /** Enqueues the summaries of long texts. */
  queue: Queue;
  hooks: Hooks;
  byteStore: ByteStore;
  /** Signs the upload and download URLs of this hub. */
  urlKey: Buffer;
  /** The URL at which clients reach this hub. Known once the hub listens. */
  readonly baseUrl: string;
}

/** @param dataDir the directory of uploads unless an object store is configured. */
export function createUploadDeps(
  {
    database,
    clock,
    ids,
    queue,
    hooks,
    secretKey,
  }: Pick<UploadDeps, 'database' | 'clock' | 'ids' | 'queue' | 'hooks'> & {
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
    hooks,
    byteStore:
      s3 === null ? createDirectoryStore(directory) : createS3Store(s3, join(directory, LENT)),
    urlKey: deriveUrlKey(secretKey),
    get baseUrl() {
      return address.baseUrl;
    },
  };
}

/**
 * Creates the store of archived jobs: in the object store that all hubs share, if one is
 * configured; otherwise in the data directory, with a directory for each workspace and month.
 */
export function createArchiveStore({
  archiveJobs,
  s3,
  dataDir,
}: Pick<Config, 'archiveJobs' | 's3' | 'dataDir'>): ByteStore | null {
  if (!archiveJobs) return null;
  if (s3 !== null) return createS3Store(s3, join(dataDir, DIRECTORY, LENT));
  return createDirectoryStore(join(dataDir, ARCHIVE), archiveFolderOf);
}
