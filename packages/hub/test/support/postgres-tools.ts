import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The PostgreSQL of the tests is a server only; these programs belong to one of the system. */
const programs = ['initdb', 'postgres', 'pg_basebackup', 'pg_dump', 'pg_restore'];

/** The folder of a PostgreSQL of this machine with all its programs, in `bin`; null: none. */
function findInstallation(): string | null {
  const folders: string[] = [];
  try {
    folders.push(join(execFileSync('pg_config', ['--bindir'], { encoding: 'utf8' }).trim(), '..'));
  } catch {
    // Not on the path: Debian has the programs of each version in a folder.
  }
  for (const version of [18, 17, 16, 15]) folders.push(`/usr/lib/postgresql/${version}`);
  const isWhole = (folder: string) =>
    programs.every((program) => existsSync(join(folder, 'bin', program)));
  return folders.find(isWhole) ?? null;
}

/** Why no dump can be made here; undefined when one can. */
export function whyNoPostgresTools(): string | undefined {
  return findInstallation() === null
    ? 'the programs of PostgreSQL are not installed (apt-get install postgresql)'
    : undefined;
}

/** The folder of a PostgreSQL with all its programs. */
export function locatePostgresTools(): string {
  const found = findInstallation();
  if (found === null) throw new Error(whyNoPostgresTools());
  return found;
}
