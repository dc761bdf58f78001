import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { locateBinaries, prepareBinaries } from './binaries.ts';
import { KeeperLine } from './keeper-line.ts';
import {
  type EndSignal,
  type KeeperOrder,
  passwordFileName,
  socketFolderName,
  superUser,
} from './keeper-protocol.ts';
import { folderPrefix, removeStaleFolders } from './stale-folders.ts';
import { LocalPostgresError } from './start-error.ts';
import { canEnter, choosePostgresUser, type SystemUser } from './system-user.ts';

export interface LocalPostgresOptions {
  /**
   * true: commits survive a power failure, as in production. false (the default): they survive the
   * death of any client, which is enough for tests of logic, and no commit waits for the disk.
   */
  readonly durable?: boolean;
  /** Additional settings of postgres(1), by name. */
  readonly settings?: Readonly<Record<string, string>>;
  /**
   * Additional arguments of initdb(1), such as another locale; the last of several takes effect.
   */
  readonly initdbArguments?: readonly string[];
  /** The folder of another PostgreSQL installation (the parent of its `bin`). */
  readonly binaries?: string;
}

export interface LocalPostgres {
  /** URL of the database `postgres`, over TCP on 127.0.0.1, with the password. */
  readonly url: string;
  /** The same database over the Unix socket. */
  readonly socketUrl: string;
  /** The folder of all files that the server writes. */
  readonly folder: string;
  /** Ends the server with `signal` (SIGKILL: as in a crash) and keeps its files. */
  end(signal: EndSignal): Promise<void>;
  /** Restarts the server after `end`, at the same addresses. */
  startAgain(): Promise<void>;
  /** Ends the server and removes all its files. */
  stop(): Promise<void>;
}

const commonSettings = {
  max_connections: '300',
  // Not /dev/shm, which is small in containers and keeps files of killed servers.
  dynamic_shared_memory_type: 'mmap',
  log_min_messages: 'log',
  // Tests provoke rejected statements, so do not log those.
  log_min_error_statement: 'panic',
};

const hastySettings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
};

/**
 * Starts a separate PostgreSQL with its own files for this process, and resolves when it accepts
 * connections. It ends at the latest with this process, for any kind of exit, and leaves no files.
 *
 * Any user may call this. PostgreSQL refuses to run as root, so for root it runs as `nobody`.
 *
 * @throws LocalPostgresError with one sentence and PostgreSQL's output.
 */
export async function startLocalPostgres(
  options: LocalPostgresOptions = {},
): Promise<LocalPostgres> {
  const user = choosePostgresUser();
  const parent = chooseParent(user);
  await removeStaleFolders(parent);
  const folder = mkdtempSync(join(parent, folderPrefix));
  try {
    const order: KeeperOrder = {
      binaries: prepareBinaries(
        options.binaries ?? locateBinaries(),
        user,
        join(folder, 'binaries'),
      ),
      folder,
      user,
      initdbArguments: [
        '--locale=C',
        // PostgreSQL 16 and later. The password is random, so repeated hashing for each connection
        // would add no security.
        ...(options.binaries === undefined ? ['--set=scram_iterations=1'] : []),
        ...(options.initdbArguments ?? []),
      ],
      settings: {
        ...commonSettings,
        ...(options.durable ? {} : hastySettings),
        ...options.settings,
      },
    };
    const password = randomBytes(24).toString('base64url');
    const passwordFile = join(folder, passwordFileName);
    writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
    const socketFolder = join(folder, socketFolderName);
    mkdirSync(socketFolder);
    for (const path of [folder, passwordFile, socketFolder]) {
      if (user !== null) chownSync(path, user.userId, user.groupId);
    }
    return await startKeeper(order, password);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Chooses the temporary folder, unless other users cannot enter it. */
function chooseParent(user: SystemUser | null): string {
  const parents = [tmpdir(), '/tmp', '/var/tmp'];
  const found = parents.find((parent) => user === null || canEnter(parent, user));
  if (found !== undefined) return found;
  throw new LocalPostgresError(
    `The PostgreSQL user cannot enter any of ${parents.join(', ')}: set TMPDIR to another folder.`,
  );
}

async function startKeeper(order: KeeperOrder, password: string): Promise<LocalPostgres> {
  // In its own session, so that Ctrl-C reaches the users of the server first.
  const child = spawn(process.execPath, [join(import.meta.dirname, 'keeper.ts')], {
    cwd: order.folder,
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });
  const keeper = new KeeperLine(child);
  const port = await keeper.ask(order, 'did not start');
  const login = `${superUser}:${password}`;
  const socketFolder = encodeURIComponent(join(order.folder, socketFolderName));
  return {
    url: `postgres://${login}@127.0.0.1:${port}/postgres`,
    socketUrl: `postgres://${login}@/postgres?host=${socketFolder}&port=${port}`,
    folder: order.folder,
    async end(signal) {
      await keeper.ask({ end: signal }, 'did not end');
    },
    async startAgain() {
      await keeper.ask({ start: true }, 'did not start again');
    },
    stop: () => keeper.end(),
  };
}
