import { addHubOptions, addJsonOption, defineCommand, type HubOptions } from '../command-module.ts';
import { asTyped } from '../command-name.ts';
import { openHubSession } from '../hub/hub-session.ts';

/**
 * `signalbox queue resume`: hands out jobs of the workspace again. With `--json`: `{ok, paused}`.
 */
export const command = defineCommand<HubOptions>({
  describe(program) {
    addJsonOption(program);
    addHubOptions(program);
  },

  async run({ io, options }) {
    const { client, workspaceId, workspaceSlug } = await openHubSession(io, options);
    const { paused } = await client.queue.resume({ workspaceId });
    if (io.json) return io.printJson({ ok: true, paused });
    const name = workspaceSlug ?? 'the workspace';
    io.print(`${io.styles.green('✔')} Resumed the queue of ${name}.`);
    const { pauses } = await client.queue.listPauses({ workspaceId });
    if (pauses.length > 0) {
      const count = pauses.length === 1 ? '1 repository is' : `${pauses.length} repositories are`;
      io.note(asTyped(`${count} still paused. End that with: signalbox repo resume ID`));
      for (const pause of pauses) io.note(`  ${pause.repoId}`);
    }
    return undefined;
  },
});
