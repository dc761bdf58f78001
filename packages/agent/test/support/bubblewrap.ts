import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The directory of `bwrap` for tests, and why it does not work here; null: it does. */
export interface FoundBubblewrap {
  directory: string;
  lack: string | null;
}

/**
 * Finds bubblewrap: in the directory of the variable `TEST_BUBBLEWRAP`, or on the PATH. It must not
 * be installed on machines that test the sandbox of Codex, which uses it there as well.
 */
export function findBubblewrap(): FoundBubblewrap {
  const directories = [process.env.TEST_BUBBLEWRAP ?? '', ...pathDirectories()];
  const directory = directories.find((each) => each !== '' && existsSync(join(each, 'bwrap')));
  if (directory === undefined) return { directory: '', lack: 'bubblewrap is not installed' };
  const args = ['--ro-bind', '/', '/', '--proc', '/proc', '--unshare-pid', 'true'];
  const { status, stderr } = spawnSync(join(directory, 'bwrap'), args, { encoding: 'utf8' });
  return { directory, lack: status === 0 ? null : stderr.trim() };
}

const pathDirectories = () => (process.env.PATH ?? '').split(delimiter);

/** The PATH without bubblewrap, or with one in the first place. */
export function pathWith(directory: string | null): string {
  const others = pathDirectories().filter((each) => !existsSync(join(each, 'bwrap')));
  return [...(directory === null ? [] : [directory]), ...others].join(delimiter);
}
