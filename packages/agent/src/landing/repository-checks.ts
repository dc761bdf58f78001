import { isObject } from '../executors/json-fields.ts';
import { CommitFileError, readCommitFile } from '../git/commit-file.ts';
import type { Worktree } from '../git/git-worktree.ts';
import {
  CHECK_COMMAND_CHARS_MAX,
  CHECK_LIMIT_MS_MAX,
  CHECK_NAME_CHARS_MAX,
  CHECKS_MAX,
  type CheckCommand,
} from './landing-options.ts';

const CHECKS_FILE = '.signalbox/checks.json';

/** The repository's list of checks cannot be used; the message says why. */
export class ChecksFileError extends Error {
  override name = 'ChecksFileError';
}

/**
 * Reads the checks of a repository from a commit that no tool can change, so that none chooses what
 * proves its work.
 *
 * @returns no checks if the commit has no such file.
 * @throws {ChecksFileError}
 */
export async function readRepositoryChecks({ mirror, baseSha }: Worktree): Promise<CheckCommand[]> {
  try {
    const file = await readCommitFile(mirror, baseSha, CHECKS_FILE);
    return file === null ? [] : readChecks(JSON.parse(file.text));
  } catch (error) {
    if (error instanceof CommitFileError) throw fail(error.message);
    if (error instanceof SyntaxError) throw fail('is not valid JSON');
    throw error;
  }
}

/** @throws {ChecksFileError} */
function readChecks(file: unknown): CheckCommand[] {
  const checks = isObject(file) ? file.checks : undefined;
  if (!Array.isArray(checks)) throw fail('must be an object with a list "checks"');
  if (checks.length > CHECKS_MAX) throw fail(`must have at most ${CHECKS_MAX} checks`);
  return checks.map((check, at) => readCheck(check, `checks[${at}]`));
}

function readCheck(check: unknown, place: string): CheckCommand {
  if (!isObject(check)) throw fail(`must have an object in ${place}`);
  const { command, name, timeLimitMs, ...others } = check;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw fail(`has the unknown field ${place}.${unknown}`);
  if (!isText(command, CHECK_COMMAND_CHARS_MAX)) {
    throw fail(`must have a command in ${place}, up to ${CHECK_COMMAND_CHARS_MAX} characters`);
  }
  if (name !== undefined && !isText(name, CHECK_NAME_CHARS_MAX)) {
    throw fail(`must have text in ${place}.name, up to ${CHECK_NAME_CHARS_MAX} characters`);
  }
  if (timeLimitMs !== undefined && !isLimit(timeLimitMs)) {
    throw fail(`must have milliseconds in ${place}.timeLimitMs, up to ${CHECK_LIMIT_MS_MAX}`);
  }
  return {
    command,
    ...(name === undefined ? {} : { name }),
    ...(timeLimitMs === undefined ? {} : { timeLimitMs }),
  };
}

function isText(value: unknown, charsMax: number): value is string {
  if (typeof value !== 'string' || value.trim() === '') return false;
  return value.length <= charsMax && !value.includes('\0');
}

function isLimit(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= CHECK_LIMIT_MS_MAX;
}

function fail(what: string): ChecksFileError {
  return new ChecksFileError(`${CHECKS_FILE} ${what}.`);
}
