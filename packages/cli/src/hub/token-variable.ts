import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';

/** Names the file that hands the token to this program when it starts again. */
const HANDOVER = 'SIGNALBOX_TOKEN_HANDOVER';

/**
 * Takes the token out of the environment of a long-running command, where every process of the same
 * user can read it for as long as the command runs: /proc/PID/environ and `ps e` show the
 * environment that a process was started with, even if the process deletes a variable. So the
 * program starts again in the same process, without the variable, and gets the token from a file
 * that it deletes at once.
 *
 * @returns the environment with the token; the process itself no longer has it.
 */
export function hideTokenVariable(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { [HANDOVER]: file, SIGNALBOX_TOKEN: token, ...rest } = env;
  if (file !== undefined) {
    const handedOver = readFileSync(file, 'utf8');
    rmSync(dirname(file), { recursive: true, force: true });
    delete process.env[HANDOVER];
    return { ...rest, SIGNALBOX_TOKEN: handedOver };
  }
  // Windows has no execve, and does not show the environment of a process to others.
  if (!token || process.execve === undefined || process.platform === 'win32') return env;
  const handover = join(mkdtempSync(join(tmpdir(), 'signalbox-')), 'token');
  writeFileSync(handover, token, { mode: 0o600 });
  process.execve(
    process.execPath,
    [process.execPath, ...process.execArgv, ...process.argv.slice(1)],
    { ...definedOf(rest), [HANDOVER]: handover },
  );
  throw new Error('The program could not be started again.');
}

function definedOf(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/**
 * Reads the token from the variable or from the file that SIGNALBOX_TOKEN_FILE names.
 * @throws {CliError} TOKEN_FILE_UNREADABLE
 */
export function readToken({
  SIGNALBOX_TOKEN: token,
  SIGNALBOX_TOKEN_FILE: file,
}: NodeJS.ProcessEnv): string | undefined {
  if (token || !file) return token || undefined;
  let text = '';
  let why = 'it is empty';
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (error) {
    why = (error as Error).message;
  }
  if (text !== '') return text;
  const message = `SIGNALBOX_TOKEN_FILE names ${file}, which holds no token: ${why}.`;
  throw new CliError(exitCodes.usage, 'TOKEN_FILE_UNREADABLE', message, {
    fix: 'Write the token into the file, or unset SIGNALBOX_TOKEN_FILE.',
  });
}
