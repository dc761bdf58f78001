import { access, constants, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { runProgram } from '../process/run-program.ts';

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

const VERSION_MS_MAX = 15_000;
const VERSION_CHARS_MAX = 100;

/** The first line that `--version` prints; null when it fails or prints nothing. */
export async function readVersion(file: string, env: NodeJS.ProcessEnv): Promise<string | null> {
  const printed = await runProgram(file, ['--version'], { env, limitMs: VERSION_MS_MAX }).catch(
    () => null,
  );
  const line = printed?.stdout.split('\n')[0]?.trim() ?? '';
  return line === '' ? null : line.slice(0, VERSION_CHARS_MAX);
}
