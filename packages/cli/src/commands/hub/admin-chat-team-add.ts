import { addChatTeamByAdmin } from '@signalbox/hub';
import { oneLine } from '../../terminal/text.ts';
import { defineAdminCommand } from './admin-command.ts';

interface Options {
  workspace: string;
  team: string;
  name?: string;
}

/**
 * `signalbox admin chat-team add`: sends the messages of a chat team to a workspace, through direct
 * access to the hub's database; the hub may be running or stopped. Owners and admins do the same at
 * the console, where the team has to prove it with a code. With `--json`: `{ok, workspaceId,
 * workspaceSlug, teamId, name}`.
 */
export const command = defineAdminCommand<Options>({
  describe(program) {
    program
      .requiredOption('-w, --workspace <slug>', 'the workspace that gets the messages')
      .requiredOption('--team <id>', "the chat's id of the team, as in T024BE7LD")
      .option('--name <text>', 'name for people (default: the id)');
  },

  examples: [['signalbox admin chat-team add -w acme --team T024BE7LD', 'in the hub of this user']],

  async run({ io, options, config }) {
    const { workspace, team, name = team } = options;
    const added = await addChatTeamByAdmin(config, {
      workspaceSlug: workspace,
      teamId: team,
      name,
    });
    if (io.json) return io.printJson({ ok: true, ...added });
    const { green, bold } = io.styles;
    const place = bold(oneLine(workspace));
    io.print(`${green('✔')} The messages of ${oneLine(team)} go to the workspace ${place}.`);
  },
});
