import { asTyped } from '../command-name.ts';
import { defineHubCommand } from '../hub/hub-command.ts';

/**
 * `signalbox queue resume`: hands out jobs of the workspace again. With `--json`: `{ok, paused}`.
 */
export const command = defineHubCommand({
  async run({ io, client, workspaceId, session }) {
    const { workspaceSlug } = session;
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
  },
});
