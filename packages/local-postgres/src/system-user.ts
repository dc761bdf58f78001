import { readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { LocalPostgresError } from './start-error.ts';

/** A user of this machine, by IDs. */
export interface SystemUser {
  readonly userId: number;
  readonly groupId: number;
}

const otherMayEnter = 0o001;
const otherMayRun = 0o005;
const ownerMayEnter = 0o100;

/**
 * Chooses the user for PostgreSQL, which refuses to run as root: `nobody` if this process runs as
 * root, otherwise null (the current user).
 *
 * @throws LocalPostgresError if this process runs as root and the machine has no user `nobody`.
 */
export function choosePostgresUser(): SystemUser | null {
  if (process.getuid?.() !== 0) return null;
  // A numeric ID alone is not enough: initdb looks up the name of its user.
  const entry = /^nobody:[^:]*:(-?\d+):(-?\d+):/m.exec(readFileSync('/etc/passwd', 'utf8'));
  if (entry === null) {
    throw new LocalPostgresError(
      'PostgreSQL does not run as root, and this machine has no user "nobody" to run it: ' +
        'run this command as another user.',
    );
  }
  // macOS uses the user ID -2.
  return { userId: Number(entry[1]) >>> 0, groupId: Number(entry[2]) >>> 0 };
}

/** Whether the user may enter a folder, which requires access to all its parents. */
export function canEnter(folder: string, user: SystemUser): boolean {
  const { mode, uid } = statSync(folder);
  if ((mode & (uid === user.userId ? ownerMayEnter : otherMayEnter)) === 0) return false;
  const above = dirname(folder);
  return above === folder || canEnter(above, user);
}

/** Whether the user may run a program at its current path. */
export function canRun(file: string, user: SystemUser): boolean {
  return (statSync(file).mode & otherMayRun) === otherMayRun && canEnter(dirname(file), user);
}
