import { randomBytes } from 'node:crypto';
import { chmod, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';

const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;
const LOCK_POLL_MS = 20;
/** The lock is held only while a small file is written. */
const LOCK_STALE_MS = 5_000;

/** Directory of logins and linked clones. */
export function configDirectory(env: NodeJS.ProcessEnv): string {
  if (env.SIGNALBOX_CONFIG_DIR) return env.SIGNALBOX_CONFIG_DIR;
  return join(env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'signalbox');
}

/** Directory of the persistent state of agents. */
export function stateDirectory(env: NodeJS.ProcessEnv): string {
  if (env.SIGNALBOX_STATE_DIR) return env.SIGNALBOX_STATE_DIR;
  return join(env.XDG_STATE_HOME || join(homedir(), '.local', 'state'), 'signalbox');
}

/**
 * Reads a JSON file of the configuration directory; null if it does not exist.
 * @throws {CliError} CONFIG_UNREADABLE: the file is unreadable or invalid.
 */
export async function readConfigFile(env: NodeJS.ProcessEnv, name: string): Promise<unknown> {
  const file = join(configDirectory(env), name);
  try {
    const text = await readFile(file, 'utf8');
    // Restrict access if others can read the file, for instance after a restore from a backup.
    if (((await stat(file)).mode & 0o077) !== 0) await chmod(file, FILE_MODE);
    return JSON.parse(text);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    const reason =
      error instanceof SyntaxError ? 'is not valid JSON' : `is not readable (${error})`;
    throw new CliError(exitCodes.failed, 'CONFIG_UNREADABLE', `${file} ${reason}.`, {
      fix: 'Fix the file, or delete it and log in again.',
      cause: error,
    });
  }
}

/**
 * Changes a file of the configuration directory atomically; only its owner can read it. Concurrent
 * commands wait for each other.
 */
export async function updateConfigFile<T>(
  env: NodeJS.ProcessEnv,
  name: string,
  change: (before: unknown) => { after: unknown; result: T },
): Promise<T> {
  const directory = configDirectory(env);
  await mkdir(directory, { recursive: true, mode: DIRECTORY_MODE });
  const file = join(directory, name);
  const lock = `${file}.lock`;
  await takeLock(lock);
  try {
    const { after, result } = change(await readConfigFile(env, name));
    const draft = `${file}.${randomBytes(6).toString('hex')}`;
    const handle = await open(draft, 'wx', FILE_MODE);
    try {
      await handle.writeFile(`${JSON.stringify(after, null, 2)}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, file);
    return result;
  } finally {
    await rm(lock, { recursive: true, force: true });
  }
}

async function takeLock(lock: string): Promise<void> {
  for (;;) {
    try {
      await mkdir(lock);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const held = await stat(lock).catch(() => null);
    if (held !== null && Date.now() - held.mtimeMs > LOCK_STALE_MS) {
      await rm(lock, { recursive: true, force: true });
    } else {
      await wait(LOCK_POLL_MS);
    }
  }
}
