import { type Scope, scopes } from '@signalbox/contract';
import { Option } from 'commander';
import { defineHubCommand } from '../hub/hub-command.ts';
import { formatDuration, parseDurationMs } from '../terminal/duration.ts';
import { oneLine } from '../terminal/text.ts';

type Options = { scope?: Scope[]; expires?: number };

/**
 * `signalbox tokens create NAME`: prints a token for a program, only this once. With `--json`:
 * `{ok, token, serviceToken}`.
 */
export const command = defineHubCommand<Options>({
  describe(program) {
    program
      .argument('<name>', 'names the program; tokens with the same name belong to one program')
      .addOption(
        new Option('--scope <scope...>', 'what the token may do (default: all but decide)').choices(
          scopes,
        ),
      )
      .option('--expires <time>', 'its lifetime, such as 30d (default: 365d)', parseDurationMs);
  },

  examples: [['signalbox tokens create ci --scope agent --expires 90d', 'for agents in CI']],

  async run({ io, args, options, client, workspaceId }) {
    const { scope, expires } = options;
    const { token, serviceToken } = await client.serviceTokens.mint({
      workspaceId,
      name: args[0] ?? '',
      scopes: scope,
      expiresInMs: expires,
    });
    if (io.json) return io.printJson({ ok: true, token, serviceToken });
    const left = formatDuration(Date.parse(serviceToken.expiresAt) - Date.now());
    const may = serviceToken.scopes.join(', ');
    io.note(`For ${oneLine(serviceToken.name)}: ${may}. It ends in ${left}.`);
    io.note('The hub does not show it again.');
    io.print(token);
  },
});
