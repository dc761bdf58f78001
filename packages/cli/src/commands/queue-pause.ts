import {
  addExamples,
  addHubOptions,
  addJsonOption,
  defineCommand,
  type HubOptions,
} from '../command-module.ts';
import { readQueueScope } from '../find/queue-scope.ts';
import { openHubSession } from '../hub/hub-session.ts';

/**
 * `signalbox queue pause`: hands out no job of the workspace, or of one repository, until `queue
 * resume`. With `--json`: `{ok, repoId, paused}`; repoId is null for the workspace.
 */
export const command = defineCommand<HubOptions & { repo?: string; reason?: string }>({
  describe(program) {
    program
      .option('--repo <path|id>', 'only this repository, by a clone or an ID')
      .option('--reason <text>', 'why; your team reads it');
    addJsonOption(program);
    addHubOptions(program);
    addExamples(program, [
      ['signalbox queue pause --reason "Release freeze"', 'the whole workspace'],
      ['signalbox queue pause --repo .', 'the repository of this clone'],
    ]);
  },

  async run({ io, options }) {
    const session = await openHubSession(io, options);
    const { workspaceId, repoId, name } = await readQueueScope(io, session, options.repo);
    const { reason } = options;
    const { paused } = await session.client.queue.pause(
      {
        workspaceId,
        ...(repoId === null ? {} : { repoId }),
        ...(reason === undefined ? {} : { reason }),
      },
      { signal: io.signal },
    );
    if (io.json) return io.printJson({ ok: true, repoId, paused });
    const { green } = io.styles;
    io.print(`${green('✔')} Paused the queue of ${name}. Jobs wait; those that run continue.`);
    return undefined;
  },
});
