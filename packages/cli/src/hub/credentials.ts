import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { readConfigFile, updateConfigFile } from './config-file.ts';

const FILE_NAME = 'credentials.json';

/** A login of this machine to one workspace of one hub. */
export interface Login {
  /** The hub's base URL without a trailing slash. */
  url: string;
  workspaceSlug: string;
  workspaceId: string;
  /** A secret; never printed. */
  token: string;
  /** RFC 3339. */
  loggedInAt: string;
}

/** All logins of this person on this machine, the current one first. */
export async function readLogins(env: NodeJS.ProcessEnv): Promise<Login[]> {
  return loginsOf(await readConfigFile(env, FILE_NAME));
}

/** Saves a login as the current one; it replaces an earlier login to the same workspace. */
export async function saveLogin(env: NodeJS.ProcessEnv, login: Login): Promise<void> {
  await updateConfigFile(env, FILE_NAME, (before) => {
    const others = loginsOf(before).filter((other) => !isSamePlace(other, login));
    return { after: fileOf([login, ...others]), result: undefined };
  });
}

export async function forgetLogin(env: NodeJS.ProcessEnv, login: Login): Promise<void> {
  await updateConfigFile(env, FILE_NAME, (before) => {
    // Compare tokens: the person may have logged in again while this token was being revoked.
    const kept = loginsOf(before).filter(({ token }) => token !== login.token);
    return { after: fileOf(kept), result: undefined };
  });
}

export function isSamePlace(
  a: Pick<Login, 'url' | 'workspaceSlug'>,
  b: Pick<Login, 'url' | 'workspaceSlug'>,
): boolean {
  return a.url === b.url && a.workspaceSlug === b.workspaceSlug;
}

function fileOf(logins: readonly Login[]): { version: 1; logins: readonly Login[] } {
  return { version: 1, logins };
}

function loginsOf(value: unknown): Login[] {
  if (value === null) return [];
  const { version, logins } = value as { version?: unknown; logins?: unknown };
  if (version !== 1 || !Array.isArray(logins)) {
    throw new CliError(
      exitCodes.failed,
      'CONFIG_UNREADABLE',
      `${FILE_NAME} was written by another version of this command.`,
      { fix: 'Update the command, or delete the file and log in again.' },
    );
  }
  return logins.filter(isLogin);
}

function isLogin(value: unknown): value is Login {
  const fields = ['url', 'workspaceSlug', 'workspaceId', 'token', 'loggedInAt'] as const;
  if (typeof value !== 'object' || value === null) return false;
  return fields.every((field) => typeof (value as Partial<Login>)[field] === 'string');
}
