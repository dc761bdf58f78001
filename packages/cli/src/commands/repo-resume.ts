import { asTyped } from '../command-name.ts';
import { findRepository } from '../find/repository-reference.ts';
import { defineHubCommand } from '../hub/hub-command.ts';

/**
 * `signalbox repo resume [REPOSITORY]`: agents get its jobs again. With `--json`: `{ok, repoId,
 * paused}`.
 */
export const command = defineHubCommand({
  describe(program) {
    program.argument('[repository]', 'a path in a linked clone, or a repository ID', '.');
  },

  async run({ io, args, session, client, workspaceId }) {
    const repoId = await findRepository(io, session, args[0] ?? '.');
    const { paused } = await client.queue.resume({ workspaceId, repoId });
    if (io.json) return io.printJson({ ok: true, repoId, paused });
    const { green, dim } = io.styles;
    io.print(`${green('✔')} Resumed ${dim(repoId)}: agents get its jobs again.`);
    const { pauses } = await client.queue.listPauses({ workspaceId });
    if (pauses.some((pause) => pause.repoId === null)) {
      io.note(
        asTyped('The whole workspace is still paused. End that with: signalbox queue resume'),
      );
    }
  },
});
