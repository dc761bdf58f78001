import { type Scope, scopes } from '@signalbox/contract';
import { mintTokenByAdmin } from '@signalbox/hub';
import { InvalidArgumentError } from 'commander';
import { formatMoment, parseDurationMs } from '../../terminal/duration.ts';
import { defineAdminCommand } from './admin-command.ts';

interface Options {
  workspace: string;
  name: string;
  scopes?: Scope[];
  expiresIn?: number;
}

/**
 * `signalbox admin tokens create`: creates a token for a program (a service principal), through
 * direct access to the database; the hub may be running or stopped. The token is shown only once.
 * With `--json`: `{ok, token, tokenId, workspaceId, workspaceSlug, scopes, expiresAt}`.
 */
export const command = defineAdminCommand<Options>({
  describe(program) {
    program
      .requiredOption('-w, --workspace <slug>', 'the workspace of the token')
      .requiredOption('--name <text>', 'its purpose, such as "CI of the API"')
      .option(
        '--scopes <list>',
        `any of ${scopes.join(',')} (default: all except decide)`,
        readScopes,
      )
      .option('--expires-in <time>', 'lifetime, such as 30d (default: 365d)', parseDurationMs);
  },

  examples: [
    ['signalbox admin tokens create -w acme --name CI', 'prints the token, once'],
    ['signalbox admin tokens create -w acme --name bot --scopes read,enqueue', 'with fewer scopes'],
  ],

  async run({ io, options, config }) {
    const { workspace, name, scopes: wanted, expiresIn } = options;
    const minted = await mintTokenByAdmin(config, {
      workspaceSlug: workspace,
      name,
      ...(wanted === undefined ? {} : { scopes: wanted }),
      ...(expiresIn === undefined ? {} : { expiresInMs: expiresIn }),
    });
    if (io.json) return io.printJson({ ok: true, ...minted });
    // Only the token goes to standard output, so that it can be piped into a secret store.
    io.print(minted.token);
    io.note(`For ${name} in ${workspace}: ${minted.scopes.join(', ')}.`);
    io.note(`Valid until ${formatMoment(minted.expiresAt)}. It is not shown again.`);
  },
});

function readScopes(text: string): Scope[] {
  return text.split(',').map((word) => {
    const scope = scopes.find((known) => known === word.trim());
    if (scope === undefined) {
      throw new InvalidArgumentError(`It must be a list of ${scopes.join(', ')}, not "${word}".`);
    }
    return scope;
  });
}
