import { type Scope, scopes } from '@signalbox/contract';
import { mintTokenByAdmin } from '@signalbox/hub';
import { InvalidArgumentError } from 'commander';
import { addExamples, addJsonOption, defineCommand } from '../../command-module.ts';
import { formatMoment, parseDurationMs } from '../../duration.ts';
import { addSettings, databaseSettings, explainHubError, readHubConfig } from './admin-settings.ts';

interface Options {
  workspace: string;
  name: string;
  scopes?: Scope[];
  expiresIn?: number;
}

/**
 * `signalbox admin token create`: a token for a program (a service principal), beside a running or
 * a stopped hub. It is shown this once. With `--json`:
 * `{ok, token, tokenId, workspaceId, workspaceSlug, scopes, expiresAt}`.
 */
export const command = defineCommand<Options>({
  describe(program) {
    program
      .requiredOption('-w, --workspace <slug>', 'the workspace that it is for')
      .requiredOption('--name <text>', 'what it is for, as in "CI of the API"')
      .option('--scopes <list>', `of ${scopes.join(',')} (default: all but decide)`, readScopes)
      .option(
        '--expires-in <time>',
        'how long it lives, as in 30d (default: 365d)',
        parseDurationMs,
      );
    addJsonOption(program);
    addSettings(program.optionsGroup('Which hub:'), databaseSettings);
    addExamples(program, [
      ['signalbox admin token create -w acme --name CI', 'prints the token, once'],
      ['signalbox admin token create -w acme --name bot --scopes read,enqueue', 'may do less'],
    ]);
  },

  async run({ io, options }) {
    const config = readHubConfig(io.env, { ...options });
    const { workspace, name, scopes: wanted, expiresIn } = options;
    try {
      const minted = await mintTokenByAdmin(config, {
        workspaceSlug: workspace,
        name,
        ...(wanted === undefined ? {} : { scopes: wanted }),
        ...(expiresIn === undefined ? {} : { expiresInMs: expiresIn }),
      });
      if (io.json) return io.printJson({ ok: true, ...minted });
      // The token alone on standard output, so that it can be piped into a store of secrets.
      io.print(minted.token);
      io.note(`For ${name} in ${workspace}: ${minted.scopes.join(', ')}.`);
      io.note(`Valid until ${formatMoment(minted.expiresAt)}. It is not shown again.`);
    } catch (error) {
      throw explainHubError(error);
    }
  },
});

function readScopes(text: string): Scope[] {
  return text.split(',').map((word) => {
    const scope = scopes.find((known) => known === word.trim());
    if (scope === undefined) {
      throw new InvalidArgumentError(`"${word}" is none of ${scopes.join(', ')}.`);
    }
    return scope;
  });
}
