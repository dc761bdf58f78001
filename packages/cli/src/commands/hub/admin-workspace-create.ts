import { createWorkspaceByAdmin } from '@signalbox/hub';
import { oneLine } from '../../terminal/text.ts';
import { defineAdminCommand } from './admin-command.ts';

/**
 * `signalbox admin workspace create`: creates a workspace through direct access to the hub's
 * database; the hub may be running or stopped. With `--json`: `{ok, workspace}`.
 */
export const command = defineAdminCommand<{ slug: string; name?: string }>({
  describe(program) {
    program
      .requiredOption('--slug <slug>', 'lower-case letters, digits and inner dashes')
      .option('--name <text>', 'name for people (default: the slug)');
  },

  examples: [
    ['signalbox admin workspace create --slug acme --name Acme', 'in the hub of this user'],
  ],

  async run({ io, options, config }) {
    const { slug, name = slug } = options;
    const workspace = await createWorkspaceByAdmin(config, { slug, name });
    if (io.json) return io.printJson({ ok: true, workspace });
    const { green, bold, dim } = io.styles;
    const { workspaceId } = workspace;
    io.print(`${green('✔')} Created ${bold(oneLine(workspace.slug))} ${dim(workspaceId)}`);
  },
});
