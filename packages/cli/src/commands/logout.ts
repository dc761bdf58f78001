import { ApiError } from '@signalbox/sdk';
import { CliError } from '../cli-error.ts';
import { addHubOptions, defineCommand, type HubOptions } from '../command-module.ts';
import { exitCodes } from '../exit-codes.ts';
import { forgetLogin, type Login, readLogins } from '../hub/credentials.ts';
import { choosePlace, createHubClient } from '../hub/hub-session.ts';
import type { Io } from '../terminal/io.ts';

const STATUS_UNAUTHORIZED = 401;

/**
 * `signalbox logout`: revokes the stored token, then deletes it. A token that is already invalid
 * counts as revoked. If the hub is unreachable the token is kept, unless `--forget` requests to
 * delete it without revoking.
 */
export const command = defineCommand<HubOptions & { forget?: true }>({
  describe(program) {
    program.option('--forget', 'delete the stored token without revoking it at the hub');
  },

  chooseHub: addHubOptions,

  async run({ io, options }) {
    const { login } = await choosePlace({ ...io, env: withoutToken(io.env) }, options);
    if (login === null) {
      const others = await readLogins(io.env);
      const message =
        others.length === 0
          ? 'This machine is not logged in.'
          : 'This machine is not logged in to that hub or workspace.';
      throw new CliError(exitCodes.unauthorized, 'NOT_LOGGED_IN', message);
    }
    const revoked = options.forget !== true;
    if (revoked) await revoke(io, login);
    await forgetLogin(io.env, login);
    const { url, workspaceSlug } = login;
    if (io.json) return io.printJson({ ok: true, revoked, url, workspaceSlug });
    const done = revoked ? 'Logged out of' : 'Deleted the login to';
    io.print(`${io.styles.green('✔')} ${done} ${workspaceSlug} at ${url}`);
    if (!revoked) io.note('The token is still valid: revoke it in the console.');
  },
});

/** Only the stored login is revoked; a token of the environment is managed elsewhere. */
function withoutToken(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { SIGNALBOX_TOKEN: _, ...rest } = env;
  return rest;
}

async function revoke(io: Io, { url, token }: Login): Promise<void> {
  try {
    await createHubClient(io, url, token).tokens.revoke();
  } catch (error) {
    // Revoked, expired or unknown: the token is unusable in each case.
    if (error instanceof ApiError && error.status === STATUS_UNAUTHORIZED) return;
    throw error;
  }
}
