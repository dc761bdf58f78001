import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import type { DiskSpace } from '../base/disk-space.ts';
import type { SideThread } from '../base/side-thread.ts';
import type { Database } from '../db/engine.ts';
import type { Config } from '../start/config.ts';
import type { HookDeps } from '../start/hooks.ts';
import type { ByteStore } from './bytes/byte-store.ts';
import { createDirectoryStore, shardOf } from './bytes/directory-store.ts';
import { createS3Store } from './bytes/s3-store.ts';
import { deriveUrlKey } from './signed-url.ts';
import { Turns } from './turns.ts';
import type { UploadQuotas } from './usage.ts';

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

/** As a caller of hooks, it offers summaries of long texts. */
export interface UploadDeps extends HookDeps {
  database: Database;
  clock: Clock;
  sideThread: SideThread;
  byteStore: ByteStore;
  quotas: UploadQuotas;
  /** The requests that send bytes, in turn for each upload. */
  arrivals: Turns;
  /** The disk that the bytes are stored on; null: in an object store. */
  disk: DiskSpace | null;
  /** Signs the upload and download URLs of this hub. */
  urlKey: Buffer;
  /** The URL at which clients reach this hub. Known once the hub listens. */
  readonly baseUrl: string;
}

type UploadConfig = Pick<Config, 's3' | 'dataDir' | 'uploadWorkspaceBytes' | 'uploadJobBytes'>;

/**
 * @param config has the directory of uploads, which is used unless an object store is configured.
 * @param disk of that directory.
 */
export function createUploadDeps(
  {
    database,
    clock,
    ids,
    queue,
    decisionWaiters,
    hooks,
    sideThread,
    secretKey,
  }: HookDeps & Pick<UploadDeps, 'database' | 'clock' | 'sideThread'> & { secretKey: Buffer },
  { s3, dataDir, uploadWorkspaceBytes, uploadJobBytes }: UploadConfig,
  address: { readonly baseUrl: string },
  disk: DiskSpace,
): UploadDeps {
  const directory = join(dataDir, DIRECTORY);
  return {
    database,
    clock,
    ids,
    queue,
    decisionWaiters,
    hooks,
    sideThread,
    byteStore:
      s3 === null ? createDirectoryStore(directory) : createS3Store(s3, join(directory, LENT)),
    arrivals: new Turns(),
    quotas: { workspaceBytes: uploadWorkspaceBytes, jobBytes: uploadJobBytes },
    disk: s3 === null ? disk : null,
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
