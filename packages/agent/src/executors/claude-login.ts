import { tmpdir } from 'node:os';
import { type ProgramError, runProgram } from '../process/run-program.ts';
import { ExecutorLoginError } from './executor.ts';
import { findOnPath } from './find-on-path.ts';
import { parseObject } from './json-fields.ts';

const PROBE_MS_MAX = 15_000;

/**
 * Checks the login of the Claude Code on the PATH, if there is one.
 *
 * @throws {ExecutorLoginError}
 */
export async function checkClaudeLogin(env: NodeJS.ProcessEnv): Promise<void> {
  const file = env.CLAUDE_CODE_EXECUTABLE ?? (await findOnPath('claude', env));
  if (file === null || (await readClaudeLogin(file, env)) !== false) return;
  throw new ExecutorLoginError(
    'Claude Code is not logged in: run claude and log in there, or set ANTHROPIC_API_KEY.',
  );
}

/**
 * Asks Claude Code whether it is logged in, by an account, a key or a provider of its own. It
 * contacts no server, so an expired login counts as one.
 *
 * @returns null when this Claude Code does not say.
 */
async function readClaudeLogin(file: string, env: NodeJS.ProcessEnv): Promise<boolean | null> {
  const options = { env, limitMs: PROBE_MS_MAX, cwd: tmpdir() };
  const asked = runProgram(file, ['auth', 'status'], options);
  // It ends with 1 when it is not logged in, after the same JSON.
  const { stdout } = await asked.catch((error: ProgramError) => error);
  const { loggedIn } = parseObject(stdout) ?? {};
  return typeof loggedIn === 'boolean' ? loggedIn : null;
}
