import { findRepository } from '../find/repository-reference.ts';
import { defineHubCommand } from '../hub/hub-command.ts';
import { oneLine } from '../terminal/text.ts';

/**
 * `signalbox repo archive [REPOSITORY]`: no job of it is handed out any more; `--undo` makes it
 * active. With `--json`: `{ok, repo}`.
 */
export const command = defineHubCommand<{ undo?: true }>({
  describe(program) {
    program
      .argument('[repository]', 'a path in a linked clone, or a repository ID', '.')
      .option('--undo', 'make it active again');
  },

  examples: [
    ['signalbox repo archive ~/src/old', 'its jobs wait; nothing is deleted'],
    ['signalbox repo archive ~/src/old --undo', 'its jobs are claimed again'],
  ],

  async run({ io, args, options, session, client, workspaceId }) {
    const repoId = await findRepository(io, session, args[0] ?? '.');
    const { repo: known } = await client.repositories.get({ workspaceId, repoId });
    const { remoteUrlHash } = known;
    const status = options.undo ? 'active' : 'archived';
    const { repo } = await client.repositories.upsert({ workspaceId, remoteUrlHash, status });
    if (io.json) return io.printJson({ ok: true, repo });
    const { green, bold } = io.styles;
    const name = bold(oneLine(repo.label) || repoId);
    const end = options.undo
      ? 'is active: agents get its jobs again.'
      : 'is archived: its jobs wait, and nothing is deleted.';
    io.print(`${green('✔')} ${name} ${end}`);
  },
});
