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
   * true: commits survive a power cut, as in production. false (the default): they survive the
   * death of any client, which is enough for tests of logic, and nothing waits for the disk.
   */
  readonly durable?: boolean;
  /** Further settings of postgres(1), by name. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Further arguments of initdb(1), such as another locale; of several the last one counts. */
  readonly initdbArguments?: readonly string[];
  /** A PostgreSQL of the machine (its `bin` is in there), in place of the installed one. */
  readonly binaries?: string;
}

export interface LocalPostgres {
  /** Of the database `postgres`, over TCP on 127.0.0.1, with the password. */
  readonly url: string;
  /** The same over the Unix socket. */
  readonly socketUrl: string;
  /** Everything that the server writes. */
  readonly folder: string;
  /** Ends it as `signal` does (SIGKILL: as in a crash), and keeps its files. */
  end(signal: EndSignal): Promise<void>;
  /** Starts it again after `end`, at the same addresses. */
  startAgain(): Promise<void>;
  /** Ends it and removes all that it wrote. */
  stop(): Promise<void>;
}

const commonSettings = {
  max_connections: '300',
  // Not in /dev/shm, which is small in containers and where a killed server leaves files.
  dynamic_shared_memory_type: 'mmap',
  log_min_messages: 'log',
  // Statements that a test has refused are expected.
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
 * Starts a PostgreSQL of its own for this process, on files of its own, and resolves when it
 * answers. It ends with this process at the latest, however that ends, and leaves nothing.
 *
 * Any user may call this; for root, which PostgreSQL refuses, the server runs as `nobody`.
 *
 * @throws LocalPostgresError one sentence, and what PostgreSQL printed.
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
        // PostgreSQL 16 and later; the password is random, so that hashing it again and again, for
        // each connection, would add nothing.
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

/** The temporary folder, unless it is one that only this user may enter. */
function chooseParent(user: SystemUser | null): string {
  const parents = [tmpdir(), '/tmp', '/var/tmp'];
  const found = parents.find((parent) => user === null || canEnter(parent, user));
  if (found !== undefined) return found;
  throw new LocalPostgresError(
    `The user that PostgreSQL runs as may enter none of ${parents.join(', ')}: set TMPDIR.`,
  );
}

async function startKeeper(order: KeeperOrder, password: string): Promise<LocalPostgres> {
  // In a session of its own, so that Ctrl-C reaches whoever uses the server first.
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
