import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
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
function readClaudeLogin(file: string, env: NodeJS.ProcessEnv): Promise<boolean | null> {
  const options = { env, timeout: PROBE_MS_MAX, cwd: tmpdir() };
  return new Promise((resolve) => {
    // It ends with 1 when it is not logged in, after the same JSON.
    execFile(file, ['auth', 'status'], options, (_error, stdout) => {
      const { loggedIn } = parseObject(stdout) ?? {};
      resolve(typeof loggedIn === 'boolean' ? loggedIn : null);
    });
  });
}
