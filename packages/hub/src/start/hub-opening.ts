import { createIdSource, type Endpoint, type IdSource, VERSION } from '@signalbox/contract';
import { type Clock, systemClock } from '../base/clock.ts';
import type { ReadFree } from '../base/disk-space.ts';
import { StartStatus } from '../base/start-status.ts';
import { ChangeFeed } from '../changes/change-feed.ts';
import { watchWrites } from '../changes/watch-writes.ts';
import {
  correctClock,
  createDatabaseClock,
  type DatabaseClock,
} from '../cluster/database-clock.ts';
import { type LineageWatch, openLineage } from '../cluster/database-lineage.ts';
import { removeHubAddress } from '../cluster/hub-address.ts';
import { createSingleHub, type HubGroup } from '../cluster/hub-group.ts';
import { SchemaWatch, watchSchema } from '../cluster/schema-watch.ts';
import { lockDataDirectory, prepareDataDirectory } from '../db/data-directory.ts';
import type { Database } from '../db/engine.ts';
import { guardWrites } from '../db/guard-writes.ts';
import { noProgress } from '../db/migrate.ts';
import { type Migration, migrations } from '../db/migrations/index.ts';
import { openMigrated } from '../db/open-database.ts';
import { openSecretKey } from '../db/secret-key.ts';
import { HubPort } from '../http/hub-port.ts';
import type { PasswordHasher } from '../people/passwords.ts';
import { placeOfBytes } from '../uploads/bytes-place.ts';
import type { Config } from './config.ts';

/** PostgreSQL may start together with the hub, or on a machine that is busy. */
const DATABASE_WAIT_MS = 30_000;
/** A migration that takes longer says how far it is, and again after this time. */
const PROGRESS_INTERVAL_MS = 5_000;

export interface HubOptions {
  config: Config;
  /** The built console; absent: a page that says how to build it. */
  consoleDir?: string;
  clock?: Clock;
  /** Hashes people's passwords; absent: by argon2. Tests that hash many take a cheap one. */
  passwords?: PasswordHasher;
  /** Reads the free space of the data directory; absent: from the file system. */
  readFreeSpace?: ReadFree;
  /** Holds every answer against its schema; for tests. */
  checkAnswer?: (endpoint: Endpoint, answer: unknown) => void;
  /** Called with a sentence when the start waits for PostgreSQL, and each 5 s of a migration. */
  onWait?: (text: string) => void;
  /** Those of another version of Signalbox, in tests. */
  migrations?: readonly Migration[];
  /**
   * Called when SQLite's disk has failed to keep what was written: the hub refuses everything, and
   * the caller must end this process without `stop` (docs/decisions/0015).
   */
  onDiskFailure?: (error: Error) => void;
  /**
   * Called when PostgreSQL was restored to an earlier state while the hub ran: it refuses
   * everything, and the caller must stop it and end this process.
   */
  onDatabaseRestored?: () => void;
  /** Tests lower it to copy SQLite's log often. */
  checkpointPages?: number;
}

/** The parts of a hub that are open before its modules are composed. */
export interface OpenedHub {
  /** Absolute path of the data directory. */
  directoryPath: string;
  port: HubPort;
  database: Database;
  clock: Clock;
  ids: IdSource;
  secretKey: Buffer;
  /** The streams of changes. */
  feed: ChangeFeed;
  group: HubGroup;
  schema: SchemaWatch;
  /** Lets another hub use the data directory. */
  unlock(): void;
  /** Closes all. */
  abandon(): Promise<void>;
}

/**
 * Opens the data directory, the port and the database of a hub. The port answers from then on.
 *
 * @throws StartError, SchemaVersionError: one sentence that says what to do; an error of listening
 */
export async function openHub(options: HubOptions): Promise<OpenedHub> {
  const { config, clock = systemClock } = options;
  const directory = prepareDataDirectory(config.dataDir, {
    holdsDatabase: config.databaseUrl === null,
  });
  // Hubs that share a PostgreSQL may share a machine and its data directory too.
  const unlock = config.databaseUrl === null ? lockDataDirectory(directory.path) : () => undefined;
  // A hub that was killed leaves its address behind.
  if (config.databaseUrl === null) removeHubAddress(directory.path);
  const opened: { port?: HubPort; database?: Database } = {};
  const abandon = async () => {
    await opened.port?.abort();
    await opened.database?.close();
    unlock();
  };
  try {
    const status = new StartStatus();
    // Without a database there is no clock but this one.
    const port = await HubPort.open(config, status, createIdSource(clock.nowMs));
    opened.port = port;
    const schema = new SchemaWatch((options.migrations ?? migrations).at(-1)?.version ?? 0);
    const migrated = await openMigratedDatabase(options, directory.databasePath, status);
    opened.database = migrated;
    const feed = new ChangeFeed();
    watchWrites(migrated, (changes) => feed.announce(changes));
    const database = guardWrites(watchSchema(migrated, schema));
    // Hubs that share a database use its clock, not those of their machines.
    const isShared = database.engine === 'postgres' && clock === systemClock;
    const databaseClock = isShared ? createDatabaseClock() : null;
    if (databaseClock !== null) await correctClock(databaseClock, database.reader);
    const hubClock = databaseClock ?? clock;
    const watches = {
      directoryId: placeOfBytes(config, directory.directoryId),
      clock: databaseClock,
      schema,
    };
    return {
      directoryPath: directory.path,
      port,
      database,
      feed,
      schema,
      unlock,
      abandon,
      clock: hubClock,
      ids: createIdSource(hubClock.nowMs),
      secretKey: await openSecretKey(database, directory.path, config.secretKey),
      group: await openGroup(config, watches, () => openLineage(migrated, directory.path)),
    };
  } catch (error) {
    await abandon();
    throw error;
  }
}

/** Opens the database, and says meanwhile what the start waits for. */
async function openMigratedDatabase(
  options: HubOptions,
  path: string,
  status: StartStatus,
): Promise<Database> {
  const { config, clock = systemClock, onDiskFailure, checkpointPages } = options;
  const { onWait = () => undefined } = options;
  const progress = noProgress();
  const report = setInterval(() => {
    if (progress[0] !== 0) onWait(status.sentence);
  }, PROGRESS_INTERVAL_MS);
  status.begin(() =>
    progress[0] === 0
      ? 'it waits for its database, which another hub may be migrating'
      : `it migrates its database, step ${progress[0]} of ${progress[1]}`,
  );
  try {
    return await openMigrated(config, path, clock, {
      sqlite: {
        // The lock says that this is the only hub on the file.
        emptiesLog: true,
        ...(onDiskFailure === undefined ? {} : { onDiskFailure }),
        ...(checkpointPages === undefined ? {} : { checkpointPages }),
      },
      wait: { waitMs: DATABASE_WAIT_MS, onWait },
      migrations: options.migrations ?? migrations,
      progress,
    });
  } finally {
    clearInterval(report);
  }
}

/** Loads PostgreSQL's driver only if it is used. */
async function openGroup(
  { databaseUrl, databasePooled }: Config,
  watches: { directoryId: string; clock: DatabaseClock | null; schema: SchemaWatch },
  openLineage: () => Promise<LineageWatch>,
): Promise<HubGroup> {
  if (databaseUrl === null) return createSingleHub(watches.directoryId);
  const { createHubGroup } = await import('../cluster/postgres-hub-group.ts');
  const connection = { url: databaseUrl, isPooled: databasePooled, connectMs: 3_000 };
  const lineage = await openLineage();
  return createHubGroup({ ...connection, ...watches, version: VERSION, lineage });
}
