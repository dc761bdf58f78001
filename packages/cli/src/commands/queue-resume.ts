import {
  addExamples,
  addHubOptions,
  addJsonOption,
  defineCommand,
  type HubOptions,
} from '../command-module.ts';
import { asTyped } from '../command-name.ts';
import { readQueueScope } from '../find/queue-scope.ts';
import { openHubSession } from '../hub/hub-session.ts';

/**
 * `signalbox queue resume`: hands out jobs of the workspace, or of one repository, again. With
 * `--json`: `{ok, repoId, paused}`; repoId is null for the workspace.
 */
export const command = defineCommand<HubOptions & { repo?: string }>({
  describe(program) {
    program.option('--repo <path|id>', 'only this repository, by a clone or an ID');
    addJsonOption(program);
    addHubOptions(program);
    addExamples(program, [
      ['signalbox queue resume', 'the whole workspace'],
      ['signalbox queue resume --repo .', 'the repository of this clone'],
    ]);
  },

  async run({ io, options }) {
    const session = await openHubSession(io, options);
    const { client } = session;
    const { workspaceId, repoId, name } = await readQueueScope(io, session, options.repo);
    const { paused } = await client.queue.resume(
      { workspaceId, ...(repoId === null ? {} : { repoId }) },
      { signal: io.signal },
    );
    if (io.json) return io.printJson({ ok: true, repoId, paused });
    io.print(`${io.styles.green('✔')} Resumed the queue of ${name}.`);
    // A repository may wait for the other kind of pause.
    const { pauses } = await client.queue.listPauses({ workspaceId }, { signal: io.signal });
    if (pauses[0]?.repoId === null) {
      io.note(
        asTyped('The whole workspace is still paused. End that with: signalbox queue resume'),
      );
    } else if (pauses.length > 0 && repoId === null) {
      const count = pauses.length === 1 ? '1 repository is' : `${pauses.length} repositories are`;
      io.note(asTyped(`${count} still paused. End that with: signalbox queue resume --repo ID`));
      for (const pause of pauses) io.note(`  ${pause.repoId}`);
    }
    return undefined;
  },
});
