import { addHubOptions, addJsonOption, defineCommand, type HubOptions } from '../command-module.ts';
import { asTyped } from '../command-name.ts';
import { findRepository } from '../find/repository-reference.ts';
import { openHubSession } from '../hub/hub-session.ts';

/**
 * `signalbox repo resume [REPOSITORY]`: agents get its jobs again. With `--json`: `{ok, repoId,
 * paused}`.
 */
export const command = defineCommand<HubOptions>({
  describe(program) {
    program.argument('[repository]', 'a path in a linked clone, or a repository ID', '.');
    addJsonOption(program);
    addHubOptions(program);
  },

  async run({ io, args, options }) {
    const session = await openHubSession(io, options);
    const { client, workspaceId } = session;
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
    return undefined;
  },
});
