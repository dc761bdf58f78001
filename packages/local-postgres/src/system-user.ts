import { readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { LocalPostgresError } from './start-error.ts';

/** A user of this machine by numbers. */
export interface SystemUser {
  readonly userId: number;
  readonly groupId: number;
}

const otherMayEnter = 0o001;
const otherMayRun = 0o005;
const ownerMayEnter = 0o100;

/**
 * The user that PostgreSQL runs as, since it refuses to run as root: `nobody` when this process is
 * root's, null (this very user) when it is not.
 *
 * @throws LocalPostgresError when this is root's process and the machine has no such user.
 */
export function choosePostgresUser(): SystemUser | null {
  if (process.getuid?.() !== 0) return null;
  // A number alone would not do: initdb asks for the name of the user that it runs as.
  const entry = /^nobody:[^:]*:(-?\d+):(-?\d+):/m.exec(readFileSync('/etc/passwd', 'utf8'));
  if (entry === null) {
    throw new LocalPostgresError(
      'PostgreSQL does not run as root, and this machine has no user "nobody" to run it as: ' +
        'start as another user.',
    );
  }
  // macOS writes the user as -2.
  return { userId: Number(entry[1]) >>> 0, groupId: Number(entry[2]) >>> 0 };
}

/** Whether the user may enter a folder, that is all folders above it as well. */
export function canEnter(folder: string, user: SystemUser): boolean {
  const { mode, uid } = statSync(folder);
  if ((mode & (uid === user.userId ? ownerMayEnter : otherMayEnter)) === 0) return false;
  const above = dirname(folder);
  return above === folder || canEnter(above, user);
}

/** Whether the user may run a program where it lies. */
export function canRun(file: string, user: SystemUser): boolean {
  return (statSync(file).mode & otherMayRun) === otherMayRun && canEnter(dirname(file), user);
}
