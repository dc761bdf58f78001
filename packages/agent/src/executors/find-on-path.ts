import { execFile } from 'node:child_process';
import { access, constants, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/** Finds the first executable of this name on the PATH, or null. */
export async function findOnPath(name: string, env: NodeJS.ProcessEnv): Promise<string | null> {
  for (const directory of (env.PATH ?? '').split(delimiter)) {
    const file = join(directory === '' ? '.' : directory, name);
    try {
      await access(file, constants.X_OK);
      if ((await stat(file)).isFile()) return file;
    } catch {
      // Absent or not executable here; try the next directory.
    }
  }
  return null;
}

const VERSION_TIMEOUT_MS = 15_000;
const VERSION_CHARS_MAX = 100;

/** The first line that `--version` prints; null when it fails or prints nothing. */
export function readVersion(file: string, env: NodeJS.ProcessEnv): Promise<string | null> {
  return new Promise((resolve) => {
    execFile(file, ['--version'], { env, timeout: VERSION_TIMEOUT_MS }, (error, stdout) => {
      const line = stdout.split('\n')[0]?.trim() ?? '';
      resolve(error !== null || line === '' ? null : line.slice(0, VERSION_CHARS_MAX));
    });
  });
}
