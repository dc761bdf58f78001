import { randomBytes } from 'node:crypto';
import { chmod, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { CliError } from './cli-error.ts';
import { exitCodes } from './exit-codes.ts';

const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;
const LOCK_POLL_MS = 20;
/** Nobody holds the lock for longer than it takes to write a small file. */
const LOCK_STALE_MS = 5_000;

/** Where logins and linked clones are kept. */
export function configDirectory(env: NodeJS.ProcessEnv): string {
  if (env.SIGNALBOX_CONFIG_DIR) return env.SIGNALBOX_CONFIG_DIR;
  return join(env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'signalbox');
}

/** Where agents keep what must outlive their process. */
export function stateDirectory(env: NodeJS.ProcessEnv): string {
  if (env.SIGNALBOX_STATE_DIR) return env.SIGNALBOX_STATE_DIR;
  return join(env.XDG_STATE_HOME || join(homedir(), '.local', 'state'), 'signalbox');
}

/**
 * Reads a JSON file of the configuration directory; null when there is none.
 * @throws {CliError} CONFIG_UNREADABLE: it is there and cannot be used.
 */
export async function readConfigFile(env: NodeJS.ProcessEnv, name: string): Promise<unknown> {
  const file = join(configDirectory(env), name);
  try {
    const text = await readFile(file, 'utf8');
    // Others could read it, for instance after a restore from a backup: closed again at once.
    if (((await stat(file)).mode & 0o077) !== 0) await chmod(file, FILE_MODE);
    return JSON.parse(text);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    const reason = error instanceof SyntaxError ? 'is not JSON' : `cannot be read (${error})`;
    throw new CliError(exitCodes.failed, 'CONFIG_UNREADABLE', `${file} ${reason}.`, {
      fix: 'Mend the file, or move it away and log in again.',
      cause: error,
    });
  }
}

/**
 * Changes a file of the configuration directory, whole or not at all, readable by its owner alone.
 * Two commands that do so at once take turns.
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
