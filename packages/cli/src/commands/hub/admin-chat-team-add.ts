import { addChatTeamByAdmin } from '@signalbox/hub';
import { addExamples, addJsonOption, defineCommand } from '../../command-module.ts';
import { oneLine } from '../../terminal/text.ts';
import {
  addSettings,
  databaseSettings,
  explainHubError,
  noteHub,
  readHubConfig,
} from './admin-settings.ts';

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
export const command = defineCommand<Options>({
  describe(program) {
    program
      .requiredOption('-w, --workspace <slug>', 'the workspace that gets the messages')
      .requiredOption('--team <id>', "the chat's id of the team, as in T024BE7LD")
      .option('--name <text>', 'name for people (default: the id)');
    addJsonOption(program);
    addSettings(program.optionsGroup('Which hub:'), databaseSettings);
    addExamples(program, [
      ['signalbox admin chat-team add -w acme --team T024BE7LD', 'in the hub of this user'],
    ]);
  },

  async run({ io, options }) {
    const config = readHubConfig(io.env, { ...options });
    noteHub(io, config);
    const { workspace, team, name = team } = options;
    try {
      const added = await addChatTeamByAdmin(config, {
        workspaceSlug: workspace,
        teamId: team,
        name,
      });
      if (io.json) return io.printJson({ ok: true, ...added });
      const { green, bold } = io.styles;
      const place = bold(oneLine(workspace));
      io.print(`${green('✔')} The messages of ${oneLine(team)} go to the workspace ${place}.`);
    } catch (error) {
      throw explainHubError(error);
    }
  },
});
